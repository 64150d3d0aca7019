// From reset to main() on a Cortex-M: vector table, FPU, .data, .bss, and a handler for whatever
// goes wrong. The symbols come from sections.ld. The stack is filled with a pattern before main(),
// so that most_stack_used() can tell how deep it went.
#include "start.h"

#include <string.h>

#include "semihosting.h"

extern "C" {
extern uint32_t stack_bottom[], stack_top[];
extern char data_in_flash[], data_begin[], data_end[];
extern char bss_begin[], bss_end[];

int main();
[[noreturn]] void reset();
void fault();
[[noreturn]] void report_fault(const uint32_t* frame);
}

namespace {

constexpr uint32_t kPattern = 0xA5A5A5A5;
constexpr int kFaultCode = 125;

// The CPU's own exceptions; a product with interrupts continues this table with those of its chip.
struct Vectors {
  const void* initial_stack;
  void (*reset)();
  void (*exceptions[14])();
};

__attribute__((section(".vectors"), used))
const Vectors vectors = {stack_top,
                         reset,
                         {fault, fault, fault, fault, fault, fault, fault, fault, fault, fault,
                          fault, fault, fault, fault}};

void enable_fpu() {
#ifdef __ARM_FP
  auto* const cpacr = reinterpret_cast<volatile uint32_t*>(0xE000ED88);
  *cpacr = *cpacr | 0xFU << 20;  // full access to FPU and Helium
  __asm__ volatile("dsb\nisb" ::: "memory");
#endif
}

// Below what this function itself uses.
__attribute__((noinline)) void paint_stack() {
  constexpr uint32_t kOwnWords = 32;
  const uint32_t* const end = static_cast<const uint32_t*>(__builtin_frame_address(0)) - kOwnWords;
  for (volatile uint32_t* word = stack_bottom; word < end; ++word) *word = kPattern;
}

}  // namespace

void reset() {
  enable_fpu();
  paint_stack();
  memcpy(data_begin, data_in_flash, static_cast<size_t>(data_end - data_begin));
  memset(bss_begin, 0, static_cast<size_t>(bss_end - bss_begin));
  semihosting::leave(main());
}

// The exception frame is where the stack pointer was: always the main stack here.
__attribute__((naked)) void fault() { __asm__ volatile("mrs r0, msp\nb report_fault"); }

void report_fault(const uint32_t* frame) {
  semihosting::print("fault at ");
  constexpr int kProgramCounter = 6;
  char text[] = "0x00000000\n";
  for (int digit = 0; digit < 8; ++digit) {
    text[2 + digit] = "0123456789abcdef"[frame[kProgramCounter] >> (28 - 4 * digit) & 15];
  }
  semihosting::print(text);
  semihosting::leave(kFaultCode);
}

uint32_t most_stack_used() {
  const uint32_t* word = stack_bottom;
  while (word < stack_top && *word == kPattern) ++word;
  return static_cast<uint32_t>(stack_top - word) * sizeof(uint32_t);
}

uint32_t stack_size() { return static_cast<uint32_t>(stack_top - stack_bottom) * sizeof(uint32_t); }
