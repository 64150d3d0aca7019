// Lowering of NonMaxSuppression with a fixed number of rows.
#include "compiler/kernels/select/non_max.h"
#include "compiler/ops/non_max_suppression/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_non_max_suppression(Lowering& lowering, const Node& node) {
  const auto& params = params_of<NonMaxSuppression>(node);
  NonMaxPlan plan;
  plan.batches = static_cast<int>(params.batches);
  plan.classes = static_cast<int>(params.classes);
  plan.count = static_cast<int>(params.boxes);
  plan.most = static_cast<int>(params.most);
  plan.rows = static_cast<int>(params.rows);
  plan.is_centred = params.is_centred;
  plan.limit = params.overlap;
  plan.has_threshold = params.has_threshold;
  plan.threshold = params.threshold;
  const std::vector<std::int64_t> none(static_cast<std::size_t>(3 * params.rows), -1);
  add_non_max(lowering, node, plan, params.filler,
              Tensor::of<std::int64_t>({params.rows, 3}, none));
}

}  // namespace etch
