// What harness.h is for programs, for images without an operating system: no heap, no library,
// files through semihosting. main.cc, which is written per network
// (compiler/host/firmware_harness.cc), fills in a Network and calls harness::main().
//
//   PROGRAM run FOLDER           reads FOLDER/input_I.bin, writes FOLDER/output_I.bin
//   PROGRAM count FOLDER_ COUNT  reads FOLDER_K/input_I.bin for each K below COUNT, calls the
//                                network between marks
//
// Exit codes as in harness.h, and 3: the board has too little RAM. "run" gives the network the
// least that its interface promises: pointers aligned to one element and no more, an arena aligned
// to what the header asks and no more, all memory filled with a pattern, and guard bytes around
// everything, which are checked afterwards; and it prints "stack N": how much of it the call used.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "harness_network.h"
#include "semihosting.h"

extern "C" unsigned char etch_free_begin[], etch_free_end[];  // from firmware.ld
extern "C" unsigned char etch_stack_begin[];                  // its lowest byte

namespace harness {

constexpr size_t kGuardBytes = 32;

[[noreturn]] inline void fail(int code, const char* a, const char* b = "", const char* c = "") {
  const char* const parts[] = {a, b, c, "\n"};
  for (const char* part : parts) semihosting::print(part);
  semihosting::exit(code);
}

struct Decimal {
  char text[24];
};

inline Decimal decimal(size_t number) {
  Decimal out{};
  size_t begin = sizeof out.text - 1;
  do {
    out.text[--begin] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  memmove(out.text, out.text + begin, sizeof out.text - begin);
  return out;
}

// The RAM that is left, given out from its beginning.
class Ram {
 public:
  // Memory at a multiple of `alignment` plus `offset`, with guard bytes on both sides.
  unsigned char* take(size_t bytes, size_t alignment, size_t offset) {
    const auto at = reinterpret_cast<uintptr_t>(etch_free_begin) + used_ + kGuardBytes;
    const uintptr_t aligned = (at + alignment - 1) / alignment * alignment + offset;
    used_ += static_cast<size_t>(aligned - at) + bytes + 2 * kGuardBytes;
    return reinterpret_cast<unsigned char*>(aligned);
  }
  void check() const {
    const auto there = static_cast<size_t>(etch_free_end - etch_free_begin);
    if (used_ <= there) return;
    semihosting::print(decimal(used_).text);
    fail(3, " bytes of RAM are needed for inputs, outputs and arena, of ", decimal(there).text);
  }

 private:
  size_t used_ = 0;
};

struct Block {
  unsigned char* data;
  size_t bytes;
};

inline void prepare(const Block& block) {
  memset(block.data - kGuardBytes, kGuard, kGuardBytes);
  memset(block.data, kPattern, block.bytes);
  memset(block.data + block.bytes, kGuard, kGuardBytes);
}

inline bool intact(const Block& block) {
  for (size_t i = 0; i < kGuardBytes; ++i) {
    if (block.data[-1 - static_cast<ptrdiff_t>(i)] != kGuard) return false;
    if (block.data[block.bytes + i] != kGuard) return false;
  }
  return true;
}

// To see whether the network changed its inputs.
inline uint32_t hash_of(const Block& block) {
  uint32_t hash = 2166136261U;
  for (size_t i = 0; i < block.bytes; ++i) hash = (hash ^ block.data[i]) * 16777619U;
  return hash;
}

// Words of a command line, and paths made of them.
struct Text {
  char bytes[256];
  size_t size = 0;

  Text& add(const char* text) {
    while (*text != '\0') add(*text++);
    return *this;
  }
  Text& add(char c) {
    if (size + 1 < sizeof bytes) bytes[size++] = c;
    bytes[size] = '\0';
    return *this;
  }
};

// FOLDER/ROLE_INDEX.bin
inline void transfer(const char* folder, const char* role, size_t index, semihosting::Mode mode,
                     const Block& block) {
  Text path;
  path.add(folder).add('/').add(role).add('_').add(decimal(index).text).add(".bin");
  if (semihosting::transfer(path.bytes, mode, block.data, block.bytes)) return;
  fail(1, path.bytes, ": cannot read or write ", decimal(block.bytes).text);
}

// The network's memory.
class Memory {
 public:
  explicit Memory(const Network& network) : network_(network) {
    inputs_ = table<Block>(network.input_count);
    outputs_ = table<Block>(network.output_count);
    input_pointers_ = table<const void*>(network.input_count);
    output_pointers_ = table<void*>(network.output_count);
    const size_t unit = network.arena_alignment;
    arena_ = {ram_.take(network.arena_bytes, 2 * unit, unit), network.arena_bytes};
    // Nothing is written before all of it is known to be there.
    for (int pass = 0; pass < 2; ++pass) {
      Ram ram = ram_;
      place(ram, network.inputs, network.input_count, pass == 1 ? inputs_ : nullptr);
      place(ram, network.outputs, network.output_count, pass == 1 ? outputs_ : nullptr);
      ram.check();
    }
    for (size_t i = 0; i < network.input_count; ++i) input_pointers_[i] = inputs_[i].data;
    for (size_t i = 0; i < network.output_count; ++i) output_pointers_[i] = outputs_[i].data;
  }

  void read_inputs(const char* folder) {
    for (size_t i = 0; i < network_.input_count; ++i) {
      prepare(inputs_[i]);
      transfer(folder, "input", i, semihosting::Mode::kRead, inputs_[i]);
    }
    prepare(arena_);
    for (size_t i = 0; i < network_.output_count; ++i) prepare(outputs_[i]);
  }

  void write_outputs(const char* folder) {
    for (size_t i = 0; i < network_.output_count; ++i) {
      transfer(folder, "output", i, semihosting::Mode::kWrite, outputs_[i]);
    }
  }

  template <class Function>
  void call(Function function) {
    function(input_pointers_, output_pointers_, arena_.data);
  }

  bool guards_intact() const {
    bool good = intact(arena_);
    for (size_t i = 0; i < network_.input_count; ++i) good = good && intact(inputs_[i]);
    for (size_t i = 0; i < network_.output_count; ++i) good = good && intact(outputs_[i]);
    return good;
  }

  uint32_t inputs_hash() const {
    uint32_t hash = 0;
    for (size_t i = 0; i < network_.input_count; ++i) hash = hash * 31 + hash_of(inputs_[i]);
    return hash;
  }

 private:
  template <class T>
  T* table(size_t count) {
    return reinterpret_cast<T*>(ram_.take(count * sizeof(T), alignof(T), 0));
  }

  static void place(Ram& ram, const Port* ports, size_t count, Block* blocks) {
    for (size_t i = 0; i < count; ++i) {
      const Block block = {ram.take(ports[i].bytes, 64, ports[i].element), ports[i].bytes};
      if (blocks != nullptr) blocks[i] = block;
    }
  }

  const Network& network_;
  Ram ram_;
  Block* inputs_;
  Block* outputs_;
  const void** input_pointers_;
  void** output_pointers_;
  Block arena_{};
};

inline unsigned char* stack_pointer() {
  unsigned char* out = nullptr;
#if defined(__riscv)
  __asm__ volatile("mv %0, sp" : "=r"(out));
#else
  __asm__ volatile("mov %0, sp" : "=r"(out));
#endif
  return out;
}

// The bytes of stack in which a call leaves something, from the frame of this function on. All
// that is below it is free: images have no interrupts.
template <class Function>
__attribute__((noinline)) size_t stack_of(Function call) {
  unsigned char* const top = stack_pointer();
  const volatile unsigned char* lowest = etch_stack_begin;
  for (volatile unsigned char* at = etch_stack_begin; at < top; ++at) *at = kPattern;
  call();
  while (lowest < top && *lowest == kPattern) ++lowest;
  return static_cast<size_t>(top - lowest);
}

inline int run(const Network& network, const char* folder) {
  Memory memory(network);
  memory.read_inputs(folder);
  const uint32_t before = memory.inputs_hash();
  const size_t stack = stack_of([&] { memory.call(network.run); });
  if (!memory.guards_intact()) fail(2, "the network wrote outside its arena or an output");
  if (memory.inputs_hash() != before) fail(2, "the network wrote to an input");
  memory.write_outputs(folder);
  semihosting::print("stack ");
  semihosting::print(decimal(stack).text);
  semihosting::print("\n");
  return 0;
}

inline void do_nothing(const void* const*, void* const*, void*) {}

// Of each sample, marks before and after a call of nothing, the whole network and each step.
template <class Step>
int count(const Network& network, const Step* steps, int step_count, const char* folders,
          size_t samples) {
  Memory memory(network);
  Call volatile nothing = do_nothing;
  for (size_t sample = 0; sample < samples; ++sample) {
    memory.read_inputs(Text().add(folders).add(decimal(sample).text).bytes);
    etch_mark();
    memory.call(nothing);
    etch_mark();
    memory.call(network.run);
    etch_mark();
    for (int i = 0; i < step_count; ++i) {
      memory.call(steps[i].run);
      etch_mark();
    }
  }
  return 0;
}

inline size_t number_in(const char* text) {
  size_t out = 0;
  for (; *text >= '0' && *text <= '9'; ++text) out = out * 10 + static_cast<size_t>(*text - '0');
  return out;
}

// The command line's words after the first, which is the program.
struct Arguments {
  char text[256];
  const char* mode = "";
  const char* folder = "";
  const char* samples = "";

  Arguments() {
    if (!semihosting::command_line(text, sizeof text)) fail(1, "no command line");
    const char** const words[] = {&mode, &folder, &samples};
    size_t count = 0;
    for (char* c = text; *c != '\0'; ++c) {
      if (*c != ' ') continue;
      *c = '\0';
      if (count < 3) *words[count++] = c + 1;
    }
  }
};

struct NoStep {
  Call run;
};

template <class Step = NoStep>
int main(const Network& network, const Step* steps = nullptr, int step_count = 0) {
  const Arguments arguments;
  if (strcmp(arguments.mode, "run") == 0) return run(network, arguments.folder);
  if (strcmp(arguments.mode, "count") == 0) {
    return count(network, steps, step_count, arguments.folder, number_in(arguments.samples));
  }
  fail(1, "usage: program run FOLDER | count FOLDER_ COUNT");
}

}  // namespace harness
