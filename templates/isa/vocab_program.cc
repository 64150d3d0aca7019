// The verbs of one vocabulary as a program for another machine: vocab_cross_test.cc includes this
// file after the vocabulary's vocab_verbs.h, with its function's name as ETCH_VOCAB_CHECK, builds
// it with the cross compiler and runs it in the emulator.
//
//   PROGRAM INPUT OUTPUT   reads Data after Data, writes of each the number of results, where they
//                          end, and their bytes
#include <stdio.h>
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "templates/isa/vocab_check.h"

namespace {

using etch::vocab_check::Data;
using etch::vocab_check::Input;
using etch::vocab_check::Output;

// The end of memory that may be touched; where there is no protection, of memory that is there.
uint8_t* page_end() {
#if defined(__linux__)
  const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const start =
      mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  uint8_t* const end = static_cast<uint8_t*>(start) + size;
  return mprotect(end, size, PROT_NONE) == 0 ? end : nullptr;
#else
  static uint8_t memory[4096];
  return memory + sizeof memory;
#endif
}

bool write_output(FILE* file, const Output& out) {
  const auto results = static_cast<size_t>(out.results);
  const auto bytes = static_cast<size_t>(results == 0 ? 0 : out.end[results - 1]);
  return fwrite(&out.results, sizeof out.results, 1, file) == 1 &&
         fwrite(out.end, sizeof out.end[0], results, file) == results &&
         fwrite(out.data, 1, bytes, file) == bytes;
}

Data data;
Output output;

}  // namespace

int main(int argc, char** argv) {
  FILE* const from = argc == 3 ? fopen(argv[1], "rb") : nullptr;
  FILE* const to = from != nullptr ? fopen(argv[2], "wb") : nullptr;
  uint8_t* const end = page_end();
  if (to == nullptr || end == nullptr) return 1;
  while (fread(&data, sizeof data, 1, from) == 1) {
    const Input input = etch::vocab_check::input_of(data, end);
    output.results = 0;
    ETCH_VOCAB_CHECK(&input, &output);
    if (!write_output(to, output)) return 1;
  }
  return fclose(to) == 0 ? 0 : 1;
}
