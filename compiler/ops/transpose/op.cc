// Resolves Transpose; see op.h.
#include "compiler/ops/transpose/op.h"

#include <numeric>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
bool is_permutation_of_axes(const std::vector<std::int64_t>& perm, std::size_t rank) {
  std::vector<char> seen(rank, 0);
  for (const std::int64_t axis : perm) {
    if (axis < 0 || as_index(axis) >= rank || seen[as_index(axis)] != 0) return false;
    seen[as_index(axis)] = 1;
  }
  return perm.size() == rank;
}

std::vector<std::int64_t> reversed_axes(std::int64_t rank) {
  std::vector<std::int64_t> perm(as_index(rank));
  std::iota(perm.rbegin(), perm.rend(), 0);
  return perm;
}

void resolve_transpose(ResolveContext& context) {
  const Shape& from = context.shape(0);
  const auto perm = context.ints_attr("perm").value_or(reversed_axes(rank_of(from)));
  if (!is_permutation_of_axes(perm, from.size())) {
    context.attr_error(
        "perm", cat("must be a permutation of ", from.size(), " axes, got ", to_string(perm)));
    return;
  }
  const std::vector<std::int64_t> dense = dense_strides(from);
  StridedCopy params;
  for (const std::int64_t axis : perm) {
    params.shape.push_back(from[as_index(axis)]);
    params.view.strides.push_back(dense[as_index(axis)]);
  }
  context.set_output(0, context.dtype(0), params.shape);
  context.set_params(std::move(params));
}

constexpr OpName kTransposeNames[] = {{kOnnx, "Transpose", 1}};
}  // namespace

void lower_transpose(Lowering& lowering, const Node& node);

extern const OpDef kOp_transpose = {.folder = "transpose",
                                    .names = kTransposeNames,
                                    .arity = {.min_inputs = 1, .max_inputs = 1},
                                    .resolve = resolve_transpose,
                                    .reference = strided_copy,
                                    .lower = lower_transpose,
                                    .elements = moved_rule,
                                    .layout = relabel_rule};

}  // namespace etch
