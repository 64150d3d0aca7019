// Lowering of QLinearAdd and QLinearMul; either side may be constant or broadcast. SIMD code where
// scales and zero points are constant, rows of the runtime where they are not.
#include <cmath>
#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/rows/elementwise.h"
#include "compiler/kernels/rows/without_floats.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/nest.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_binary/factors.h"
#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/program/constants.h"
#include "compiler/program/requantize/product_line.h"
#include "compiler/program/requantize/sum_line.h"
#include "compiler/program/rounding_proof.h"

namespace etch {

namespace {

// One side of the sum: its memory with strides for every dimension of the output.
struct Side {
  View view;
  int input = 0;  // of the node
  bool constant = false;
  ScalarQuantization quantization;
};

// Strides of `view` for the dimensions of `shape`, 0 where it is broadcast.
View broadcast(const View& view, const Shape& shape) {
  View out = view;
  const std::size_t missing = shape.size() - view.shape.size();
  out.shape = shape;
  out.stride.assign(shape.size(), 0);
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] != 1) out.stride[missing + d] = view.stride[d];
  }
  out.halo_begin.assign(shape.size(), 0);
  out.halo_end.assign(shape.size(), 0);
  return out;
}

Order order_of(const View& view) {
  const Order row = row_major(view.rank());
  return has_order(view, row) ? row : channels_last(view.rank());
}

Side side_of(Lowering& lowering, const Node& node, int input,
             const ScalarQuantization& quantization, const View& y) {
  Side side;
  side.input = input;
  side.quantization = quantization;
  side.constant = lowering.is_constant(node, input);
  if (side.constant) {
    const Tensor& data = lowering.constant(node, input);
    side.view.dtype = DType::kU8;
    side.view.flipped = data.dtype() == DType::kS8;
    side.view.shape = data.shape();
    lay_out(side.view, row_major(side.view.rank()));
  } else {
    const int rank = lowering.view(node, input).rank();
    side.view = lowering.ordered(node, input, rank == y.rank() ? order_of(y) : row_major(rank));
  }
  side.view = broadcast(side.view, y.shape);
  return side;
}

// Products that may leave int32, and what has scales or zero points that arrive at run time.
void add_rows(Lowering& lowering, const Node& node, const QLinearBinary& params) {
  if (refuse_empty(lowering, node)) return;
  const bool add = params.kind == QLinearBinary::Kind::kAdd;
  auto step = std::make_unique<QLinearRowsStep>();
  step->kind = add ? "add" : "multiply";
  step->summary = cat(add ? "sum" : "product", " of two quantized tensors, ",
                      counted(element_count(params.shape), "element"));
  StepArguments arguments(lowering, node, *step);
  QLinearRowsPlan& plan = step->plan;
  plan.add = add;
  Input a = arguments.input(0, "a");
  plan.a_scale = arguments.parameter(1, "a_scale").argument;
  plan.a_zero = arguments.parameter(2, "a_zero_point").argument;
  Input b = arguments.input(3, "b");
  plan.b_scale = arguments.parameter(4, "b_scale").argument;
  plan.b_zero = arguments.parameter(5, "b_zero_point").argument;
  plan.c_scale = arguments.parameter(6, "c_scale").argument;
  plan.c_zero = arguments.parameter(7, "c_zero_point").argument;
  if (params.swapped) {
    std::swap(a, b);
    std::swap(plan.a_scale, plan.b_scale);
    std::swap(plan.a_zero, plan.b_zero);
  }
  plan.a = a.argument;
  plan.b = b.argument;
  const auto rank = static_cast<int>(params.shape.size());
  const View& like = b.view.rank() == rank ? b.view : a.view;
  const View y =
      lowering.new_output(node, 0, like.rank() == rank ? order_like(like) : row_major(rank));
  plan.y = arguments.output("y", y);
  plan.y_as = stored_as(y);
  plan.range = {params.low, params.high};
  plan.rows = make_rows(params.shape, {a.steps(params.shape), b.steps(params.shape), steps_of(y)});
  arguments.add(std::move(step));
}

std::vector<std::byte> stored_bytes(const Tensor& data) {
  std::vector<std::byte> out(data.bytes().begin(), data.bytes().end());
  if (data.dtype() == DType::kS8) {
    for (std::byte& b : out) b ^= std::byte{128};
  }
  return out;
}

}  // namespace

SumFactors sum_factors(const Summand& a, const Summand& b, const Summand& y) {
  const ScalarQuantization &qa = a.quantization, &qb = b.quantization, &qy = y.quantization;
  SumFactors factors;
  factors.ratio_a = qa.scale / qy.scale;
  factors.ratio_b = qb.scale / qy.scale;
  const float product_b = factors.ratio_b * static_cast<float>(qb.zero_point);
  factors.fixed = static_cast<float>(qy.zero_point) -
                  std::fma(factors.ratio_a, static_cast<float>(qa.zero_point), product_b);
  factors.a_stored = a.stored;
  factors.b_stored = b.stored;
  factors.y_stored = y.stored;
  factors.clamp = may_leave_int32(factors);
  return factors;
}

