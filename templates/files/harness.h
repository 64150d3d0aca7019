// What `etch check`, `etch run` and `etch bench` put around a generated network to run it as a
// program. It is not delivered with generated code. main.cc, which is written per network
// (compiler/host/harness.cc), fills in a Network and calls harness::main().
//
//   PROGRAM run FOLDER...         reads FOLDER/input_I.bin, writes FOLDER/output_I.bin
//   PROGRAM bench SECONDS FOLDER  reads FOLDER/input_I.bin, prints times (see bench())
//   PROGRAM count FOLDER          reads FOLDER/input_I.bin, calls the network between marks
//
// The files hold little-endian elements in row-major order. Exit codes: 0 ok, 1 a file cannot be
// read or written, 2 the network wrote where it must not.
//
// "run" gives the network the least that its interface promises: pointers aligned to one element
// and no more, an arena aligned to what the header asks and no more, all memory filled with a
// pattern, and guard bytes around everything, which are checked afterwards.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// A mark in the execution, for an emulator that counts instructions (count_instructions.cc): what
// is executed between two marks is counted.
extern "C" {
__attribute__((noinline, used)) inline void etch_mark() { __asm__ volatile("" ::: "memory"); }
}

namespace harness {

// One input or output.
struct Port {
  std::size_t bytes;
  std::size_t element;  // bytes of one element
};

// Calls a function of the network with its pointers.
using Call = std::function<void(const void* const* inputs, void* const* outputs, void* arena)>;

struct Step {
  const char* name;
  Call run;
};

struct Network {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::size_t arena_bytes;
  std::size_t arena_alignment;
  Call run;
  std::vector<Step> steps;  // run() in parts, in order; empty if not asked for
};

constexpr unsigned char kPattern = 0xA5;
constexpr unsigned char kGuard = 0xC3;
constexpr std::size_t kGuardBytes = 4096;

// Memory at a multiple of `alignment` plus `offset`, with guard bytes on both sides.
class Block {
 public:
  Block(std::size_t bytes, std::size_t alignment, std::size_t offset)
      : storage_(bytes + 2 * kGuardBytes + alignment + offset, kGuard), bytes_(bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(storage_.data()) + kGuardBytes;
    const std::uintptr_t aligned = (first + alignment - 1) / alignment * alignment;
    data_ = storage_.data() + kGuardBytes + (aligned - first) + offset;
    fill();
  }
  Block(Block&&) = default;  // the storage, and so data_, stays where it is
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  unsigned char* data() { return data_; }
  void fill() { std::memset(data_, kPattern, bytes_); }

  bool guards_intact() const {
    const auto is_guard = [](unsigned char byte) { return byte == kGuard; };
    const unsigned char* begin = storage_.data();
    const unsigned char* const data = data_;
    return std::all_of(begin, data, is_guard) &&
           std::all_of(data + bytes_, begin + storage_.size(), is_guard);
  }

 private:
  std::vector<unsigned char> storage_;
  std::size_t bytes_;
  unsigned char* data_;
};

// Turns elements of the file's byte order into the machine's, or back.
inline void swap_if_big_endian(unsigned char* bytes, const Port& port) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (std::size_t i = 0; i < port.bytes; i += port.element) {
    std::reverse(bytes + i, bytes + i + port.element);
  }
#else
  (void)bytes;
  (void)port;
#endif
}

inline std::string file_of(const char* folder, const char* role, std::size_t index) {
  return std::string(folder) + "/" + role + "_" + std::to_string(index) + ".bin";
}

// Opens, transfers exactly `bytes` and closes; ends the program when that fails.
inline void transfer(const std::string& path, const char* mode, unsigned char* data,
                     std::size_t bytes) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  std::size_t done = 0;
  if (file != nullptr) {
    done = mode[0] == 'r' ? std::fread(data, 1, bytes, file) : std::fwrite(data, 1, bytes, file);
  }
  if (file == nullptr || std::fclose(file) != 0 || done != bytes) {
    std::fprintf(stderr, "%s: cannot %s %lu bytes\n", path.c_str(),
                 mode[0] == 'r' ? "read" : "write", static_cast<unsigned long>(bytes));
    std::exit(1);
  }
}

