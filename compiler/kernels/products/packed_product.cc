// Plans of packed products; see packed_product.h.
#include "compiler/kernels/products/packed_product.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/operands.h"
#include "compiler/kernels/conv/portable/conv.h"
#include "compiler/kernels/conv/portable/pack.h"
#include "compiler/kernels/conv/portable/plan.h"
#include "compiler/kernels/conv/tiles.h"
#include "compiler/kernels/conv/tuning.h"
#include "compiler/kernels/products/mve_product.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(PackedProductStep);

std::vector<std::int64_t> batch_steps(const View& view, const Shape& batch) {
  std::vector<std::int64_t> out(batch.size(), 0);
  if (view.rank() < 3) return out;
  const std::vector<std::int64_t> own = steps_of(view);
  const std::size_t leading = own.size() - 2;
  for (std::size_t d = 0; d < leading; ++d) {
    if (view.shape[d] != 1) out[batch.size() - leading + d] = own[d];
  }
  return out;
}

std::optional<int> common_zero_point(const std::vector<int>& zero_point) {
  const bool same = std::all_of(zero_point.begin(), zero_point.end(),
                                [&](int each) { return each == zero_point.front(); });
  if (zero_point.empty() || !same) return std::nullopt;
  return zero_point.front();
}

bool is_per_tensor(const Lowering& lowering, const Node& node, int i) {
  const auto at = static_cast<std::size_t>(i);
  if (i < 0 || at >= node.inputs.size() || node.inputs[at] == kNoValue) return true;
  return element_count(*lowering.value(node.inputs[at]).shape) == 1;
}

std::optional<int> moved(std::optional<int> zero, const rt::Stored& stored) {
  if (!zero) return std::nullopt;
  return *zero + stored.offset;
}

std::int64_t step_of_dimension(const View& view, int from_the_end) {
  return view.rank() < from_the_end
             ? 0
             : steps_of(view)[static_cast<std::size_t>(view.rank() - from_the_end)];
}

MatrixPairs matrix_pairs(const Shape& batch, const View& a, const View& b, const View& y) {
  MatrixPairs out;
  const std::vector<std::int64_t> a_steps = batch_steps(a, batch);
  const std::vector<std::int64_t> b_steps = batch_steps(b, batch);
  const std::vector<std::int64_t> y_steps = steps_of(y);
  for (std::size_t d = 0; d < batch.size(); ++d) {
    if (batch[d] == 1) continue;
    out.axes.push_back({static_cast<int>(batch[d]), {a_steps[d], b_steps[d], y_steps[d], 0}});
  }
  const auto others = std::stable_partition(out.axes.begin(), out.axes.end(),
                                            [](const RowAxis& axis) { return axis.step[1] != 0; });
  out.b_axes = static_cast<std::size_t>(others - out.axes.begin());
  return out;
}

namespace {

constexpr int kByteCentre = 128;  // b minus this is an int8

// Row m and element c of one matrix as pixel m and channel c of an image.
View as_pixels(const View& view, std::int64_t rows, std::int64_t row_step, std::int64_t channels) {
  View out = view;
  const std::int64_t bytes = bytes_of(view.dtype);
  out.shape = {1, channels, rows};
  out.stride = {rows * row_step * bytes, bytes, row_step * bytes};
  out.halo_begin = out.halo_end = {0, 0, 0};
  return out;
}

// Of x - z for stored bytes x.
AccumulatorRange difference(std::optional<int> stored_zero) {
  if (!stored_zero) return {-255, 255};
  return {-*stored_zero, 255 - *stored_zero};
}

AccumulatorRange range_of_sum(const AccumulatorRange& a, const AccumulatorRange& b,
                              std::int64_t depth) {
  const auto [low, high] =
      std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {depth * low, depth * high};
}

void set_columns(PackedProductPlan& plan, const MatMulGeometry& g, const IsaTraits& isa,
                 const Input& a, const Input& b) {
  rt::PackedColumns& columns = plan.columns;
  const bool is_column = b.view.rank() == 1;
  columns.depth = static_cast<std::int32_t>(g.depth);
  columns.lanes = isa.lanes;
  columns.in_order = plan.conv.out.kind == Requantize::Kind::kInt32;
  if (isa.weight_form == WeightForm::kS16EvenOdd) columns.form = rt::PackedForm::kWords;
  if (plan.conv.blocks.front().form == BlockForm::kSquares) columns.form = rt::PackedForm::kSquares;
  columns.depth_step = step_of_dimension(b.view, is_column ? 1 : 2);
  columns.col_step = is_column ? 0 : step_of_dimension(b.view, 1);
  columns.a = a.argument.stored;
  columns.a.offset -= moved_by(plan.conv, isa);
  columns.a_zero = plan.a_zero.stored;
  columns.b = b.argument.stored;
  columns.b_zero = plan.b_zero.stored;
}

// What a dot product of the instruction set adds up at once.
ProductSums product_sums(const IsaTraits& isa) {
  if (isa.weight_form == WeightForm::kS16EvenOdd) return {2, -2 * 255 * 255, 2 * 255 * 255};
  return {4, -4 * 128 * 255, 4 * 127 * 255};
}

// The step's operands besides the inputs, which are those of `arguments` so far.
ConvOperands operands_after(int inputs, bool row_terms) {
  ConvOperands out;
  out.weights = inputs;
  out.start = inputs + 1;
  if (row_terms) out.row_terms = inputs + 2;
  out.y = inputs + (row_terms ? 3 : 2);
  return out;
}

void add_scratch(Lowering& lowering, StepArguments& arguments, const PackedProductPlan& plan) {
  const ConvPlan& conv = plan.conv;
  const IsaTraits& isa = lowering.isa();
  std::int64_t bytes = 0;
  for (const ChannelBlock& block : conv.blocks)
    bytes += block.repeat * conv.regions.front().panel_bytes(block, isa.weight_bytes());
  const View packed = lowering.scratch(DType::kU8, bytes);
  lowering.align(packed, isa.weight_bytes());
  arguments.scratch("packed", packed);
  arguments.scratch("start", lowering.scratch(DType::kS32, conv.lanes_per_group));
  if (!plan.row_terms) return;
  arguments.scratch("terms", lowering.scratch(DType::kS32, std::int64_t{plan.row_terms->rows} *
                                                               plan.row_terms->lanes));
}

}  // namespace

