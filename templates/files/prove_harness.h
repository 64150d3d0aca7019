// Calls single steps of a generated network over inputs and constants that a file lists: what
// `etch prove` puts around the compiled objects, here and in emulators. main.cc, which is written
// per network, fills in a Proof and calls prove::main().
//
//   PROGRAM jobs.bin results.bin
//
// jobs.bin is a list of words of 32 bits, little-endian; the first of each job says what it is:
//   1 BLOCK PLACE BYTES, then the bytes, padded to words   before every call these bytes are there
//   2 ARRAY WORD VALUE              adds the value to a word of a constant array
//   3 ARRAY WORD VALUE              sets it
//   4 STEP BLOCK PLACE BYTES N, then N x (BLOCK, PLACE, BYTE)   calls the step with these bytes
//                                   changed, appends the BYTES that it left there to results.bin
//   5                               forgets what job 1 has listed
//   0                               the end
// Exit codes: 1: a file cannot be read or written, 2: constants cannot be changed, 3: no room.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef ETCH_PROVE_FIRMWARE
#include "semihosting.h"
#else
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace prove {

// A constant array of the network.
struct Array {
  const void* data;
  size_t bytes;
};

struct Proof {
  unsigned char* const* blocks;  // the memory of the network: arena, inputs, outputs
  const Array* arrays;
  size_t array_count;
  void (*const* steps)();
  unsigned char* store;  // for the bytes of jobs 1
  size_t store_bytes;
};

#ifdef ETCH_PROVE_FIRMWARE
[[noreturn]] inline void stop(int code) { semihosting::exit(code); }
class File {
 public:
  File(const char* path, bool write) {
    const uintptr_t open[3] = {reinterpret_cast<uintptr_t>(path), write ? 5U : 1U, strlen(path)};
    const intptr_t file = semihosting::call(0x01, open);
    if (file == -1) stop(1);
    handle_ = static_cast<uintptr_t>(file);
  }
  // Bytes that are there; 0 at the end.
  size_t read(void* data, size_t bytes) { return bytes - transfer(0x06, data, bytes); }
  void write(const void* data, size_t bytes) {
    if (transfer(0x05, data, bytes) != 0) stop(1);
  }
  void close() { semihosting::call(0x02, &handle_); }

 private:
  size_t transfer(uintptr_t operation, const void* data, size_t bytes) {
    if (bytes == 0) return 0;
    const uintptr_t block[3] = {handle_, reinterpret_cast<uintptr_t>(data), bytes};
    return static_cast<size_t>(semihosting::call(operation, block));
  }
  uintptr_t handle_ = 0;
};
inline void make_writable(const Proof&) {}
#else
[[noreturn]] inline void stop(int code) { exit(code); }
class File {
 public:
  File(const char* path, bool write) : file_(fopen(path, write ? "wb" : "rb")) {
    if (file_ == nullptr) stop(1);
  }
  size_t read(void* data, size_t bytes) { return fread(data, 1, bytes, file_); }
  void write(const void* data, size_t bytes) {
    if (fwrite(data, 1, bytes, file_) != bytes) stop(1);
  }
  void close() {
    if (fclose(file_) != 0) stop(1);
  }

 private:
  FILE* file_;
};
inline void make_writable(const Proof& proof) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < proof.array_count; ++i) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(proof.arrays[i].data) / page * page;
    const uintptr_t end = reinterpret_cast<uintptr_t>(proof.arrays[i].data) + proof.arrays[i].bytes;
    // Code can be on the same page.
    const int access = PROT_READ | PROT_WRITE | PROT_EXEC;
    if (mprotect(reinterpret_cast<void*>(begin), end - begin, access) != 0) stop(2);
  }
}
#endif

// Reads words through a buffer.
class Jobs {
 public:
  explicit Jobs(const char* path) : file_(path, false) {}
  uint32_t word() {
    uint32_t value = 0;
    bytes(&value, sizeof value);
    return value;
  }
  void bytes(void* data, size_t count) {
    unsigned char* to = static_cast<unsigned char*>(data);
    while (count > 0) {
      if (at_ == end_) {
        at_ = 0;
        end_ = file_.read(buffer_, sizeof buffer_);
        if (end_ == 0) stop(1);
      }
      const size_t part = count < end_ - at_ ? count : end_ - at_;
      memcpy(to, buffer_ + at_, part);
      at_ += part;
      to += part;
      count -= part;
    }
  }

 private:
  File file_;
  size_t at_ = 0, end_ = 0;
  unsigned char buffer_[16384];
};

// Bytes that are written before each call.
struct Image {
  unsigned char* to;
  const unsigned char* from;
  size_t bytes;
};

class Machine {
 public:
  explicit Machine(const Proof& proof) : proof_(proof) { make_writable(proof); }

  void image(Jobs& jobs) {
    unsigned char* const block = proof_.blocks[jobs.word()];
    const uint32_t place = jobs.word();
    const uint32_t bytes = jobs.word();
    const size_t padded = (size_t{bytes} + 3) / 4 * 4;
    if (count_ == kMost || used_ + padded > proof_.store_bytes) stop(3);
    jobs.bytes(proof_.store + used_, padded);
    images_[count_++] = {block + place, proof_.store + used_, bytes};
    used_ += padded;
  }

  void patch(Jobs& jobs, bool add) {
    const Array& array = proof_.arrays[jobs.word()];
    const size_t at = size_t{jobs.word()} * 4;
    const uint32_t value = jobs.word();
    if (at + 4 > array.bytes) stop(3);
    volatile unsigned char* const place =
        static_cast<unsigned char*>(const_cast<void*>(array.data)) + at;
    const uint32_t result = value + (add ? read(place) : 0);
    for (int i = 0; i < 4; ++i) place[i] = static_cast<unsigned char>(result >> (8 * i));
    if (read(place) != result) stop(2);
  }

  void call(Jobs& jobs, File& results) {
    const uint32_t step = jobs.word();
    const unsigned char* const block = proof_.blocks[jobs.word()];
    const uint32_t place = jobs.word();
    const uint32_t bytes = jobs.word();
    for (size_t i = 0; i < count_; ++i) memcpy(images_[i].to, images_[i].from, images_[i].bytes);
    for (uint32_t n = jobs.word(); n > 0; --n) {
      unsigned char* const changed = proof_.blocks[jobs.word()];
      const uint32_t at = jobs.word();
      changed[at] = static_cast<unsigned char>(jobs.word());
    }
    proof_.steps[step]();
    results.write(block + place, bytes);
  }

  void forget() { count_ = used_ = 0; }

 private:
  static constexpr size_t kMost = 8;

  static uint32_t read(const volatile unsigned char* at) {
    return at[0] | static_cast<uint32_t>(at[1]) << 8 | static_cast<uint32_t>(at[2]) << 16 |
           static_cast<uint32_t>(at[3]) << 24;
  }

  const Proof& proof_;
  Image images_[kMost] = {};
  size_t count_ = 0, used_ = 0;
};

inline int main(const Proof& proof, const char* jobs_path, const char* results_path) {
  static Jobs jobs(jobs_path);
  File results(results_path, true);
  Machine machine(proof);
  for (uint32_t what = jobs.word(); what != 0; what = jobs.word()) {
    if (what == 1) machine.image(jobs);
    if (what == 2 || what == 3) machine.patch(jobs, what == 2);
    if (what == 4) machine.call(jobs, results);
    if (what == 5) machine.forget();
  }
  results.close();
  return 0;
}

}  // namespace prove
