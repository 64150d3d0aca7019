// DepthToSpace and SpaceToDepth by plain loops; see op.h.
#include <cstring>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/depth_to_space/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
// The channel of the deep side that pixel (i, j) of a block of channel c has.
std::int64_t deep_channel(const BlockMove& p, std::int64_t c, std::int64_t i, std::int64_t j) {
  if (p.kind == BlockMove::Kind::kColumnFirst) return (c * p.block + i) * p.block + j;
  return (i * p.block + j) * p.channels + c;
}
}  // namespace

std::vector<Tensor> block_move_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& p = params_of<BlockMove>(node);
  Tensor y(inputs[0]->dtype(), p.shape);
  const auto bytes = as_index(bytes_of(y.dtype()));
  const std::int64_t high = p.height * p.block;
  const std::int64_t wide = p.width * p.block;
  for (std::int64_t at = 0; at < y.size(); ++at) {
    // Walks the flat side: [batch, channels, high, wide].
    const std::int64_t x = at % wide;
    const std::int64_t row = at / wide % high;
    const std::int64_t c = at / wide / high % p.channels;
    const std::int64_t n = at / wide / high / p.channels;
    const std::int64_t deep = deep_channel(p, c, row % p.block, x % p.block);
    const std::int64_t channels = p.channels * p.block * p.block;
    const std::int64_t there =
        ((n * channels + deep) * p.height + row / p.block) * p.width + x / p.block;
    const bool to_depth = p.kind == BlockMove::Kind::kToDepth;
    std::memcpy(y.mutable_bytes().data() + as_index(to_depth ? there : at) * bytes,
                inputs[0]->bytes().data() + as_index(to_depth ? at : there) * bytes, bytes);
  }
  return {y};
}

}  // namespace etch
