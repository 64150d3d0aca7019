// Building of expressions; see expression.h.
#include "compiler/kernels/rows/expression.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/lower/memory_order.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(ExpressionStep);
ETCH_INSTANTIATE_STEP(DynamicRangeStep);

namespace {
using Kind = ExpressionValue::Kind;
using When = ExpressionValue::When;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Order order_of_first_whole_input(Lowering& lowering, const Node& node, const Shape& shape) {
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (node.inputs[at(i)] == kNoValue || lowering.is_constant(node, i)) continue;
    const View& view = lowering.view(node, i);
    if (view.shape == shape) return memory_order(view);
  }
  return row_major(static_cast<int>(shape.size()));
}

// `shape` with ones before it, as broadcasting sees it.
Shape padded(const Shape& shape, std::size_t rank) {
  Shape out(rank - shape.size(), 1);
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

// The bytes of a row-major tensor in another order; int8 as stored uint8.
std::vector<std::byte> reordered(const Tensor& tensor, const View& to) {
  const auto size = at(bytes_of(tensor.dtype()));
  const std::byte flip{tensor.dtype() == DType::kS8 ? std::uint8_t{128} : std::uint8_t{0}};
  std::vector<std::byte> out(tensor.bytes().size());
  std::vector<std::int64_t> index(to.shape.size(), 0);
  for (std::size_t from = 0; from < out.size(); from += size) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < index.size(); ++d) place += index[d] * to.stride[d];
    for (std::size_t b = 0; b < size; ++b)
      out[static_cast<std::size_t>(place) + b] = tensor.bytes()[from + b] ^ flip;
    for (std::size_t d = index.size(); d > 0 && ++index[d - 1] == to.shape[d - 1]; --d)
      index[d - 1] = 0;
  }
  return out;
}

Tensor stored_tensor(const Tensor& tensor, const View& to) {
  const DType type = tensor.dtype() == DType::kS8 ? DType::kU8 : tensor.dtype();
  Tensor out(type, tensor.shape());
  std::ranges::copy(reordered(tensor, to), out.mutable_bytes().begin());
  return out;
}

bool repeats(const std::vector<std::int64_t>& steps) {
  return std::ranges::all_of(steps, [](std::int64_t step) { return step == 0; });
}
}  // namespace

ExpressionBuilder::ExpressionBuilder(Lowering& lowering, const Node& node)
    : lowering_(lowering),
      node_(node),
      shape_(*lowering.value(node.outputs[0]).shape),
      y_(lowering.new_output(node, 0, order_of_first_whole_input(lowering, node, shape_))),
      order_(memory_order(y_)),
      step_(std::make_unique<ExpressionStep>()),
      arguments_(lowering, node, *step_) {}

int ExpressionBuilder::add(ExpressionValue value) {
  std::vector<ExpressionValue>& values = step_->plan.values;
  values.push_back(value);
  return static_cast<int>(values.size()) - 1;
}

const char* ExpressionBuilder::new_name() {
  names_.push_back(cat("x", names_.size()));
  return names_.back().c_str();
}

int ExpressionBuilder::add_input(const Input& input, std::vector<std::int64_t> steps, DType type) {
  ExpressionValue value;
  value.kind = type == DType::kF32   ? Kind::kRealInput
               : type == DType::kS32 ? Kind::kIntegerInput
                                     : Kind::kByteInput;
  value.input = static_cast<int>(step_->plan.inputs.size());
  step_->plan.inputs.push_back({input.argument, 0});
  sources_.push_back({std::move(steps), type, input.view.offset, input.view.buffer});
  return add(value);
}

// A constant that broadcasts as `shape`: a literal, or an array in the order of the output.
int ExpressionBuilder::constant(const Tensor& tensor, const Shape& shape) {
  if (tensor.size() == 1 && tensor.dtype() == DType::kF32 && std::isfinite(tensor.real(0)))
    return real(tensor.real(0));
  if (tensor.size() == 1 && tensor.dtype() != DType::kF32)
    return integer(tensor.integer(0) + (tensor.dtype() == DType::kS8 ? 128 : 0));
  View to;
  to.dtype = tensor.dtype() == DType::kS8 ? DType::kU8 : tensor.dtype();
  to.shape = padded(shape, shape_.size());
  lay_out(to, order_);
  Input input =
      arguments_.data(stored_tensor(tensor, to), new_name(), "in the order of the result");
  input.view = to;
  return add_input(input, input.steps(shape_), to.dtype);
}

