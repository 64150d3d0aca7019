// The program with which tools/instruments-check runs generated networks: it runs every network of
// a table on recorded inputs, in memory that detects forbidden accesses, and compares with recorded
// outputs byte for byte (floats that are NaN count as equal). The table and main() are
// written per batch of networks.
//
//   PROGRAM pages FOLDER [NAME]    between pages without access, inputs read-only: every buffer
//                                  is placed at the end of its page, then at the beginning, then at
//                                  offsets of 1 to 15 and 63 elements; memory filled with 00, FF,
//                                  A5
//   PROGRAM heap FOLDER [NAME]     in blocks of malloc() of the exact sizes, outputs not
//                                  initialised: for sanitizers and valgrind
//   PROGRAM threads FOLDER [NAME]  on eight threads at the same time, each with its own memory
//
// Exit codes: 0 ok, 1 a file cannot be read, 2 wrong output, 3 a forbidden access.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define INSTRUMENTS_MSAN 1
#endif
#endif

namespace instruments {

constexpr size_t kMostPorts = 64;
constexpr size_t kPage = 4096;
constexpr unsigned char kGap = 0xC3;

struct Port {
  size_t bytes;
  size_t element;
  bool real;  // float32
};

struct Network {
  const char* name;
  size_t input_count;
  Port inputs[kMostPorts];
  size_t output_count;
  Port outputs[kMostPorts];
  size_t arena_bytes;
  size_t arena_alignment;
  void (*run)(const void* const* inputs, void* const* outputs, void* arena);
  const char* weights;  // the file of weights that are not in the code, or null
  uintptr_t weights_place;
  size_t weights_bytes;
};

// For the message when the program is killed.
inline char g_doing[512];

[[noreturn]] inline void die(int code, const char* what, const char* detail) {
  fprintf(stderr, "%s: %s %s\n", g_doing, what, detail);
  fflush(stderr);
  _exit(code);
}

inline void on_signal(int number) {
  const char* const what =
      number == SIGSEGV || number == SIGBUS ? ": forbidden access\n" : ": killed by a trap\n";
  ssize_t ignored = write(2, g_doing, strlen(g_doing));
  ignored = write(2, what, strlen(what));
  (void)ignored;
  _exit(3);
}

inline unsigned char* read_file(const char* folder, const char* network, const char* role,
                                size_t index, size_t bytes) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s/%s_%zu.bin", folder, network, role, index);
  unsigned char* const data = static_cast<unsigned char*>(malloc(bytes + 1));
  FILE* const file = fopen(path, "rb");
  if (file == nullptr || fread(data, 1, bytes + 1, file) != bytes) die(1, "cannot read", path);
  fclose(file);
  return data;
}

// What a network gets and has to give.
struct Sample {
  Sample(const Network& network, const char* folder) : of(network) {
    for (size_t i = 0; i < of.input_count; ++i)
      inputs[i] = read_file(folder, of.name, "input", i, of.inputs[i].bytes);
    for (size_t i = 0; i < of.output_count; ++i)
      outputs[i] = read_file(folder, of.name, "output", i, of.outputs[i].bytes);
  }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;
  ~Sample() {
    for (size_t i = 0; i < of.input_count; ++i) free(inputs[i]);
    for (size_t i = 0; i < of.output_count; ++i) free(outputs[i]);
  }

  const Network& of;
  unsigned char* inputs[kMostPorts] = {};
  unsigned char* outputs[kMostPorts] = {};
};

inline bool is_nan(const unsigned char* bytes) {
  uint32_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return (bits & 0x7fffffffu) > 0x7f800000u;
}

inline void compare(const Sample& sample, void* const* outputs, const char* how) {
  for (size_t i = 0; i < sample.of.output_count; ++i) {
    const Port& port = sample.of.outputs[i];
    const unsigned char* const got = static_cast<const unsigned char*>(outputs[i]);
    const unsigned char* const want = sample.outputs[i];
#ifdef INSTRUMENTS_MSAN
    __msan_check_mem_is_initialized(got, port.bytes);
#endif
    size_t wrong = 0;
    for (size_t at = 0; at < port.bytes; at += port.element) {
      if (memcmp(got + at, want + at, port.element) == 0) continue;
      if (port.real && is_nan(got + at) && is_nan(want + at)) continue;
      ++wrong;
    }
    if (wrong == 0) continue;
    char text[128];
    snprintf(text, sizeof text, "output %zu, %zu of %zu elements, %s", i, wrong,
             port.bytes / port.element, how);
    die(2, "wrong:", text);
  }
}

