// What harness.h, for programs, and firmware_harness.h, for images without an operating system,
// have in common: a network as main.cc describes it, and the mark between parts of an execution.
#pragma once

#include <stddef.h>

// A mark in the execution, for an emulator that counts instructions (count_instructions.cc): what
// is executed between two marks is counted.
extern "C" {
__attribute__((noinline, used)) inline void etch_mark() { __asm__ volatile("" ::: "memory"); }
}

namespace harness {

// One input or output.
struct Port {
  size_t bytes;
  size_t element;  // bytes of one element
};

using Call = void (*)(const void* const* inputs, void* const* outputs, void* arena);

struct Network {
  const Port* inputs;
  size_t input_count;
  const Port* outputs;
  size_t output_count;
  size_t arena_bytes;
  size_t arena_alignment;
  Call run;
};

constexpr unsigned char kPattern = 0xA5;  // of memory before a call
constexpr unsigned char kGuard = 0xC3;    // of the bytes around it, which no call may change

}  // namespace harness