int ExpressionBuilder::input(int i) {
  if (const auto known = known_.find(i); known != known_.end()) return known->second;
  int value = -1;
  if (lowering_.is_constant(node_, i)) {
    const Tensor& tensor = lowering_.constant(node_, i);
    value = constant(tensor, tensor.shape());
  } else {
    const View& from = lowering_.view(node_, i);
    const Order order = from.rank() == static_cast<int>(shape_.size()) && from.shape == shape_
                            ? order_
                            : order_like(from);
    const View view = lowering_.ordered(node_, i, order);
    const Input input = arguments_.memory(view, new_name());
    value = add_input(input, input.steps(shape_), view.dtype);
  }
  known_[i] = value;
  return value;
}

int ExpressionBuilder::vector(const Tensor& values, std::int64_t axis) {
  Shape shape(shape_.size(), 1);
  if (axis >= 0 && values.size() > 1) shape[static_cast<std::size_t>(axis)] = values.size();
  return constant(values, shape);
}

int ExpressionBuilder::parameter(int i, std::int64_t axis) {
  if (lowering_.is_constant(node_, i)) return vector(lowering_.constant(node_, i), axis);
  const Input input = arguments_.parameter(i, new_name());
  std::vector<std::int64_t> steps(shape_.size(), 0);
  if (axis >= 0) steps[static_cast<std::size_t>(axis)] = input.parameter_step();
  return add_input(input, std::move(steps), input.view.dtype);
}

int ExpressionBuilder::single(const View& view) {
  return add_input(arguments_.memory(view, new_name()), std::vector<std::int64_t>(shape_.size(), 0),
                   view.dtype);
}

int ExpressionBuilder::real(float value) {
  ExpressionValue literal;
  literal.kind = Kind::kReal;
  literal.real = value;
  return add(literal);
}

int ExpressionBuilder::integer(std::int64_t value) {
  ExpressionValue literal;
  literal.kind = Kind::kInteger;
  literal.integer = static_cast<int>(value);
  return add(literal);
}

int ExpressionBuilder::apply(Kind kind, int a, int b) {
  ExpressionValue value;
  value.kind = kind;
  value.a = a;
  value.b = b;
  return add(value);
}

int ExpressionBuilder::dequantized(int stored, int scale, int zero_point) {
  const int centred = apply(Kind::kDifference, stored, zero_point);
  return apply(Kind::kMul, apply(Kind::kToReal, centred), scale);
}

int ExpressionBuilder::rounded(int real_value, DType type, int zero_point) {
  const int low = real(static_cast<float>(min_of(type) - zero_point));
  const int high = real(static_cast<float>(max_of(type) - zero_point));
  const int above = apply(Kind::kAtLeast, low, real_value);  // NaN becomes the least value
  return apply(Kind::kRound, apply(Kind::kAtMost, high, above));
}

int ExpressionBuilder::rounded_with(int real_value, int zero_point_value) {
  const int moved = apply(Kind::kDifference, integer(0), zero_point_value);
  const int high = apply(Kind::kDifference, integer(255), zero_point_value);
  const int above = apply(Kind::kAtLeast, apply(Kind::kToReal, moved), real_value);
  const int inside = apply(Kind::kAtMost, apply(Kind::kToReal, high), above);
  return apply(Kind::kDifference, apply(Kind::kRound, inside), moved);
}

// ---- loops ----

namespace {
bool merges(const ExpressionAxis& outer, const ExpressionAxis& inner) {
  for (std::size_t o = 0; o < outer.step.size(); ++o) {
    if (outer.step[o] != inner.step[o] * inner.count) return false;
  }
  return true;
}

// The innermost axis can be the run: y is dense, and inputs dense or repeated.
bool is_run(const ExpressionAxis& axis) {
  return axis.step.back() == 1 &&
         std::ranges::all_of(axis.step, [](std::int64_t step) { return step == 0 || step == 1; });
}
}  // namespace