namespace {

ProductFactors product_factors(const Summand& a, const Summand& b, const Summand& y) {
  const ScalarQuantization &qa = a.quantization, &qb = b.quantization, &qy = y.quantization;
  ProductFactors factors;
  factors.scale = qa.scale * qb.scale / qy.scale;
  factors.a_zero = qa.zero_point + a.stored;
  factors.b_zero = qb.zero_point + b.stored;
  factors.y_zero = static_cast<float>(qy.zero_point);
  factors.y_stored = y.stored;
  return factors;
}

int word(std::uint64_t bits) { return static_cast<int>(static_cast<std::uint32_t>(bits)); }

// Two products of integers are faster than fused steps one by one, and far faster than floats in
// software.
void find_line(AddStep& step) {
  const std::optional<SumLine> line =
      find_sum_line(step.plan.factors, {step.plan.low, step.plan.high});
  if (!line) return;
  const auto offset = static_cast<std::uint64_t>(line->offset);
  step.plan.line = SumLineArguments{line->form,   word(line->a_factor), word(line->b_factor),
                                    word(offset), word(offset >> 32),   line->bits};
  step.facts.emplace_back("the sum is a line in integers, equal for all pairs of bytes");
}

// Whether both sides are as long as the runs of y, without gaps.
bool are_rows(const Side& a, const Side& b, const View& y) {
  const View* const views[] = {&a.view, &b.view, &y};
  const Nest nest = make_nest(views, Repeats::kAllowed);
  return nest.out_step == 1 && !nest.repeats[0] && !nest.repeats[1];
}

// Completes a step that has its factors.
template <class BinaryStep>
void add_vectors(Lowering& lowering, const Node& node, std::unique_ptr<BinaryStep> step,
                 const Side& a, const Side& b, const View& y, Repeats repeats) {
  auto& plan = step->plan;
  plan.a_is_constant = a.constant;
  plan.b_is_constant = b.constant;
  const View* const views[] = {&a.view, &b.view, &y};
  plan.nest = make_nest(views, repeats);
  std::vector<std::pair<const char*, const View*>> operands;
  for (const auto& [side, name, operand] : {std::tuple(&a, "a", 0), std::tuple(&b, "b", 1)}) {
    if (side->constant) {
      step->constants.push_back(byte_array(name, stored_bytes(lowering.constant(node, side->input)),
                                           "constant operand, as stored"));
      continue;
    }
    step->overlaps.push_back(
        nest_overlap(plan.nest, operand, side->view, y, static_cast<int>(operands.size()), -1));
    operands.emplace_back(name, &side->view);
  }
  for (Overlap& overlap : step->overlaps) overlap.output = static_cast<int>(operands.size());
  operands.emplace_back("y", &y);
  step->summary = cat(step->kind == "add" ? "sum" : "product", " of two quantized tensors, ",
                      counted(element_count(y.shape), "element"));
  lowering.add(node, std::move(step), operands);
}

// A step of floats, or where there are no vectors of integers.
void add_product(Lowering& lowering, const Node& node, const MultiplyPlan& plan, const Side& a,
                 const Side& b, const View& y) {
  const bool has_vectors = lowering.isa().lanes > 1;
  const View* const views[] = {&a.view, &b.view, &y};
  const bool has_runs = make_nest(views, Repeats::kAllowed).out_step == 1;
  const auto line = has_vectors || !has_runs
                        ? std::nullopt
                        : find_product_line(plan.factors, {plan.low, plan.high});
  if (!line) {
    auto step = std::make_unique<MultiplyStep>();
    step->kind = "multiply";
    step->plan = plan;
    add_vectors(lowering, node, std::move(step), a, b, y,
                has_vectors ? Repeats::kAllowed : Repeats::kNo);
    return;
  }
  auto step = std::make_unique<MultiplyLineStep>();
  step->kind = "multiply";
  const auto offset = static_cast<std::uint64_t>(line->offset);
  step->plan = {plan, {line->form, line->factor, word(offset), word(offset >> 32), line->bits}};
  step->facts.emplace_back("the product is a line in integers, equal for all pairs of bytes");
  add_vectors(lowering, node, std::move(step), a, b, y, Repeats::kAllowed);
}

}  // namespace

void lower_qlinear_binary(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QLinearBinary>(node);
  const bool multiplies = params.kind == QLinearBinary::Kind::kMul;
  if (params.at_run_time || (multiplies && product_may_leave_int32(params))) {
    add_rows(lowering, node, params);
    return;
  }
  constexpr int kA = 0, kB = 3;
  const int leader = lowering.is_constant(node, kA) ? kB : kA;
  const bool same_rank =
      !lowering.is_constant(node, leader) &&
      lowering.view(node, leader).rank() == static_cast<int>(params.shape.size());
  const View y = lowering.new_output(node, 0,
                                     same_rank ? order_of(lowering.view(node, leader))
                                               : row_major(static_cast<int>(params.shape.size())));
  Side a = side_of(lowering, node, kA, params.a, y);
  Side b = side_of(lowering, node, kB, params.b, y);
  if (params.swapped) std::swap(a, b);
  const Summand qa{a.quantization, lowering.stored_offset(a.view)};
  const Summand qb{b.quantization, lowering.stored_offset(b.view)};
  const Summand qy{params.c, lowering.stored_offset(y)};
  const int low = params.low + qy.stored, high = params.high + qy.stored;
  if (multiplies) {
    MultiplyPlan plan;
    plan.factors = product_factors(qa, qb, qy);
    plan.low = low;
    plan.high = high;
    add_product(lowering, node, plan, a, b, y);
  } else {
    auto step = std::make_unique<AddStep>();
    step->kind = "add";
    step->plan.factors = sum_factors(qa, qb, qy);
    step->plan.low = low;
    step->plan.high = high;
    if (step->plan.factors.clamp) step->facts.emplace_back(kClampedFact);
    const bool has_vectors = lowering.isa().lanes > 1;
    const bool has_rows = lowering.isa().sum_lines && are_rows(a, b, y);
    if (!has_vectors || has_rows) find_line(*step);
    // Lines take whole rows of both sides.
    const Repeats repeats = has_vectors && !step->plan.line ? Repeats::kAllowed : Repeats::kNo;
    add_vectors(lowering, node, std::move(step), a, b, y, repeats);
  }
}

}  // namespace etch
