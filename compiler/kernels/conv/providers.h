// Which kernel families compute convolutions, best first. A family says which problems it serves on
// a target and builds the step for them; nothing else in the compiler chooses between families or
// knows their names. A new family is one folder and one line in providers.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernels/conv/problem.h"
#include "compiler/program/step.h"

namespace etch {

struct Tuning;  // tuning.h

// Memory of the step's own, an operand between x and y.
struct ScratchWish {
  const char* name;
  DType type = DType::kU8;
  std::int64_t elements = 0;
};

// Whether tensors start at multiples of 4 bytes in the arena.
enum class WordAlignment {
  kNone,         // of no use
  kWished,       // of x and y: faster
  kOfXRequired,  // the step cannot be used otherwise
};

// A step for operands x, the residual if there is one, scratch memory, y.
struct BuiltConvolution {
  std::unique_ptr<Step> step = {};  // null: this family does not serve the problem after all
  std::vector<ScratchWish> scratch = {};
  WordAlignment alignment = WordAlignment::kNone;
  std::string refusal = {};  // not empty: why no family can compute it
};

// Why the problem has too many border cases for portable code; empty if it has not.
std::string fault_of_regions(const ConvProblem& problem);

struct ConvProvider {
  std::string_view name;
  bool (*serves)(const ConvProblem& problem, const IsaTraits& isa);
  BuiltConvolution (*build)(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning);
  bool in_assembly = false;  // takes zero points of x that are constants only
};

// In the order in which they are asked; the last serves every problem.
std::span<const ConvProvider> conv_providers();

}  // namespace etch