enum class Alignment { kLeast, kGenerous };

// The network's memory.
class Memory {
 public:
  Memory(const Network& network, Alignment alignment)
      : network_(network), arena_(make_arena(network, alignment)) {
    for (const Port& port : network.inputs) inputs_.push_back(make_port(port, alignment));
    for (const Port& port : network.outputs) outputs_.push_back(make_port(port, alignment));
    for (Block& block : inputs_) input_pointers_.push_back(block.data());
    for (Block& block : outputs_) output_pointers_.push_back(block.data());
  }

  void read_inputs(const char* folder) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      transfer(file_of(folder, "input", i), "rb", inputs_[i].data(), network_.inputs[i].bytes);
      swap_if_big_endian(inputs_[i].data(), network_.inputs[i]);
    }
  }

  void write_outputs(const char* folder) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      swap_if_big_endian(outputs_[i].data(), network_.outputs[i]);
      transfer(file_of(folder, "output", i), "wb", outputs_[i].data(), network_.outputs[i].bytes);
    }
  }

  void fill() {
    arena_.fill();
    for (Block& block : outputs_) block.fill();
  }

  void call(const Call& function) {
    function(input_pointers_.data(), output_pointers_.data(), arena_.data());
  }

  bool guards_intact() const {
    const auto intact = [](const Block& block) { return block.guards_intact(); };
    return arena_.guards_intact() && std::all_of(inputs_.begin(), inputs_.end(), intact) &&
           std::all_of(outputs_.begin(), outputs_.end(), intact);
  }

  // The inputs' bytes, to see whether the network changed them.
  std::vector<unsigned char> input_bytes() {
    std::vector<unsigned char> all;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      all.insert(all.end(), inputs_[i].data(), inputs_[i].data() + network_.inputs[i].bytes);
    }
    return all;
  }

 private:
  static Block make_arena(const Network& network, Alignment alignment) {
    const std::size_t unit = network.arena_alignment;
    return alignment == Alignment::kLeast ? Block(network.arena_bytes, 2 * unit, unit)
                                          : Block(network.arena_bytes, 4096, 0);
  }
  static Block make_port(const Port& port, Alignment alignment) {
    return alignment == Alignment::kLeast ? Block(port.bytes, 64, port.element)
                                          : Block(port.bytes, 64, 0);
  }

  const Network& network_;
  Block arena_;
  std::vector<Block> inputs_;
  std::vector<Block> outputs_;
  std::vector<const void*> input_pointers_;
  std::vector<void*> output_pointers_;
};

inline int run(const Network& network, const std::vector<const char*>& folders) {
  Memory memory(network, Alignment::kLeast);
  for (const char* folder : folders) {
    memory.read_inputs(folder);
    const std::vector<unsigned char> before = memory.input_bytes();
    memory.fill();
    memory.call(network.run);
    if (!memory.guards_intact() || memory.input_bytes() != before) {
      std::fprintf(stderr, "%s\n",
                   memory.guards_intact() ? "the network wrote to an input"
                                          : "the network wrote outside its arena or an output");
      return 2;
    }
    memory.write_outputs(folder);
  }
  return 0;
}

using Clock = std::chrono::steady_clock;

inline double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

// Prints "NAME MEDIAN MINIMUM" in microseconds.
inline void print_times(const char* name, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%s %.4f %.4f\n", name, times[times.size() / 2], times.front());
}

