// Resolves Slice; see op.h.
#include "compiler/ops/slice/op.h"

#include <algorithm>
#include <numeric>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
struct Arguments {
  std::vector<std::int64_t> starts, ends, axes, steps;
};

std::optional<Arguments> read_arguments(ResolveContext& context) {
  const auto starts = ints_argument(context, 1, "starts", 10);
  const auto ends = ints_argument(context, 2, "ends", 10);
  const auto axes = ints_argument(context, 3, "axes", 10);
  const auto steps = context.opset() >= 10 ? ints_argument(context, 4, "steps", 10)
                                           : std::optional<OptionalInts>(OptionalInts{});
  if (!starts || !ends || !axes || !steps) return std::nullopt;
  if (!*starts || !*ends) {
    context.error(DiagKind::kAttr, "starts or ends is missing");
    return std::nullopt;
  }
  const std::size_t count = (*starts)->size();
  std::vector<std::int64_t> first_axes(count);
  std::iota(first_axes.begin(), first_axes.end(), 0);
  Arguments out{**starts, **ends, axes->value_or(first_axes),
                steps->value_or(std::vector<std::int64_t>(count, 1))};
  if (out.ends.size() != count || out.axes.size() != count || out.steps.size() != count) {
    context.error(DiagKind::kShape, "starts, ends, axes and steps must have one length");
    return std::nullopt;
  }
  return out;
}

// `position` counted from 0, without overflow for the huge values that mean "to the end".
std::int64_t from_start(std::int64_t position, std::int64_t size) {
  return position < 0 ? checked_add(position, size).value_or(position) : position;
}

struct Range {
  std::int64_t start, count;
};

Range range_of(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t size) {
  start = from_start(start, size);
  end = from_start(end, size);
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, size);
    end = std::clamp<std::int64_t>(end, 0, size);
    const std::int64_t length = std::max<std::int64_t>(end - start, 0);
    return {start, length == 0 ? 0 : (length - 1) / step + 1};
  }
  start = std::min(std::max<std::int64_t>(start, 0), size - 1);
  end = std::min(std::max<std::int64_t>(end, -1), size - 1);
  const std::int64_t length = std::max<std::int64_t>(start - end, 0);
  // The quotient by a negative step, so that the least int64 needs no negation.
  return {std::max<std::int64_t>(start, 0), length == 0 ? 0 : -((length - 1) / step) + 1};
}

void resolve_slice(ResolveContext& context) {
  const auto arguments = read_arguments(context);
  if (!arguments) return;
  const Shape& from = context.shape(0);
  if (!normal_axes(context, arguments->axes, rank_of(from))) return;
  StridedCopy params{from, {0, dense_strides(from)}};
  for (std::size_t i = 0; i < arguments->axes.size(); ++i) {
    const std::size_t axis = as_index(*normal_axis(arguments->axes[i], rank_of(from)));
    if (arguments->steps[i] == 0) {
      context.error(DiagKind::kAttr, "steps: must not be 0");
      return;
    }
    // A step beyond the axis takes one element; limiting it keeps every product in range.
    const std::int64_t step = std::clamp(arguments->steps[i], -from[axis] - 1, from[axis] + 1);
    const Range range = range_of(arguments->starts[i], arguments->ends[i], step, from[axis]);
    params.view.offset += range.start * params.view.strides[axis];
    params.view.strides[axis] *= step;
    params.shape[axis] = range.count;
  }
  context.set_output(0, context.dtype(0), params.shape);
  const bool backward = std::any_of(arguments->steps.begin(), arguments->steps.end(),
                                    [](std::int64_t step) { return step < 0; });
  if (context.failed() || (backward && !context.may_list_positions(params.shape))) return;
  context.set_params(std::move(params));
}

constexpr OpName kSliceNames[] = {{kOnnx, "Slice", 1}};
}  // namespace

void lower_slice(Lowering& lowering, const Node& node);

extern const OpDef kOp_slice = {.folder = "slice",
                                .names = kSliceNames,
                                .arity = {.min_inputs = 1, .max_inputs = 5},
                                .resolve = resolve_slice,
                                .reference = strided_copy,
                                .lower = lower_slice,
                                .elements = moved_rule,
                                .layout = part_rule};

}  // namespace etch
