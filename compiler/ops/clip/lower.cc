// Lowering of Clip: a limit that no element can reach is left out.
#include <limits>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/ops/clip/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_clip(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Clip>(node);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (params.low == kInfinity || params.high == -kInfinity) {
    lowering.unsupported(node, "an infinite limit that every element reaches cannot be compiled");
    return;
  }
  const DType type = *lowering.value(node.inputs[0]).dtype;
  const bool is_float = type == DType::kF32;
  const bool low =
      is_float ? params.low > -kInfinity : params.low > static_cast<double>(min_of(type));
  const bool high =
      is_float ? params.high < kInfinity : params.high < static_cast<double>(max_of(type));
  if (!low && !high) {
    lowering.set_view(node, 0, lowering.view(node, 0));
    return;
  }
  MapPlan plan;
  plan.kind = low && high ? MapPlan::Kind::kClip
              : low       ? MapPlan::Kind::kAtLeast
                          : MapPlan::Kind::kAtMost;
  if (is_float) {
    if (low) plan.low = static_cast<float>(params.low);
    if (high) plan.high = static_cast<float>(params.high);
  } else {
    const int stored = type == DType::kS8 ? 128 : 0;
    plan.int_low = static_cast<int>(params.low) + stored;
    plan.int_high = static_cast<int>(params.high) + stored;
  }
  add_map(lowering, node, plan,
          cat("clip ", counted(element_count(*lowering.value(node.outputs[0]).shape), "element")));
}

}  // namespace etch