// Times the whole network. Calls shorter than the clock can resolve are timed in batches.
inline void bench_whole(const Network& network, Memory& memory, double seconds) {
  constexpr double kBatchMicroseconds = 50;
  const Clock::time_point start = Clock::now();
  const auto elapsed = [&] { return microseconds(Clock::now() - start) / 1e6; };
  std::size_t calls = 0;
  do {
    memory.call(network.run);
    ++calls;
  } while (elapsed() < seconds / 10);  // caches, branch predictors and clock frequency settle
  const double one_call = elapsed() * 1e6 / static_cast<double>(calls);
  const auto batch = static_cast<std::size_t>(std::max(1.0, kBatchMicroseconds / one_call));

  std::vector<double> times;
  do {
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < batch; ++i) memory.call(network.run);
    times.push_back(microseconds(Clock::now() - begin) / static_cast<double>(batch));
  } while (elapsed() < seconds);
  print_times("network", std::move(times));
}

// What reading the clock adds to a measured time.
inline double clock_microseconds() {
  std::vector<double> times;
  for (int i = 0; i < 1001; ++i) {
    const Clock::time_point begin = Clock::now();
    times.push_back(microseconds(Clock::now() - begin));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Times every step within runs of the whole network, so that caches are as they are in use.
inline void bench_steps(const Network& network, Memory& memory, double seconds) {
  const double clock = clock_microseconds();
  std::vector<std::vector<double>> times(network.steps.size());
  const Clock::time_point start = Clock::now();
  do {
    Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < network.steps.size(); ++i) {
      memory.call(network.steps[i].run);
      const Clock::time_point end = Clock::now();
      times[i].push_back(std::max(0.0, microseconds(end - begin) - clock));
      begin = end;
    }
  } while (microseconds(Clock::now() - start) / 1e6 < seconds);
  for (std::size_t i = 0; i < network.steps.size(); ++i) {
    print_times(network.steps[i].name, std::move(times[i]));
  }
}

// Prints one line "NAME MEDIAN MINIMUM" (microseconds) for "network" and for each step.
inline int bench(const Network& network, const char* seconds_text, const char* folder) {
  const double seconds = std::atof(seconds_text);
  Memory memory(network, Alignment::kGenerous);
  memory.read_inputs(folder);
  bench_whole(network, memory, network.steps.empty() ? seconds : seconds / 2);
  if (!network.steps.empty()) bench_steps(network, memory, seconds / 2);
  return 0;
}

// Marks before and after a call of nothing, the whole network and each step.
inline int count(const Network& network, const char* folder) {
  Memory memory(network, Alignment::kGenerous);
  memory.read_inputs(folder);
  const Call nothing = [](const void* const*, void* const*, void*) {};
  etch_mark();
  for (const Call* call : {&nothing, &network.run}) {
    memory.call(*call);
    etch_mark();
  }
  for (const Step& step : network.steps) {
    memory.call(step.run);
    etch_mark();
  }
  return 0;
}

inline int main(int argc, char** argv, const Network& network) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "run") return run(network, {argv + 2, argv + argc});
  if (mode == "bench" && argc == 4) return bench(network, argv[2], argv[3]);
  if (mode == "count" && argc == 3) return count(network, argv[2]);
  std::fprintf(stderr, "usage: %s run FOLDER... | bench SECONDS FOLDER | count FOLDER\n", argv[0]);
  return 1;
}

// Calls `function`, whose parameters are pointers to the inputs, to the outputs and to the arena,
// in this order and of whatever type.
template <class... Parameters, std::size_t... kIndices>
void call_with(void (*function)(Parameters...) noexcept, const void* const* inputs,
               std::size_t input_count, void* const* outputs, void* arena,
               std::index_sequence<kIndices...>) {
  constexpr std::size_t kLast = sizeof...(Parameters) - 1;
  const auto pointer = [&](std::size_t i) {
    if (i == kLast) return arena;
    return i < input_count ? const_cast<void*>(inputs[i]) : outputs[i - input_count];
  };
  function(static_cast<Parameters>(pointer(kIndices))...);
}

template <class... Parameters>
void call(void (*function)(Parameters...) noexcept, const void* const* inputs,
          std::size_t input_count, void* const* outputs, void* arena) {
  call_with(function, inputs, input_count, outputs, arena,
            std::index_sequence_for<Parameters...>());
}

}  // namespace harness
