// The comparison that every list of cases goes through: what the reference functions give, the
// steps must give under the Native stage on every instruction set, and the compiled code too.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tests/support/cases.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"

namespace etch {

// Every case on every instruction set's plan; gives up after ten differences.
void expect_native_agrees(const std::vector<Case>& cases,
                          RequantizeMode requantize = RequantizeMode::kFloat);

// All cases compiled together for one target. Skips where its code cannot run.
void expect_compiled_agrees(const std::vector<Case>& cases, std::string_view target);

// The same, but what is `expected` of each case.
void expect_compiled_gives(const std::vector<Case>& cases,
                           const std::vector<std::vector<Tensor>>& expected,
                           std::string_view target);

// The code of all cases for one target compiles without warnings under both compilers, needs
// nothing but memcpy and memset, and has no variables that can change.
void expect_clean_code(const std::vector<Case>& cases, std::string_view target);
void expect_clean_code(std::span<const BatchEntry> entries, const IsaTraits& isa);

// One of two halves, 0 or 1; all of them if ETCH_SWEEP is set: compiling takes most of the time of
// all tests. Not every second: cases often alternate between kinds, and each half has all kinds.
std::vector<Case> half_of(std::vector<Case> cases, std::size_t half);

// All cases; half of them where the target has the kernels of another one except a few verbs
// (sse41, avx_vnni), and on scalar, whose code emulators of other machines run too.
std::vector<Case> thinned(std::vector<Case> cases, const IsaTraits& isa);

// Appends.
void add_cases(std::vector<Case>& to, std::vector<Case> more);

}  // namespace etch
