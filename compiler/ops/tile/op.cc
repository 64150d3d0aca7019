// Resolves Tile; see op.h.
#include "compiler/ops/tile/op.h"

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> tile_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_tile(Lowering& lowering, const Node& node);

namespace {
void resolve_tile(ResolveContext& context) {
  const auto repeats = constant_ints(context, 1, "repeats");
  if (!repeats) return;
  Tile params{context.shape(0), context.shape(0)};
  if (repeats->size() != params.from.size()) {
    context.input_error(DiagKind::kShape, 1, "repeats",
                        cat("must have ", params.from.size(), " elements, got ", repeats->size()));
    return;
  }
  for (std::size_t d = 0; d < params.shape.size(); ++d) {
    const auto size = checked_mul(params.from[d], (*repeats)[d]);
    if ((*repeats)[d] < 0 || !size) {
      context.input_error(DiagKind::kShape, 1, "repeats",
                          cat("must be >= 0 and not huge, got ", (*repeats)[d]));
      return;
    }
    params.shape[d] = *size;
  }
  context.set_output(0, context.dtype(0), params.shape);
  if (context.failed() || !context.may_list_positions(params.shape)) return;
  context.set_params(std::move(params));
}

constexpr OpName kTileNames[] = {{kOnnx, "Tile", 6}};
}  // namespace

extern const OpDef kOp_tile = {.folder = "tile",
                               .names = kTileNames,
                               .arity = {.min_inputs = 2, .max_inputs = 2},
                               .resolve = resolve_tile,
                               .reference = tile_reference,
                               .lower = lower_tile,
                               .elements = moved_rule,
                               .layout = any_order_rule};

}  // namespace etch