// Memory between two pages without access.
class Fenced {
 public:
  enum class At { kEnd, kBegin };

  // `offset` is that of the data from the start of the accessible page, for kBegin. `alignment` may
  // leave a gap after the data for kEnd.
  Fenced(size_t bytes, size_t alignment, At at, size_t offset) : bytes_(bytes) {
    inner_ = (bytes + offset + kPage - 1) / kPage * kPage;
    if (inner_ == 0) inner_ = kPage;
    map_ = static_cast<unsigned char*>(
        mmap(nullptr, inner_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED) die(1, "no memory", "");
    unlock();
    const size_t last = (inner_ - bytes) / alignment * alignment;
    data_ = map_ + kPage + (at == At::kEnd ? last : offset);
    memset(map_ + kPage, kGap, inner_);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { munmap(map_, inner_ + 2 * kPage); }

  unsigned char* data() { return data_; }
  void fill(int pattern) { memset(data_, pattern, bytes_); }
  void lock() { mprotect(map_ + kPage, inner_, PROT_READ); }
  void unlock() { mprotect(map_ + kPage, inner_, PROT_READ | PROT_WRITE); }

  bool gaps_intact() const {
    for (const unsigned char* p = map_ + kPage; p < map_ + kPage + inner_; ++p) {
      if ((p < data_ || p >= data_ + bytes_) && *p != kGap) return false;
    }
    return true;
  }

 private:
  size_t bytes_;
  size_t inner_ = 0;
  unsigned char* map_ = nullptr;
  unsigned char* data_ = nullptr;
};

// A network's memory between fences. With `offset` every pointer is that many elements (the arena:
// alignments) after the beginning of a page.
class FencedMemory {
 public:
  FencedMemory(const Sample& sample, Fenced::At at, size_t offset)
      : sample_(sample),
        arena_(sample.of.arena_bytes, sample.of.arena_alignment, at,
               offset % 2 * sample.of.arena_alignment) {
    const Network& of = sample.of;
    for (size_t i = 0; i < of.input_count; ++i) {
      const Port& port = of.inputs[i];
      inputs_[i] = new Fenced(port.bytes, 1, at, offset * port.element);
      memcpy(inputs_[i]->data(), sample.inputs[i], port.bytes);
      inputs_[i]->lock();
      in_[i] = inputs_[i]->data();
    }
    for (size_t i = 0; i < of.output_count; ++i) {
      const Port& port = of.outputs[i];
      outputs_[i] = new Fenced(port.bytes, 1, at, offset * port.element);
      out_[i] = outputs_[i]->data();
    }
  }
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;
  ~FencedMemory() {
    for (size_t i = 0; i < sample_.of.input_count; ++i) delete inputs_[i];
    for (size_t i = 0; i < sample_.of.output_count; ++i) delete outputs_[i];
  }

  // Twice, the second time over what the first one left.
  void run(int pattern, const char* how) {
    arena_.fill(pattern);
    for (int time = 0; time < 2; ++time) {
      for (size_t i = 0; i < sample_.of.output_count; ++i) outputs_[i]->fill(pattern);
      sample_.of.run(in_, out_, arena_.data());
      compare(sample_, out_, time == 0 ? how : "in a used arena");
    }
    bool intact = arena_.gaps_intact();
    for (size_t i = 0; i < sample_.of.output_count; ++i)
      intact = intact && outputs_[i]->gaps_intact();
    if (!intact) die(3, "wrote beside its memory,", how);
  }

  // Whether an arena of too small an alignment is refused by a trap.
  void expect_trap() {
    if (sample_.of.arena_alignment < 2) return;
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGILL, SIG_DFL);
      signal(SIGTRAP, SIG_DFL);
      sample_.of.run(in_, out_, arena_.data() + sample_.of.arena_alignment / 2);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool trapped =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP);
    if (!trapped) die(2, "no trap", "for an arena that is not aligned");
  }

 private:
  const Sample& sample_;
  Fenced arena_;
  Fenced* inputs_[kMostPorts] = {};
  Fenced* outputs_[kMostPorts] = {};
  const void* in_[kMostPorts] = {};
  void* out_[kMostPorts] = {};
};

inline void note(const Network& network, const char* what) {
  snprintf(g_doing, sizeof g_doing, "%s (%s)", network.name, what);
}

