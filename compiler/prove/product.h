// A product whose sums inputs alone make visible, as its operator defines it, and the proof that
// steps compute it: QLinearMatMul and MatMulInteger of two matrices that arrive at run time, as
// attention has them, and MatMulInteger with constant weights, whose results are the sums.
//
// No bias can bring its sums to where 8 bits show them, but its inputs can: with one element of
// each row of `a` one away from the zero point, a result is one element of `b`. docs/proof.md says
// what that shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/ir/graph.h"
#include "compiler/lower/operand_views.h"
#include "compiler/prove/phases.h"

namespace etch::cli {

// Values are those of the model, not as stored.
struct RunTimeProduct {
  MatMulGeometry geometry;
  DType a_type = DType::kU8, b_type = DType::kU8;
  std::optional<int> a_zero, b_zero;  // nothing: an operand of the step
  std::vector<int> weights;           // b - b_zero where b is constant; empty: it is an operand
  std::shared_ptr<const Tensor> weight_tensor;  // that b; null: it is an operand
  std::vector<float> scale;  // per column, or one; empty: the results are the sums
  DType y_type = DType::kS32;
  int y_zero_point = 0;
  int low = 0, high = 0;  // limits of the result

  bool shows_sums() const { return scale.empty(); }
  // Of an accumulator of column n with the given factor, or with the layer's own where it is 0.
  std::int32_t result(std::int32_t accumulator, std::int64_t n, float factor) const;
};

// Nothing, with the reason in `why`, for other nodes.
std::optional<RunTimeProduct> run_time_product_of(const Graph& graph, const Node& node,
                                                  std::string& why);

// The greatest sums in units of two that results count exactly, 2^12, and integer formulas that
// shift by 32 bits at least, as code may ask for: these have factors below 1/2.
inline constexpr float kIntegerFactor = 0.5F - 0x1p-14F;

// Where code shifts sums alone, which has other factors than powers of two nowhere. Sums in units
// of two have the same results.
inline constexpr float kShiftFactor = 0.5F;

// Of a product with these scales: kIntegerFactor, or kShiftFactor where code may shift sums alone.
float integer_factor(const std::vector<float>& scales);

// The factors that a proof sets where requantization has no floats: odd numbers of 13 bits times
// powers of two, so that no result within 11 bits is in the middle of two; or powers of two. The
// first is integer_factor(), the others show the greatest and the least sums.
std::vector<float> integer_factors_for(const RunTimeProduct& product);

// A step and the product that it has to compute.
struct ProductSubject {
  const RunTimeProduct* product = nullptr;
  const Step* step = nullptr;  // which multiplies
  // What is called, in order: the step, before it what sets its accumulators and halo to a zero
  // point that is known at run time, after it what adds them.
  std::vector<const Step*> steps;
  std::vector<int> indices;  // of these
  const OperandViewLog* views = nullptr;
  std::vector<ConstantWord> factors;       // floats
  std::vector<FactorWords> integer_words;  // instead of them, for integer_factors_for()
  std::vector<ConstantWord> biases;        // where calls change them
  bool without_floats() const { return !integer_words.empty(); }
};

// The parts of the proof: products, extremes, thresholds (where results have 8 bits), random.
// Nothing, with the reason in `why`, where the step's tensors are not those of the product or its
// results show too little.
std::optional<std::vector<PhaseResult>> prove_product(const ProductSubject& subject,
                                                      const ProofRunner& runner, double most_work,
                                                      Reporter& reporter, std::string& why);

}  // namespace etch::cli
