// Resolves DepthToSpace and SpaceToDepth; see op.h.
#include "compiler/ops/depth_to_space/op.h"

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> block_move_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_block_move(Lowering& lowering, const Node& node);

namespace {

bool set_kind(ResolveContext& context, BlockMove& params) {
  if (context.node().op_type == "SpaceToDepth") {
    params.kind = BlockMove::Kind::kToDepth;
    return true;
  }
  const std::string mode = context.opset() >= 11 ? context.string_attr("mode", "DCR") : "DCR";
  if (mode != "DCR" && mode != "CRD") {
    context.attr_error("mode", cat("must be DCR or CRD, got '", printable(mode), "'"));
    return false;
  }
  params.kind = mode == "DCR" ? BlockMove::Kind::kDepthFirst : BlockMove::Kind::kColumnFirst;
  return true;
}

void resolve_depth_to_space(ResolveContext& context) {
  BlockMove params;
  params.block = context.int_attr("blocksize", 0);
  if (!set_kind(context, params)) return;
  const Shape& from = context.shape(0);
  constexpr std::int64_t kMost = 1 << 15;
  if (params.block < 1 || params.block > kMost) {
    context.attr_error("blocksize", cat("must be > 0, got ", params.block));
    return;
  }
  if (from.size() != 4) {
    context.input_error(DiagKind::kShape, 0, "input",
                        cat("must have rank 4, got ", to_string(from)));
    return;
  }
  const bool to_depth = params.kind == BlockMove::Kind::kToDepth;
  const std::int64_t area = params.block * params.block;
  const bool fits =
      to_depth ? from[2] % params.block == 0 && from[3] % params.block == 0 : from[1] % area == 0;
  if (!fits) {
    context.input_error(DiagKind::kShape, 0, "input",
                        cat(to_string(from), " does not consist of blocks of ", params.block));
    return;
  }
  params.batch = from[0];
  params.channels = to_depth ? from[1] : from[1] / area;
  params.height = to_depth ? from[2] / params.block : from[2];
  params.width = to_depth ? from[3] / params.block : from[3];
  const auto deep = checked_mul(params.channels, area);
  const auto high = checked_mul(params.height, params.block);
  const auto wide = checked_mul(params.width, params.block);
  if (!deep || !high || !wide) {
    context.error(DiagKind::kLimit, "the output is too large");
    return;
  }
  params.shape = to_depth ? Shape{from[0], *deep, params.height, params.width}
                          : Shape{from[0], params.channels, *high, *wide};
  context.set_output(0, context.dtype(0), params.shape);
  context.set_params(std::move(params));
}

constexpr OpName kDepthToSpaceNames[] = {{kOnnx, "DepthToSpace", 1}, {kOnnx, "SpaceToDepth", 1}};
}  // namespace

extern const OpDef kOp_depth_to_space = {.folder = "depth_to_space",
                                         .names = kDepthToSpaceNames,
                                         .arity = {.min_inputs = 1, .max_inputs = 1},
                                         .resolve = resolve_depth_to_space,
                                         .reference = block_move_reference,
                                         .lower = lower_block_move,
                                         .elements = moved_rule,
                                         .layout = any_order_rule};

}  // namespace etch
