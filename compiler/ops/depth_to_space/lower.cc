// Lowering of DepthToSpace and SpaceToDepth: one copy between two views of six dimensions.
#include "compiler/base/text.h"
#include "compiler/kernels/move/move.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/depth_to_space/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {

// Batch, channel, row of blocks, row in a block, column of blocks, column in a block.
View blocks_of(View view, const BlockMove& p, bool deep) {
  const std::vector<std::int64_t> s = view.stride;
  const bool by_column = p.kind == BlockMove::Kind::kColumnFirst;
  const std::int64_t area = p.block * p.block;
  const std::int64_t pixel = by_column ? 1 : p.channels;  // channels from one pixel to the next
  view.shape = {p.batch, p.channels, p.height, p.block, p.width, p.block};
  view.stride = {s[0], s[1], s[2] * p.block, s[2], s[3] * p.block, s[3]};
  if (deep) {
    view.stride = {s[0],        by_column ? s[1] * area : s[1], s[2], s[1] * pixel * p.block, s[3],
                   s[1] * pixel};
  }
  view.halo_begin.assign(view.shape.size(), 0);
  view.halo_end.assign(view.shape.size(), 0);
  return view;
}

}  // namespace

void lower_block_move(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<BlockMove>(node);
  const View& x = lowering.view(node, 0);
  const View y = lowering.new_output(node, 0, order_like(x));
  const bool to_depth = params.kind == BlockMove::Kind::kToDepth;
  MoveBuilder moves(lowering, node, y, to_depth ? "to_depth" : "to_space");
  moves.copy(moves.memory(x), blocks_of(x, params, !to_depth), blocks_of(y, params, to_depth), {});
  moves.finish(cat("blocks of ", params.block, " by ", params.block,
                   " pixels and channels: ", to_string(x.shape), " to ", to_string(y.shape)));
}

}  // namespace etch
