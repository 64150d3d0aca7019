// Attention in floats as one step: FusedAttention (templates/kernels/products/attention.h).
#pragma once

#include <vector>

#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/lower/lowering.h"
#include "templates/kernels/rows/arithmetic.h"

namespace etch {

struct AttentionGeometry {
  struct Change {
    CombinePlan::Kind kind;
    bool scores_first;
    int other;  // input of the node
  };
  MatMulGeometry scores, mixed;
  int queries = 0, keys = 1, values = 2;  // inputs of the node
  std::vector<Change> changes;
};

// Both products have the same batch, and matrices on both sides. Keys are columns.
void add_attention(Lowering& lowering, const Node& node, const AttentionGeometry& geometry);

}  // namespace etch
