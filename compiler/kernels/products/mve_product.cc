// See mve_product.h.
#include "compiler/kernels/products/mve_product.h"

#include <memory>
#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/helium/describe.h"
#include "compiler/kernels/conv/helium/plan.h"
#include "compiler/lower/arguments.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(MveProductStep);

namespace {

rt::MveColumns columns_of(const PackedProduct& product, const Input& a, const Input& b,
                          const rt::MveTile& tile) {
  const MatMulGeometry& g = product.geometry;
  const bool is_column = b.view.rank() == 1;
  rt::MveColumns out{};
  out.depth = static_cast<std::int32_t>(g.depth);
  out.cols = static_cast<std::int32_t>(g.cols);
  out.block = tile.block;
  out.depth_step = step_of_dimension(b.view, is_column ? 1 : 2);
  out.col_step = is_column ? 0 : step_of_dimension(b.view, 1);
  out.scale_step = 1;
  out.b = b.argument.stored;
  out.a_zero = moved(product.a_zero, a.argument.stored).value();
  out.b_zero = moved(product.b_zero, b.argument.stored).value();
  return out;
}

}  // namespace

bool mve_product_serves(Lowering& lowering, const Node& node, const PackedProduct& product) {
  const IsaTraits& isa = lowering.isa();
  if (isa.assembly != Assembly::kMve || !isa.float_requantization || product.scale.empty() ||
      !product.a_zero || !product.b_zero)
    return false;
  return lowering.align(lowering.rows_in_arena(node, product.inputs.x), 4);
}

bool add_mve_product(Lowering& lowering, const Node& node, const PackedProduct& product,
                     const View& y) {
  const MatMulGeometry& g = product.geometry;
  auto step = std::make_unique<MveProductStep>();
  StepArguments arguments(lowering, node, *step);
  MveProductPlan& plan = step->plan;
  const Input a = arguments.memory(lowering.rows_in_arena(node, product.inputs.x), "a");
  const Input b = arguments.input(product.inputs.w, "b");
  plan.b = b.argument;
  const ConvProblem problem = packed_problem(lowering, product, a.view, b.view, y);
  plan.pairs = matrix_pairs(g.batch, a.view, b.view, y);
  MvePacking packing{moved(product.b_zero, b.argument.stored).value(), {}};
  for (const RowAxis& axis : plan.pairs.axes) packing.x_steps.push_back(axis.step[0]);
  std::optional<PlannedMveConv> planned = plan_mve_conv(problem, lowering.isa(), &packing);
  if (!planned) return false;
  plan.conv = std::move(planned->plan);
  plan.columns = columns_of(product, a, b, plan.conv.tile);
  step->kind = "matmul";
  step->summary = cat("product of two run-time matrices, ", g.rows, " x ", g.depth, " by ", g.depth,
                      " x ", g.cols);
  step->schedule = describe_mve_conv(problem, plan.conv).schedule;
  step->macs = element_count(g.batch) * g.rows * g.depth * g.cols;
  step->accumulators = planned->proof.accumulators;
  step->requantized = planned->proof.requantized;
  step->facts = planned->proof.facts;
  step->assembly = std::move(planned->assembly);
  step->constants.push_back(float_array("scale", product.scale, "per column"));
  const View stream = lowering.scratch(DType::kS32, plan.conv.stream_words);
  plan.conv.stream = arguments.scratch("stream", stream);
  plan.conv.y = arguments.output("y", y);
  arguments.add(std::move(step));
  return true;
}

}  // namespace etch
