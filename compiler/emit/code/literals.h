// Constant data as C++ text, in the forms that compilers read fastest (an int8 list costs 3-4 s
// per MB, a string literal a tenth of that) and people can still check.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "compiler/program/step.h"

namespace etch {

// `bytes` as the lines of one string literal, `"..."` each, without the final newline. Printable
// characters stand for themselves, everything else is octal.
std::string string_literal(std::span<const std::byte> bytes);

// "const uint8_t n00_conv_weights[9217]" without extern, initialiser or semicolon. Byte arrays
// have one element more than data: a string literal ends in a zero.
std::string declaration_of(const Step& step, const ConstantArray& constant);

// The definition: comment, declaration followed by `attribute`, initialiser.
std::string definition_of(const Step& step, const ConstantArray& constant,
                          std::string_view attribute);

// True for arrays that are written as string literals, and that may go to a weights file.
bool is_byte_array(const ConstantArray& constant);

}  // namespace etch
