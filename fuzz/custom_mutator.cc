// Hands our mutator to libFuzzer, in the programs that link this file.
#include <cstddef>
#include <cstdint>

#include "fuzz/mutator.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return etch::fuzz::mutate(data, size, max_size, seed);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1,
                                                 const std::uint8_t* data2, std::size_t size2,
                                                 std::uint8_t* out, std::size_t max_size,
                                                 unsigned seed) {
  return etch::fuzz::cross_over({data1, size1}, {data2, size2}, {out, max_size}, seed);
}
