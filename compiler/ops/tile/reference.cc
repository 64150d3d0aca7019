// Tile by plain loops; see op.h.
#include <cstring>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/tile/op.h"

namespace etch {

std::vector<Tensor> tile_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Tile>(node);
  Tensor y(inputs[0]->dtype(), params.shape);
  const auto bytes = as_index(bytes_of(y.dtype()));
  const std::vector<std::int64_t> to = dense_strides(params.shape);
  const std::vector<std::int64_t> from = dense_strides(params.from);
  for (std::int64_t flat = 0; flat < y.size(); ++flat) {
    std::int64_t source = 0;
    for (std::size_t d = 0; d < to.size(); ++d)
      source += flat / to[d] % params.shape[d] % params.from[d] * from[d];
    std::memcpy(y.mutable_bytes().data() + as_index(flat) * bytes,
                inputs[0]->bytes().data() + as_index(source) * bytes, bytes);
  }
  return {y};
}

}  // namespace etch
