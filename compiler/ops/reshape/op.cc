// Resolves Reshape; see op.h.
#include "compiler/ops/reshape/op.h"

#include <algorithm>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/move/relabel.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
enum class ZeroMeans { kCopy, kZero };

// The product of the sizes that are not -1; nothing on overflow.
std::optional<std::int64_t> known_count(const Shape& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    if (size == -1) continue;
    const auto product = checked_mul(count, size);
    if (!product) return std::nullopt;
    count = *product;
  }
  return count;
}

// Puts the sizes that zeros stand for; reports sizes below -1, a doubled -1, a zero without axis.
bool replace_zeros(ResolveContext& context, Shape& sizes, ZeroMeans zero) {
  const Shape& from = context.shape(0);
  int unknown = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < -1 || (sizes[i] == -1 && ++unknown > 1)) {
      context.input_error(DiagKind::kShape, 1, "shape",
                          cat("sizes must be >= 0 with at most one -1, got ", to_string(sizes)));
      return false;
    }
    if (sizes[i] != 0 || zero == ZeroMeans::kZero) continue;
    if (i >= from.size()) {
      context.input_error(DiagKind::kShape, 1, "shape",
                          cat("size 0 copies axis ", i, ", but the data has rank ", from.size()));
      return false;
    }
    sizes[i] = from[i];
  }
  return true;
}

void resolve_reshape(ResolveContext& context) {
  const bool has_allowzero = context.opset() >= 14;
  const std::int64_t allowzero = has_allowzero ? context.int_attr("allowzero", 0) : 0;
  auto sizes = constant_ints(context, 1, "shape");
  if (!sizes) return;
  if (context.shape(1).size() != 1) {
    context.input_error(DiagKind::kShape, 1, "shape",
                        cat("must have rank 1, got ", to_string(context.shape(1))));
    return;
  }
  const ZeroMeans zero = allowzero != 0 ? ZeroMeans::kZero : ZeroMeans::kCopy;
  if (!replace_zeros(context, *sizes, zero)) return;
  const std::int64_t total = element_count(context.shape(0));
  const auto known = known_count(*sizes);
  for (std::int64_t& size : *sizes) {
    if (size == -1 && known && *known != 0 && total % *known == 0) size = total / *known;
  }
  const auto count = known_count(*sizes);
  const bool unknown = std::find(sizes->begin(), sizes->end(), -1) != sizes->end();
  if (!count || unknown || *count != total) {
    context.input_error(DiagKind::kShape, 1, "shape",
                        cat(to_string(*sizes), " does not fit the ", total, " elements of ",
                            to_string(context.shape(0))));
    return;
  }
  context.set_params(Relabel{*sizes});
  context.set_output(0, context.dtype(0), *sizes);
}

constexpr OpName kReshapeNames[] = {{kOnnx, "Reshape", 5}};
}  // namespace

extern const OpDef kOp_reshape = {.folder = "reshape",
                                  .names = kReshapeNames,
                                  .arity = {.min_inputs = 2, .max_inputs = 2},
                                  .resolve = resolve_reshape,
                                  .reference = relabel,
                                  .lower = lower_relabel,
                                  .elements = moved_rule,
                                  .layout = relabel_rule};

}  // namespace etch
