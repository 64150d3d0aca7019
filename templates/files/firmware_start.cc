// From reset to main() on Cortex-M and RISC-V, for the programs of `etch check` and `etch bench` in
// an emulator. With firmware.ld; not delivered with generated code. Whatever the CPU does not take
// ends the program with exit code 125 and one line that says where.
#include <stddef.h>
#include <stdint.h>

#include "semihosting.h"

extern "C" {
// From firmware.ld.
extern uint32_t etch_data_from[], etch_data_begin[], etch_data_end[];
extern uint32_t etch_bss_begin[], etch_bss_end[];
extern uint32_t etch_stack_top[];

int main();
[[noreturn]] void etch_start();
[[noreturn]] void etch_fault(uintptr_t pc);
}

namespace {

constexpr int kFaultCode = 125;

// "fault at 0x00001234\n"
void print_fault(uintptr_t pc) {
  char text[] = "fault at 0x00000000\n";
  for (int digit = 0; digit < 8; ++digit) {
    const uintptr_t nibble = (pc >> (28 - 4 * digit)) & 15;
    text[11 + digit] = "0123456789abcdef"[nibble];
  }
  semihosting::print(text);
}

}  // namespace

void etch_fault(uintptr_t pc) {
  print_fault(pc);
  semihosting::exit(kFaultCode);
}

void etch_start() {
#if defined(__ARM_FP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
  // Grants access to the FPU and to Helium.
  *reinterpret_cast<volatile uint32_t*>(0xE000ED88) |= 0xFU << 20;
  __asm__ volatile("dsb\nisb" ::: "memory");
#endif
#if defined(__ARM_ARCH_6M__)
  // CCR: unaligned words fault, as on Cortex-M0 always, where a larger CPU runs its code.
  *reinterpret_cast<volatile uint32_t*>(0xE000ED14) |= 1U << 3;
  __asm__ volatile("dsb\nisb" ::: "memory");
#endif
  // Volatile, so that the loops do not become calls of functions that use what is set up here.
  const volatile uint32_t* from = etch_data_from;
  for (volatile uint32_t* to = etch_data_begin; to != etch_data_end;) *to++ = *from++;
  for (volatile uint32_t* to = etch_bss_begin; to != etch_bss_end;) *to++ = 0;
  semihosting::exit(main());
}

#if defined(__arm__)

// The CPU takes the stack's top and the first instruction from here; the rest are exceptions.
__asm__(
    ".syntax unified\n"
    ".section .vectors, \"a\"\n"
    ".balign 128\n"
    ".word etch_stack_top\n"
    ".word etch_start\n"
    ".rept 14\n.word etch_on_exception\n.endr\n"
    ".text\n"
    ".thumb_func\n.type etch_on_exception, %function\n"
    "etch_on_exception:\n"
    "mov r0, sp\n"
    "ldr r0, [r0, #24]\n"    // where the exception frame keeps the program counter
    "ldr r1, =etch_fault\n"  // anywhere: a branch does not reach far on Cortex-M0
    "bx r1\n"
    ".ltorg\n");

#elif defined(__riscv)

__asm__(
    ".section .vectors, \"ax\"\n"
    ".global etch_reset\n"
    "etch_reset:\n"
    ".option push\n.option norelax\n"
    "la gp, __global_pointer$\n"
    "la sp, etch_stack_top\n"
    "la t0, etch_on_exception\n"
    ".option pop\n"
    "csrw mtvec, t0\n"
    "li t0, 0x6600\n"  // floating point and vectors on, where there are any
    "csrs mstatus, t0\n"
    "tail etch_start\n"
    ".balign 4\n"
    "etch_on_exception:\n"
    "csrr a0, mepc\n"
    "tail etch_fault\n");

#endif
