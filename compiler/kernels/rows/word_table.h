// Functions of 16-bit values as lines with small corrections (runtime/etch_word_table.h), made at
// compile time from all 65,536 results.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/word_table.h"

namespace etch {

ETCH_PLAN_STEP(WordTableStep, WordTablePlan, word_table_kernel, kDivisible);

constexpr std::int64_t kWordValues = 65536;

struct WordTable {
  int bits = 0;
  std::vector<std::int32_t> segments;  // two numbers each
  std::vector<std::uint8_t> added;
  std::vector<std::int32_t> listed;  // one at least

  std::int64_t bytes() const;
};

// The smallest form of `results`, which has one of 16 bits for each value in ascending order.
WordTable word_table(std::span<const std::int32_t> results);

// Output 0 = f(input 0), both of one 16-bit type.
void add_word_table(Lowering& lowering, const Node& node, const WordTable& table,
                    std::string summary);

}  // namespace etch
