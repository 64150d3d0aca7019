// Building of sums and pooling of 16-bit values; see word_sums.h.
#include "compiler/kernels/rows/word_sums.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/products/general.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(WordSumStep);
ETCH_INSTANTIATE_STEP(WordMulStep);
ETCH_INSTANTIATE_STEP(WordPoolStep);

namespace {

WordResult result_of(const rt::WordLimits& y) { return {y.zero, y.low, y.high}; }

// Shifts are 14 more than the bits of the factors (runtime/etch_word_sums.h).
WordSumCertificate certificate_of(const WordSumPlan& plan) {
  WordSumCertificate out{{}, plan.sum.unit, plan.sum.shift - 14, result_of(plan.sum.y)};
  out.terms.push_back({plan.sum.a.zero, plan.sum.a.part, plan.sum.a.factor});
  if (plan.two) out.terms.push_back({plan.sum.b.zero, plan.sum.b.part, plan.sum.b.factor});
  return out;
}

ArithmeticCertificate certificate_of(const PoolGeometry& geometry, const WordPoolPlan& plan,
                                     const std::vector<std::int32_t>& factors) {
  WindowCertificate windows{.geometry = geometry};
  windows.averages = plan.averages;
  windows.counts_padding = plan.shape.count_padding != 0;
  if (!plan.averages) return windows;
  const rt::WordMean& mean = plan.mean;
  return WordMeanCertificate{std::move(windows), mean.x_zero, mean.part, mean.unit,
                             mean.shift,         mean.least,  factors,   result_of(mean.y)};
}

// The order in memory of an operand that is not constant and has all axes of the result.
Order order_of_result(const Input& first, const Input& second, const Shape& shape) {
  const auto rank = static_cast<int>(shape.size());
  const View& like =
      first.argument.operand >= 0 && first.view.rank() == rank ? first.view : second.view;
  return like.rank() == rank ? order_like(like) : row_major(rank);
}

}  // namespace

void add_word_sum(Lowering& lowering, const Node& node, int a, int b, WordSumPlan plan) {
  if (refuse_empty(lowering, node)) return;
  const Shape& shape = *lowering.value(node.outputs[0]).shape;
  auto step = std::make_unique<WordSumStep>();
  plan.two = b >= 0;
  step->kind = plan.two ? "add" : "rescale";
  step->summary = cat(plan.two ? "sum of two tensors" : "other scale", " of 16 bits, ",
                      counted(element_count(shape), "element"));
  step->facts.emplace_back("equal to the real numbers that the operators mean");
  StepArguments arguments(lowering, node, *step);
  const Input first = arguments.input(a, "a");
  const Input second = plan.two ? arguments.input(b, "b") : first;
  const View y = lowering.new_output(node, 0, order_of_result(first, second, shape));
  plan.is_unsigned = y.dtype == DType::kU16;
  plan.a = first.argument;
  plan.b = second.argument;
  plan.y = arguments.output("y", y);
  plan.rows = plan.two ? make_rows(shape, {first.steps(shape), second.steps(shape), steps_of(y)})
                       : make_rows(shape, {first.steps(shape), steps_of(y)});
  WordSumCertificate certificate = certificate_of(plan);
  step->plan = std::move(plan);
  const Step& made = *step;
  arguments.add(std::move(step));
  certify(made, [&] { return certificate; });
}

void add_word_mul(Lowering& lowering, const Node& node, int a, int b, WordMulPlan plan) {
  if (refuse_empty(lowering, node)) return;
  const Shape& shape = *lowering.value(node.outputs[0]).shape;
  auto step = std::make_unique<WordMulStep>();
  step->kind = "multiply";
  step->summary =
      cat("product of two tensors of 16 bits, ", counted(element_count(shape), "element"));
  step->facts.emplace_back("equal to the real numbers that the operators mean");
  StepArguments arguments(lowering, node, *step);
  const Input first = arguments.input(a, "a"), second = arguments.input(b, "b");
  const View y = lowering.new_output(node, 0, order_of_result(first, second, shape));
  plan.is_unsigned = y.dtype == DType::kU16;
  plan.a = first.argument;
  plan.b = second.argument;
  plan.y = arguments.output("y", y);
  plan.rows = make_rows(shape, {first.steps(shape), second.steps(shape), steps_of(y)});
  const WordPairCertificate certificate = pair_certificate(plan.factors, 1, y.dtype);
  step->plan = std::move(plan);
  const Step& made = *step;
  arguments.add(std::move(step));
  certify(made, [&] { return certificate; });
}

