// Lowering of InstanceNormalization: rows of one channel of one image.
#include "compiler/kernels/rows/normalize.h"
#include "compiler/ops/instance_normalization/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_instance_normalization(Lowering& lowering, const Node& node) {
  add_plane_normalization(lowering, node, params_of<InstanceNormalization>(node).epsilon);
}

}  // namespace etch