// Puts NAME_weights.bin where the linker was told it would be: read-only, between fences.
inline void place_weights(const Network& network, const char* folder) {
  const uintptr_t first = network.weights_place / kPage * kPage;
  const uintptr_t end = (network.weights_place + network.weights_bytes + kPage - 1) / kPage * kPage;
  const size_t length = end - first;
  void* const map = mmap(reinterpret_cast<void*>(first - kPage), length + 2 * kPage, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (map == MAP_FAILED) die(1, "no memory for", network.weights);
  void* const inner = reinterpret_cast<void*>(first);
  mprotect(inner, length, PROT_READ | PROT_WRITE);
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, network.weights);
  FILE* const file = fopen(path, "rb");
  void* const place = reinterpret_cast<void*>(network.weights_place);
  if (file == nullptr || fread(place, 1, network.weights_bytes, file) != network.weights_bytes)
    die(1, "cannot read", path);
  fclose(file);
  mprotect(inner, length, PROT_READ);
}

inline void run_between_pages(const Network& network, const char* folder) {
  const Sample sample(network, folder);
  note(network, "memory ends with its page");
  {
    FencedMemory memory(sample, Fenced::At::kEnd, 0);
    memory.run(0x00, "filled with 00");
  }
  note(network, "memory begins with its page");
  {
    FencedMemory memory(sample, Fenced::At::kBegin, 0);
    memory.run(0xFF, "filled with FF");
    memory.expect_trap();
  }
  const bool large = network.arena_bytes > size_t{1} << 20;
  for (size_t offset = 1; offset < 64; offset = offset == 15 ? 63 : offset + 1) {
    if (large && offset != 1 && offset != 63) continue;
    char text[64];
    snprintf(text, sizeof text, "%zu elements after a page", offset);
    note(network, text);
    FencedMemory memory(sample, Fenced::At::kBegin, offset);
    memory.run(0xA5, "filled with A5");
  }
}

// In blocks of exactly the sizes that the header says. The arena gets no more alignment than that.
inline void run_on_heap(const Sample& sample, int times) {
  const Network& of = sample.of;
  const void* in[kMostPorts] = {};
  void* out[kMostPorts] = {};
  for (size_t i = 0; i < of.input_count; ++i) {
    void* const copy = malloc(of.inputs[i].bytes);
    if (of.inputs[i].bytes != 0) memcpy(copy, sample.inputs[i], of.inputs[i].bytes);
    in[i] = copy;
  }
  for (size_t i = 0; i < of.output_count; ++i) out[i] = malloc(of.outputs[i].bytes);
  void* arena = nullptr;
  if (posix_memalign(&arena, of.arena_alignment, of.arena_bytes) != 0) die(1, "no memory", "");
  // Sums may read bytes between tensors, which their weights multiply by zero: for MemorySanitizer
  // and valgrind that is a use all the same. That outputs do not depend on them, "pages" shows.
  memset(arena, kGap, of.arena_bytes);
  for (int time = 0; time < times; ++time) {
    of.run(in, out, arena);
    compare(sample, out, "on the heap");
  }
  for (size_t i = 0; i < of.input_count; ++i) {
    if (of.inputs[i].bytes != 0 && memcmp(in[i], sample.inputs[i], of.inputs[i].bytes) != 0)
      die(2, "wrote to", "an input");
    free(const_cast<void*>(in[i]));
  }
  for (size_t i = 0; i < of.output_count; ++i) free(out[i]);
  free(arena);
}

inline void* run_on_thread(void* sample) {
  run_on_heap(*static_cast<const Sample*>(sample), 3);
  return nullptr;
}

inline void run_on_threads(Sample& sample) {
  constexpr int kThreads = 8;
  pthread_t threads[kThreads];
  for (pthread_t& each : threads) pthread_create(&each, nullptr, run_on_thread, &sample);
  for (pthread_t& each : threads) pthread_join(each, nullptr);
}

inline void run(const Network& network, const char* mode, const char* folder) {
  note(network, mode);
  if (network.weights != nullptr) place_weights(network, folder);
  if (strcmp(mode, "pages") == 0) {
    run_between_pages(network, folder);
    return;
  }
  Sample sample(network, folder);
  if (strcmp(mode, "threads") == 0) {
    run_on_threads(sample);
  } else {
    run_on_heap(sample, 2);
  }
}

inline int main(int argc, char** argv, const Network* networks, size_t count) {
  if (argc < 3) return 1;
  if (strcmp(argv[1], "pages") == 0) {
    constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
    for (const int each : kSignals) signal(each, on_signal);
  }
  size_t done = 0;
  for (size_t i = 0; i < count; ++i) {
    if (argc > 3 && strcmp(argv[3], networks[i].name) != 0) continue;
    run(networks[i], argv[1], argv[2]);
    ++done;
  }
  printf("%zu\n", done);
  return done != 0 ? 0 : 1;
}

}  // namespace instruments