WordPairCertificate pair_certificate(const rt::WordProduct& factors, std::int64_t depth,
                                     DType type) {
  const std::int64_t a_low = min_of(type) - factors.a_zero, a_high = max_of(type) - factors.a_zero;
  const std::int64_t b_low = min_of(type) - factors.b_zero, b_high = max_of(type) - factors.b_zero;
  const auto [least, most] =
      std::minmax({a_low * b_low, a_low * b_high, a_high * b_low, a_high * b_high});
  return {factors.a_zero,     factors.b_zero,      depth,
          depth * least,      depth * most,        (std::int64_t{factors.high} << 31) + factors.low,
          factors.shift + 31, result_of(factors.y)};
}

namespace {

void set_shape(rt::PoolShape& shape, const PoolGeometry& geometry, const View& x, const View& y) {
  const View from = channels_first(x, geometry.layout);
  const View to = channels_first(y, geometry.layout);
  shape.batch = static_cast<std::int32_t>(geometry.batch);
  shape.channels = static_cast<std::int32_t>(geometry.channels);
  shape.x_image = steps_of(from)[0];
  shape.x_channel = steps_of(from)[1];
  shape.y_image = steps_of(to)[0];
  shape.y_channel = steps_of(to)[1];
  set_runtime_axes(shape.axis, geometry.axes, from, to);
  for (std::size_t a = 0; a < geometry.axes.size(); ++a) {
    shape.pad_end[3 - geometry.axes.size() + a] =
        static_cast<std::int32_t>(geometry.axes[a].pad_end);
  }
}

// A dense tensor with the shape that the geometry has for its input, or for its output.
View as_planes(View view, const PoolGeometry& g, std::int64_t positions) {
  const std::int64_t size = bytes_of(view.dtype);
  const bool last = g.layout == ConvLayout::kChannelsLast;
  view.shape = last ? Shape{g.batch, positions, g.channels} : Shape{g.batch, g.channels, positions};
  view.stride = {view.shape[1] * view.shape[2] * size, view.shape[2] * size, size};
  view.halo_begin.assign(3, 0);
  view.halo_end.assign(3, 0);
  return view;
}

}  // namespace

void add_word_pool(Lowering& lowering, const Node& node, const PoolGeometry& geometry,
                   WordPoolPlan plan, const std::vector<std::int32_t>& factors) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<WordPoolStep>();
  step->kind = plan.averages ? "avgpool" : "maxpool";
  step->summary =
      cat(plan.averages ? "mean" : "maximum", " over ", plan.of_axes ? "axes" : "windows",
          " of 16 bits, ", counted(geometry.channels, "channel"));
  StepArguments arguments(lowering, node, *step);
  const Input x = plan.of_axes ? arguments.parameter(0, "x") : arguments.input(0, "x");
  plan.x = x.argument;
  plan.is_unsigned = x.view.dtype == DType::kU16;
  if (plan.averages) {
    const Tensor list =
        Tensor::of<std::int32_t>({static_cast<std::int64_t>(factors.size())}, factors);
    plan.factors = arguments.data(list, "factors", "by the number of elements").argument;
  }
  const int y_rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  const View y = plan.of_axes ? lowering.new_dense_output(node, 0, row_major(y_rank))
                              : lowering.new_output(node, 0, order_like(x.view));
  if (plan.of_axes) {
    set_shape(plan.shape, geometry, as_planes(x.view, geometry, geometry.axes[0].in),
              as_planes(y, geometry, 1));
  } else {
    set_shape(plan.shape, geometry, x.view, y);
  }
  plan.y = arguments.output("y", y);
  ArithmeticCertificate certificate = certificate_of(geometry, plan, factors);
  step->plan = std::move(plan);
  const Step& made = *step;
  arguments.add(std::move(step));
  certify(made, [&] { return certificate; });
}

}  // namespace etch
