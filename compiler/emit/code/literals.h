// Constant data as C++ text, in the forms that compilers read fastest (an int8 list costs 3-4 s
// per MB, a string literal a tenth of that) and people can still check.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "compiler/program/step.h"

namespace etch {

// `bytes` as the lines of one string literal, `"..."` each, without the final newline. Printable
// characters stand for themselves, everything else is octal.
std::string string_literal(std::span<const std::byte> bytes);

// Elements of the array in C++: as many as there are data, except that long byte arrays are string
// literals, which end in a zero: one more, if the last of the data is not zero itself.
std::int64_t declared_elements(const ConstantArray& constant);

// Bytes of flash that the array takes: all its elements and what is left free after it, because
// the next array starts at a multiple of `alignment` again.
std::int64_t flash_bytes(const ConstantArray& constant, std::int64_t alignment);

// "const uint8_t n00_conv_weights[9216]" without extern, initialiser or semicolon.
std::string declaration_of(std::string_view name, const ConstantArray& constant);

// The definition: comment, declaration followed by `attribute`, initialiser.
std::string definition_of(std::string_view name, const ConstantArray& constant,
                          std::int64_t alignment, std::string_view attribute);

// True for arrays that are written as string literals if they are long, and that may go to a
// weights file.
bool is_byte_array(const ConstantArray& constant);

}  // namespace etch
