// Resolves Split; see op.h.
#include "compiler/ops/split/op.h"

#include <limits>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> split_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
// Sizes of `count` parts that are equal except a smaller last one; nothing when impossible.
std::optional<std::vector<std::int64_t>> even_sizes(std::int64_t size, std::int64_t count,
                                                    bool last_may_be_smaller) {
  const std::int64_t part = ceil_div(size, count);
  const std::int64_t last = size - part * (count - 1);
  if (last < 0 || (last != part && !last_may_be_smaller)) return std::nullopt;
  std::vector<std::int64_t> sizes(as_index(count), part);
  sizes.back() = last;
  return sizes;
}

std::optional<std::vector<std::int64_t>> part_sizes(ResolveContext& context, std::int64_t size) {
  const auto given = ints_argument(context, 1, "split", 13);
  if (!given) return std::nullopt;
  const auto outputs = static_cast<std::int64_t>(context.node().outputs.size());
  const bool counted = context.opset() >= 18 && context.has_attr("num_outputs");
  if (counted) {
    const std::int64_t num_outputs = context.int_attr("num_outputs", outputs);
    if (num_outputs != outputs || *given) {
      context.attr_error("num_outputs", cat("must equal the number of outputs, ", outputs,
                                            ", and exclude split, got ", num_outputs));
      return std::nullopt;
    }
  }
  if (*given) return **given;
  auto sizes = even_sizes(size, outputs, counted);
  if (!sizes) {
    context.error(DiagKind::kShape,
                  cat("size ", size, " cannot be cut into ", outputs, " equal parts"));
  }
  return sizes;
}

bool adds_up(const std::vector<std::int64_t>& sizes, std::int64_t total) {
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > total) return false;
    total -= size;
  }
  return total == 0;
}

void resolve_split(ResolveContext& context) {
  const Shape& from = context.shape(0);
  const auto axis = axis_attr(context, "axis", 0, rank_of(from));
  if (!axis) return;
  const std::int64_t size = from[as_index(*axis)];
  const auto sizes = part_sizes(context, size);
  if (!sizes) return;
  if (sizes->size() != context.node().outputs.size() || !adds_up(*sizes, size)) {
    context.error(DiagKind::kShape, cat("split ", to_string(*sizes),
                                        " must have one size per output and add up to ", size));
    return;
  }
  Split params;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    StridedCopy part{from, {0, dense_strides(from)}};
    part.view.offset = start * part.view.strides[as_index(*axis)];
    part.shape[as_index(*axis)] = (*sizes)[i];
    start += (*sizes)[i];
    context.set_output(static_cast<int>(i), context.dtype(0), part.shape);
    params.parts.push_back(std::move(part));
  }
  context.set_params(std::move(params));
}

constexpr OpName kSplitNames[] = {{kOnnx, "Split", 2}};
}  // namespace

void lower_split(Lowering& lowering, const Node& node);

extern const OpDef kOp_split = {.folder = "split",
                                .names = kSplitNames,
                                .arity = {.min_inputs = 1,
                                          .max_inputs = 2,
                                          .min_outputs = 1,
                                          .max_outputs = std::numeric_limits<int>::max()},
                                .resolve = resolve_split,
                                .reference = split_reference,
                                .lower = lower_split,
                                .elements = moved_rule,
                                .layout = part_rule};

}  // namespace etch
