// Lowering of Tile.
#include "compiler/base/text.h"
#include "compiler/kernels/move/move.h"
#include "compiler/ops/op.h"
#include "compiler/ops/tile/op.h"

namespace etch {

void lower_tile(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Tile>(node);
  std::vector<AxisMap> maps;
  for (std::size_t d = 0; d < params.shape.size(); ++d) {
    maps.push_back(identity_map(params.shape[d]));
    for (std::int64_t& at : maps.back()) at %= params.from[d];
  }
  lower_mapped(lowering, node, maps, "tile",
               cat("repeat ", to_string(params.from), " to ", to_string(params.shape)));
}

}  // namespace etch
