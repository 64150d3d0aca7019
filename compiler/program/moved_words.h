// Constants of several bytes per element that a step moves as bytes and never reads as numbers:
// data to copy, to join or to pick from. Steps and generated code see bytes; the width of the
// elements is kept, because a machine of the other byte order has to find them the other way round.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/program/step.h"

namespace etch {

// The elements of `bytes`, little-endian, of the type `type`.
ConstantArray moved_array(std::string suffix, DType type, std::vector<std::byte> bytes,
                          std::string comment);

// Bytes of the elements of an array from moved_array(); 1 for every other array, of which either
// bytes or C++ knows the order.
int moved_word_bytes(const ConstantArray& constant);

// The type of the array's elements in generated code and for kernels.
DType declared_type(const ConstantArray& constant);

// `bytes` with those of every word of `word` bytes the other way round.
std::vector<std::byte> in_other_byte_order(std::span<const std::byte> bytes, int word);

}  // namespace etch
