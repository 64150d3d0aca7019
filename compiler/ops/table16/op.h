// Table16 (org.etch; made by compiler/passes/fuse_word_table): y = table[x] for each 16-bit
// element.
//   inputs     X uint16 or int16; table, a constant [65536] of the same type, whose entry i is for
//              the i-th value from the least on; Y has their type and X's shape
//   attribute  of: what the table stands for, "Sigmoid", for reports
// Generated code does not have the table itself (compiler/kernels/rows/word_table.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace etch {

constexpr std::int64_t kTable16Entries = 65536;

// Bytes of constants that generated code has for these entries.
std::int64_t table16_bytes(std::span<const std::int32_t> entries);

struct Table16 {
  std::string of;
};

}  // namespace etch
