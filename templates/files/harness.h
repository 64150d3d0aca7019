// What `etch check`, `etch run` and `etch bench` put around a generated network to run it as a
// program. It is not delivered with generated code. main.cc, which is written per network
// (compiler/host/harness.cc), fills in a Network and calls harness::main().
//
//   PROGRAM run FOLDER...         reads FOLDER/input_I.bin, writes FOLDER/output_I.bin
//   PROGRAM bench SECONDS FOLDER  reads FOLDER/input_I.bin, prints times (see bench())
//   PROGRAM count FOLDER_ COUNT   reads FOLDER_K/input_I.bin for each K below COUNT, calls the
//                                 network between marks
//
// The files hold little-endian elements in row-major order. Exit codes: 0 ok, 1 a file cannot be
// read or written, 2 the network wrote where it must not.
//
// "run" gives the network the least that its interface promises: pointers aligned to one element
// and no more, an arena aligned to what the header asks and no more, all memory filled with a
// pattern, and guard bytes around everything, which are checked afterwards.
//
// Only headers of C are included: those of C++ would take longer to compile than most networks.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness_network.h"

namespace harness {

constexpr size_t kGuardBytes = 4096;

inline void* grown(void* memory, size_t bytes) {
  void* const out = realloc(memory, bytes == 0 ? 1 : bytes);
  if (out != nullptr) return out;
  fprintf(stderr, "cannot allocate %lu bytes\n", static_cast<unsigned long>(bytes));
  exit(1);
}

// As many elements as it was made with, all bytes zero; T is a plain struct, a number or a pointer.
template <class T>
class Table {
 public:
  explicit Table(size_t count) : data_(static_cast<T*>(grown(nullptr, count * sizeof(T)))) {
    memset(static_cast<void*>(data_), 0, count * sizeof(T));
  }
  ~Table() { free(data_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* data() { return data_; }

 private:
  T* data_;
};

// Memory at a multiple of an alignment plus an offset, with guard bytes on both sides.
struct Block {
  unsigned char* storage;
  size_t storage_bytes;
  unsigned char* data;
  size_t bytes;

  void allocate(size_t size, size_t alignment, size_t offset) {
    bytes = size;
    storage_bytes = size + 2 * kGuardBytes + alignment + offset;
    storage = static_cast<unsigned char*>(grown(nullptr, storage_bytes));
    memset(storage, kGuard, storage_bytes);
    const uintptr_t first = reinterpret_cast<uintptr_t>(storage) + kGuardBytes;
    const uintptr_t aligned = (first + alignment - 1) / alignment * alignment;
    data = storage + kGuardBytes + (aligned - first) + offset;
    fill();
  }
  void fill() { memset(data, kPattern, bytes); }
  bool guards_intact() const {
    for (const unsigned char* at = storage; at < data; ++at) {
      if (*at != kGuard) return false;
    }
    for (const unsigned char* at = data + bytes; at < storage + storage_bytes; ++at) {
      if (*at != kGuard) return false;
    }
    return true;
  }
};

// Turns elements of the file's byte order into the machine's, or back.
inline void swap_if_big_endian(const Block& block, const Port& port) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (size_t first = 0; first < port.bytes; first += port.element) {
    for (size_t i = 0; i < port.element / 2; ++i) {
      unsigned char& low = block.data[first + i];
      unsigned char& high = block.data[first + port.element - 1 - i];
      const unsigned char kept = low;
      low = high;
      high = kept;
    }
  }
#else
  (void)block;
  (void)port;
#endif
}

// Opens FOLDER/ROLE_INDEX.bin, transfers the block and closes; ends the program when that fails.
inline void transfer(const char* folder, const char* role, size_t index, bool write,
                     const Block& block) {
  const size_t room = strlen(folder) + strlen(role) + 32;
  Table<char> path(room);
  snprintf(path.data(), room, "%s/%s_%lu.bin", folder, role, static_cast<unsigned long>(index));
  FILE* const file = fopen(path.data(), write ? "wb" : "rb");
  size_t done = 0;
  if (file != nullptr) {
    done =
        write ? fwrite(block.data, 1, block.bytes, file) : fread(block.data, 1, block.bytes, file);
  }
  if (file == nullptr || fclose(file) != 0 || done != block.bytes) {
    fprintf(stderr, "%s: cannot %s %lu bytes\n", path.data(), write ? "write" : "read",
            static_cast<unsigned long>(block.bytes));
    exit(1);
  }
}

enum class Alignment { kLeast, kGenerous };

// The network's memory.
class Memory {
 public:
  Memory(const Network& network, Alignment alignment)
      : network_(network),
        inputs_(network.input_count),
        outputs_(network.output_count),
        kept_(network.input_count),
        input_pointers_(network.input_count),
        output_pointers_(network.output_count) {
    const bool least = alignment == Alignment::kLeast;
    const size_t unit = network.arena_alignment;
    arena_.allocate(network.arena_bytes, least ? 2 * unit : 4096, least ? unit : 0);
    for (size_t i = 0; i < network.input_count; ++i) {
      const Port& port = network.inputs[i];
      inputs_[i].allocate(port.bytes, 64, least ? port.element : 0);
      kept_[i] = static_cast<unsigned char*>(grown(nullptr, port.bytes));
      input_pointers_[i] = inputs_[i].data;
    }
    for (size_t i = 0; i < network.output_count; ++i) {
      const Port& port = network.outputs[i];
      outputs_[i].allocate(port.bytes, 64, least ? port.element : 0);
      output_pointers_[i] = outputs_[i].data;
    }
  }
  ~Memory() {
    free(arena_.storage);
    for (size_t i = 0; i < network_.input_count; ++i) {
      free(inputs_[i].storage);
      free(kept_[i]);
    }
    for (size_t i = 0; i < network_.output_count; ++i) free(outputs_[i].storage);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void read_inputs(const char* folder) {
    for (size_t i = 0; i < network_.input_count; ++i) {
      transfer(folder, "input", i, false, inputs_[i]);
      swap_if_big_endian(inputs_[i], network_.inputs[i]);
      memcpy(kept_[i], inputs_[i].data, inputs_[i].bytes);
    }
  }

  void write_outputs(const char* folder) {
    for (size_t i = 0; i < network_.output_count; ++i) {
      swap_if_big_endian(outputs_[i], network_.outputs[i]);
      transfer(folder, "output", i, true, outputs_[i]);
    }
  }

  void fill() {
    arena_.fill();
    for (size_t i = 0; i < network_.output_count; ++i) outputs_[i].fill();
  }

  // Calls it with the network's pointers, as Call has them.
  template <class Function>
  void call(Function function) {
    function(input_pointers_.data(), output_pointers_.data(), arena_.data);
  }

  bool guards_intact() const {
    bool good = arena_.guards_intact();
    for (size_t i = 0; i < network_.input_count; ++i) good = good && inputs_[i].guards_intact();
    for (size_t i = 0; i < network_.output_count; ++i) good = good && outputs_[i].guards_intact();
    return good;
  }

  // Whether the inputs are what was read.
  bool inputs_intact() const {
    bool good = true;
    for (size_t i = 0; i < network_.input_count; ++i)
      good = good && memcmp(kept_[i], inputs_[i].data, inputs_[i].bytes) == 0;
    return good;
  }

 private:
  const Network& network_;
  Block arena_{};
  Table<Block> inputs_;
  Table<Block> outputs_;
  Table<unsigned char*> kept_;  // the inputs' bytes
  Table<const void*> input_pointers_;
  Table<void*> output_pointers_;
};

inline int run(const Network& network, const char* const* folders, int count) {
  Memory memory(network, Alignment::kLeast);
  for (int i = 0; i < count; ++i) {
    memory.read_inputs(folders[i]);
    memory.fill();
    memory.call(network.run);
    if (!memory.guards_intact() || !memory.inputs_intact()) {
      fprintf(stderr, "%s\n",
              memory.guards_intact() ? "the network wrote to an input"
                                     : "the network wrote outside its arena or an output");
      return 2;
    }
    memory.write_outputs(folders[i]);
  }
  return 0;
}

// In microseconds.
inline double now() {
  struct timespec time {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// A list of times; all bytes zero is an empty one.
struct Times {
  double* values;
  size_t count, room;

  void add(double microseconds) {
    if (count == room) {
      room = room == 0 ? 1024 : 2 * room;
      values = static_cast<double*>(grown(values, room * sizeof(double)));
    }
    values[count++] = microseconds;
  }
  double median() {
    qsort(values, count, sizeof(double), [](const void* a, const void* b) {
      const double x = *static_cast<const double*>(a);
      const double y = *static_cast<const double*>(b);
      return x < y ? -1 : (x > y ? 1 : 0);
    });
    return values[count / 2];
  }
  // "NAME MEDIAN MINIMUM" in microseconds.
  void print(const char* name) {
    const double middle = median();
    printf("%s %.4f %.4f\n", name, middle, values[0]);
    free(values);
  }
};

// Times the whole network. Calls shorter than the clock can resolve are timed in batches.
inline void bench_whole(const Network& network, Memory& memory, double seconds) {
  constexpr double kBatchMicroseconds = 50;
  const double start = now();
  size_t calls = 0;
  do {
    memory.call(network.run);
    ++calls;
  } while (now() - start < seconds * 1e5);  // caches, branch predictors and clock frequency settle
  const double one_call = (now() - start) / static_cast<double>(calls);
  const double ratio = kBatchMicroseconds / one_call;
  const size_t batch = ratio > 1 ? static_cast<size_t>(ratio) : 1;

  Times times{};
  do {
    const double begin = now();
    for (size_t i = 0; i < batch; ++i) memory.call(network.run);
    times.add((now() - begin) / static_cast<double>(batch));
  } while (now() - start < seconds * 1e6);
  times.print("network");
}

// What reading the clock adds to a measured time.
inline double clock_microseconds() {
  Times times{};
  for (int i = 0; i < 1001; ++i) {
    const double begin = now();
    times.add(now() - begin);
  }
  const double out = times.median();
  free(times.values);
  return out;
}

// Times every step within runs of the whole network, so that caches are as they are in use.
template <class Step>
void bench_steps(Memory& memory, const Step* steps, int step_count, double seconds) {
  const double clock = clock_microseconds();
  Table<Times> times(static_cast<size_t>(step_count));
  const double start = now();
  double begin = start;
  do {
    begin = now();
    for (int i = 0; i < step_count; ++i) {
      memory.call([&](auto in, auto out, void* arena) { steps[i].run(in, out, arena); });
      const double end = now();
      const double taken = end - begin - clock;
      times[static_cast<size_t>(i)].add(taken > 0 ? taken : 0);
      begin = end;
    }
  } while (begin - start < seconds * 1e6);
  for (int i = 0; i < step_count; ++i) times[static_cast<size_t>(i)].print(steps[i].name);
}

// Prints one line "NAME MEDIAN MINIMUM" (microseconds) for "network" and for each step.
template <class Step>
int bench(const Network& network, const Step* steps, int step_count, const char* seconds_text,
          const char* folder) {
  const double seconds = atof(seconds_text);
  Memory memory(network, Alignment::kGenerous);
  memory.read_inputs(folder);
  bench_whole(network, memory, step_count == 0 ? seconds : seconds / 2);
  if (step_count != 0) bench_steps(memory, steps, step_count, seconds / 2);
  return 0;
}

inline void do_nothing(const void* const*, void* const*, void*) {}

// Of each sample, marks before and after a call of nothing, the whole network and each step.
template <class Step>
int count(const Network& network, const Step* steps, int step_count, const char* folders,
          int samples) {
  Memory memory(network, Alignment::kGenerous);
  Call volatile nothing = do_nothing;
  for (int sample = 0; sample < samples; ++sample) {
    char folder[64];
    snprintf(folder, sizeof folder, "%s%d", folders, sample);
    memory.read_inputs(folder);
    etch_mark();
    memory.call(nothing);
    etch_mark();
    memory.call(network.run);
    etch_mark();
    for (int i = 0; i < step_count; ++i) {
      memory.call([&](auto in, auto out, void* arena) { steps[i].run(in, out, arena); });
      etch_mark();
    }
  }
  return 0;
}

struct NoStep {
  const char* name;
  Call run;
};

// A Step has a name and run(), which takes what a Call does.
template <class Step = NoStep>
int main(int argc, char** argv, const Network& network, const Step* steps = nullptr,
         int step_count = 0) {
  const char* const mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "run") == 0) return run(network, argv + 2, argc - 2);
  if (strcmp(mode, "bench") == 0 && argc == 4)
    return bench(network, steps, step_count, argv[2], argv[3]);
  if (strcmp(mode, "count") == 0 && argc == 4)
    return count(network, steps, step_count, argv[2], atoi(argv[3]));
  fprintf(stderr, "usage: %s run FOLDER... | bench SECONDS FOLDER | count FOLDER_ COUNT\n",
          argv[0]);
  return 1;
}

}  // namespace harness
