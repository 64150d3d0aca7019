// print() for the program: through the emulator on a microcontroller, with stdio on a computer.
#pragma once

#ifdef __arm__
#include "../firmware/semihosting.h"
using semihosting::print;
#else
#include <stdint.h>
#include <stdio.h>

inline void print(const char* text) { fputs(text, stdout); }
inline void print(uint32_t number) { printf("%u", static_cast<unsigned>(number)); }
#endif
