// Lowering of QLinearAveragePool; one window over the whole image is a global average.
#include "compiler/ops/qlinear_average_pool/lower.h"

#include "compiler/kernels/pool/pooling.h"
#include "compiler/ops/qlinear_average_pool/op.h"
#include "compiler/program/rounding_proof.h"

namespace etch {

namespace {
int flip_of(DType dtype) { return dtype == DType::kS8 ? 128 : 0; }
}  // namespace

LayoutRule qlinear_average_pool_layout(const Node& node) {
  const bool first =
      params_of<QLinearAveragePool>(node).geometry.layout == ConvLayout::kChannelsFirst;
  return first ? LayoutRule::kChannelsLast : LayoutRule::kRowMajor;
}

void lower_global_average(Lowering& lowering, const Node& node,
                          const QLinearGlobalAveragePool& params) {
  PoolPlan plan;
  plan.x_zero_point = params.x_zero_point + flip_of(params.dtype);
  plan.scale = params.scale;
  plan.out.zero_point = params.y_zero_point + flip_of(params.dtype);
  const std::int64_t least = std::int64_t{-plan.x_zero_point} * params.plane;
  const std::int64_t most = std::int64_t{255 - plan.x_zero_point} * params.plane;
  plan.out.kind = may_leave_int32(least, most, params.scale) ? Requantize::Kind::kFloatClamp
                                                             : Requantize::Kind::kFloat;
  add_global_average(lowering, node, params.layout, plan);
}

void lower_qlinear_average_pool(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QLinearAveragePool>(node);
  if (params.global) {
    lower_global_average(lowering, node, *params.global);
    return;
  }
  PoolPlan plan;
  plan.kind = PoolPlan::Kind::kAverage;
  plan.x_scale = params.x.scale;
  plan.x_zero_point = params.x.zero_point + flip_of(params.dtype);
  plan.y_scale = params.y.scale;
  plan.y_zero = static_cast<float>(params.y.zero_point);
  plan.y_stored = flip_of(params.dtype);
  add_pooling(
      lowering, node, params.geometry, plan,
      params.count_padding == CountPadding::kYes ? Divisor::kWholeKernel : Divisor::kTapsInImage);
}

}  // namespace etch