ConvProblem packed_problem(const Lowering& lowering, const PackedProduct& product, const View& a,
                           const View& b, const View& y) {
  const MatMulGeometry& g = product.geometry;
  const bool is_row = a.rank() == 1;
  const bool is_column = b.rank() == 1;
  ConvProblem problem = matrix_problem(a, y, g.rows, g.depth, g.cols);
  problem.x = as_pixels(a, g.rows, is_row ? 0 : step_of_dimension(a, 2), g.depth);
  problem.y = as_pixels(y, g.rows, is_row ? 0 : step_of_dimension(y, is_column ? 1 : 2), g.cols);
  problem.scale = product.scale;
  problem.out = product.out;
  const int y_offset = lowering.stored_offset(y);
  problem.out.zero_point += y_offset;
  problem.out.low += y_offset;
  problem.out.high += y_offset;
  RunTimeWeights& run_time = problem.run_time.emplace();
  run_time.range = range_of_sum(difference(moved(product.a_zero, stored_as(a))),
                                difference(moved(product.b_zero, stored_as(b))), g.depth);
  return problem;
}

void add_packed_product(Lowering& lowering, const Node& node, const PackedProduct& product) {
  const MatMulGeometry& g = product.geometry;
  const auto new_output = [&] {
    return lowering.new_output(node, 0, row_major(static_cast<int>(g.output.size())));
  };
  std::optional<View> placed;
  if (mve_product_serves(lowering, node, product)) {
    placed = new_output();
    if (add_mve_product(lowering, node, product, *placed)) return;
  }
  const IsaTraits& isa = lowering.isa();
  auto step = std::make_unique<PackedProductStep>();
  StepArguments arguments(lowering, node, *step);
  PackedProductPlan& plan = step->plan;
  const Input a = arguments.memory(lowering.rows_in_arena(node, product.inputs.x), "a");
  const Input b = arguments.input(product.inputs.w, "b");
  plan.a_zero = arguments.parameter(product.inputs.x_zero_point, "a_zero_point").argument;
  plan.b = b.argument;
  plan.b_zero = arguments.parameter(product.inputs.w_zero_point, "b_zero_point").argument;
  const std::optional<int> b_zero = moved(product.b_zero, b.argument.stored);
  const bool row_terms = isa.weight_form == WeightForm::kS8x4 && b_zero != kByteCentre;

  const View y = placed ? *placed : new_output();
  ConvProblem problem = packed_problem(lowering, product, a.view, b.view, y);
  problem.run_time->operands = operands_after(arguments.operands(), row_terms);
  Tuning tuning;
  tuning.for_all_sizes = lowering.tuning().for_all_sizes;
  PlannedConv planned = plan_conv(problem, isa, tuning);
  plan.conv = planned.plan;
  ETCH_CHECK(plan.conv.regions.size() == 1 && plan.conv.axes.empty());
  ETCH_CHECK(plan.conv.regions.front().rows == 1 && plan.conv.regions.front().planes == 1);

  set_columns(plan, g, isa, a, b);
  plan.pairs = matrix_pairs(g.batch, a.view, b.view, y);
  if (row_terms) {
    plan.row_terms = {static_cast<std::int32_t>(g.rows),
                      static_cast<std::int32_t>(g.depth),
                      isa.lanes,
                      a.view.rank() == 1 ? 0 : step_of_dimension(a.view, 2),
                      a.argument.stored,
                      plan.a_zero.stored,
                      b.argument.stored,
                      plan.b_zero.stored};
  }
  step->kind = "matmul";
  step->summary = cat("product of two run-time matrices, ", g.rows, " x ", g.depth, " by ", g.depth,
                      " x ", g.cols);
  step->schedule = describe_tiles(plan.conv);
  step->macs = element_count(g.batch) * g.rows * g.depth * g.cols;
  step->products = product_sums(isa);
  step->accumulators = planned.proof.accumulators;
  step->requantized = planned.proof.requantized;
  step->facts = planned.proof.facts;
  if (plan.conv.out.kind != Requantize::Kind::kInt32)
    step->constants.push_back(pack_factors(problem, isa, planned));
  add_scratch(lowering, arguments, plan);
  ETCH_CHECK(arguments.output("y", y) == plan.conv.operands.y);
  arguments.add(std::move(step));
}

}  // namespace etch
