// Output and exit through the debugger or emulator that runs the image. On a board of your own,
// give print() a UART and let leave() wait forever.
#pragma once

#include <stdint.h>

namespace semihosting {

// Asks for an operation; `argument` is a pointer to its parameters.
inline void call(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

inline void print(const char* text) { call(0x04, text); }  // SYS_WRITE0

inline void print(uint32_t number) {
  char text[11];
  char* first = text + sizeof text - 1;
  *first = '\0';
  do {
    *--first = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  print(first);
}

// Ends the emulator with this exit code.
[[noreturn]] inline void leave(int code) {
  const uint32_t reason_and_code[2] = {0x20026, static_cast<uint32_t>(code)};
  for (;;) call(0x20, reason_and_code);  // SYS_EXIT_EXTENDED
}

}  // namespace semihosting