void ExpressionBuilder::plan_axes() {
  ExpressionPlan& plan = step_->plan;
  const std::vector<std::int64_t> y_steps = steps_of(y_);
  std::vector<ExpressionAxis> axes;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (shape_[d] == 1) continue;
    ExpressionAxis axis{static_cast<int>(shape_[d]), {}};
    for (const Source& source : sources_) axis.step.push_back(source.steps[d]);
    axis.step.push_back(y_steps[d]);
    axes.push_back(std::move(axis));
  }
  std::ranges::stable_sort(axes, [](const ExpressionAxis& a, const ExpressionAxis& b) {
    return a.step.back() > b.step.back();
  });
  for (const ExpressionAxis& axis : axes) {
    if (!plan.axes.empty() && merges(plan.axes.back(), axis)) {
      const int count = plan.axes.back().count * axis.count;
      plan.axes.back() = axis;
      plan.axes.back().count = count;
    } else {
      plan.axes.push_back(axis);
    }
  }
  if (plan.axes.empty() || !is_run(plan.axes.back())) return;
  plan.run = plan.axes.back().count;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    plan.inputs[i].run_step = plan.axes.back().step[i];
  plan.axes.pop_back();
}

// A value is computed as often as the operand that changes most often.
void ExpressionBuilder::plan_times() {
  ExpressionPlan& plan = step_->plan;
  for (ExpressionValue& value : plan.values) {
    if (value.input >= 0) {
      const auto input = at(value.input);
      const bool changes = plan.run == 1 || plan.inputs[input].run_step != 0;
      value.when = value.kind == Kind::kIntegerInput ? When::kPerVector
                   : repeats(sources_[input].steps)  ? When::kOnce
                   : changes                         ? When::kPerVector
                                                     : When::kPerRun;
    }
    for (const int operand : {value.a, value.b}) {
      if (operand >= 0) value.when = std::max(value.when, plan.values[at(operand)].when);
    }
  }
  plan.values[at(plan.result)].when = When::kPerVector;  // it is stored
}

// An input whose elements come in the order of the result's, and are not smaller, may be
// overwritten from its beginning: what is still to be read comes after what has been written.
void ExpressionBuilder::plan_overlaps() {
  const std::vector<std::int64_t> y_steps = steps_of(y_);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Argument& argument = step_->plan.inputs[i].argument;
    const Source& source = sources_[i];
    if (argument.operand < 0 || bytes_of(source.type) < bytes_of(y_.dtype)) continue;
    // Another view of the same memory may be read in another order.
    bool same = std::ranges::count(sources_, source.buffer, &Source::buffer) == 1;
    for (std::size_t d = 0; d < shape_.size(); ++d)
      same = same && (shape_[d] == 1 || source.steps[d] == y_steps[d]);
    if (same)
      step_->overlaps.push_back({step_->plan.y, argument.operand, y_.offset - source.offset});
  }
}

// Outputs 1 and 2 of the node.
void ExpressionBuilder::plan_range() {
  ExpressionPlan::Range range;
  range.lanes =
      arguments_.scratch("lanes", lowering_.scratch(DType::kF32, 2 * lowering_.isa().lanes));
  range.scale = arguments_.output("scale", lowering_.new_output(node_, 1, {}));
  range.zero_point = arguments_.output("zero_point", lowering_.new_output(node_, 2, {}));
  step_->plan.range = range;
  step_->divisible = false;  // the range is of all elements
}

void ExpressionBuilder::finish(int result, std::optional<int> zero_point, const char* kind,
                               std::string summary) {
  ExpressionPlan& plan = step_->plan;
  step_->kind = kind;
  step_->summary = std::move(summary);
  plan.result = result;
  plan.bytes = zero_point.has_value();
  plan.zero_point = zero_point.value_or(0) + lowering_.stored_offset(y_);
  if (!plan.bytes && node_.outputs.size() > 1) plan_range();
  plan.y = arguments_.output("y", y_);
  plan_axes();
  plan_times();
  plan_overlaps();
  arguments_.add(std::move(step_));
}

}  // namespace etch
