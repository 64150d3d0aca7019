// Semihosting: how an image without an operating system reads and writes files of the machine that
// emulates it, prints, and ends. For the programs of `etch check` and `etch bench` on Cortex-M and
// RISC-V; not delivered with generated code.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace semihosting {

// `argument` is a pointer to the operation's parameter, or the parameter itself.
inline intptr_t call(uintptr_t operation, const void* argument) {
#if defined(__arm__)
  register uintptr_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return static_cast<intptr_t>(r0);
#elif defined(__riscv)
  register uintptr_t a0 __asm__("a0") = operation;
  register const void* a1 __asm__("a1") = argument;
  // An emulator knows the call by these three, which must not be compressed or on two pages.
  __asm__ volatile(
      ".balign 16\n.option push\n.option norvc\n"
      "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return static_cast<intptr_t>(a0);
#else
#error "no semihosting on this CPU"
#endif
}

inline void print(const char* text) { call(0x04, text); }

[[noreturn]] inline void exit(int code) {
  // The reason "application exit", and the code.
  const uintptr_t block[2] = {0x20026, static_cast<uintptr_t>(code)};
  for (;;) call(0x20, block);
}

// The command line, words separated by single spaces; false if it does not fit.
inline bool command_line(char* text, size_t size) {
  uintptr_t block[2] = {reinterpret_cast<uintptr_t>(text), size};
  return call(0x15, block) == 0;
}

enum class Mode : uintptr_t { kRead = 1, kWrite = 5 };  // "rb" and "wb"

// Opens, transfers exactly `bytes` and closes; false when that fails.
inline bool transfer(const char* path, Mode mode, void* data, size_t bytes) {
  size_t length = 0;
  while (path[length] != '\0') ++length;
  const uintptr_t open[3] = {reinterpret_cast<uintptr_t>(path), static_cast<uintptr_t>(mode),
                             length};
  const intptr_t file = call(0x01, open);
  if (file == -1) return false;
  const auto handle = static_cast<uintptr_t>(file);
  const uintptr_t block[3] = {handle, reinterpret_cast<uintptr_t>(data), bytes};
  const intptr_t left = bytes == 0 ? 0 : call(mode == Mode::kRead ? 0x06 : 0x05, block);
  const uintptr_t close[1] = {handle};
  return call(0x02, close) == 0 && left == 0;
}

}  // namespace semihosting
