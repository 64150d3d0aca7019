// The first stage of a convolution for Helium: where pixels and their taps are, the tile, whether
// its operands are gathered, and the functions in assembly.
#pragma once

#include <optional>
#include <vector>

#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/proof.h"
#include "templates/kernels/conv/mve_conv.h"

namespace etch {

inline constexpr int kMveVector = 16;  // bytes

struct PlannedMveConv {
  MveConvPlan plan;
  RangeProof proof;
  std::vector<Piece> pieces;  // that a pixel reads
  std::vector<AssemblyFunction> assembly;
};

// Of weights that the step packs itself, from bytes of an operand.
struct MvePacking {
  int offset = 0;                     // of weights as stored, 0 to 255
  std::vector<std::int64_t> x_steps;  // of loops around the convolution
};

// Nothing where there is padding that no halo holds, requantization with integers, or too long a
// function.
std::optional<PlannedMveConv> plan_mve_conv(const ConvProblem& problem, const IsaTraits& isa,
                                            const MvePacking* packing = nullptr);

// What makes all weights 0 to 255; nothing if their range is larger.
std::optional<int> mve_weight_offset(const ConvProblem& problem);

}  // namespace etch
