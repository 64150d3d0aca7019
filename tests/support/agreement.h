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

// Every case on the plans of instruction sets: of 24 cases and more each takes a third of them, in
// turns; all on all if ETCH_SWEEP is set. Gives up after ten differences.
void expect_native_agrees(const std::vector<Case>& cases,
                          RequantizeMode requantize = RequantizeMode::kFloat);

// All cases compiled together for one target, on this CPU without a warning. Skips where its code
// cannot run.
void expect_compiled_agrees(const std::vector<Case>& cases, std::string_view target);

// The same, but what is `expected` of each case.
void expect_compiled_gives(const std::vector<Case>& cases,
                           const std::vector<std::vector<Tensor>>& expected,
                           std::string_view target);

// The code of all cases for one target compiles without warnings under clang++, needs nothing but
// memcpy and memset, and has no variables that can change. The same of g++, whose word on code that
// runs here is also in every comparison of these cases (BatchOptions::clean), where it does not run
// and if ETCH_SWEEP is set.
void expect_clean_code(const std::vector<Case>& cases, std::string_view target,
                       const std::vector<std::string>& more_flags = {});
void expect_clean_code(std::span<const BatchEntry> entries, const IsaTraits& isa,
                       const std::vector<std::string>& more_flags = {});

// One of two halves, 0 or 1; all of them if ETCH_SWEEP is set: compiling takes most of the time of
// all tests. Each half has all kinds of cases that alternate.
std::vector<Case> half_of(std::vector<Case> cases, std::size_t half);

// All cases on avx512_vnni, whose vectors, masks and products have most to go wrong, and in
// emulators; a third on scalar, whose code emulators of other machines run too, a third on avx2,
// and the last on sse41 and avx_vnni, which have avx2's kernels except a few verbs. Of those that
// take compilers long, avx512_vnni has one half and the others have the other. So each case is
// compiled for one or two of the targets that run here, and the Native stage has them all. All on
// all if ETCH_SWEEP is set.
std::vector<Case> thinned(std::vector<Case> cases, const IsaTraits& isa);
std::vector<Case> thinned(std::vector<Case> cases, std::string_view target);

// The same networks with --float-products fused, under other names.
std::vector<Case> fused(std::vector<Case> cases);

// Appends.
void add_cases(std::vector<Case>& to, std::vector<Case> more);

}  // namespace etch
