// Functions of 16-bit values as polynomials in pieces (word_cubics.h) with an index that finds the
// piece of a value in the same time for all of them (runtime/etch_word_table.h), made at compile
// time from all 65,536 results.
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

constexpr std::int32_t kWordValues = 65536;

struct WordTable {
  int bits = 0, steps = 0, even = 0;
  std::vector<std::uint16_t> index;
  std::vector<std::int32_t> cubics;  // four numbers each

  std::int64_t bytes() const;
};

// The smallest form that is found of `results`, which has one of 16 bits for each value in
// ascending order, from `least` on: -32768 or 0.
WordTable word_table(std::span<const std::int32_t> results, std::int32_t least);

// Output 0 = f(input 0), both of one 16-bit type.
void add_word_table(Lowering& lowering, const Node& node, const WordTable& table,
                    std::string summary);

}  // namespace etch
