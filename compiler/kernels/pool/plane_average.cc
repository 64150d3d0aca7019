// See plane_average.h.
#include "compiler/kernels/pool/plane_average.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/stage/staged_step.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/pool/plane_average.h"

namespace etch {

ETCH_PLAN_STEP(PlaneAverageStep, PlaneAveragePlan, plane_average_kernel, kDependent);

namespace {
constexpr std::int64_t kLeastPixels = 16;  // a vector's bytes
constexpr int kVectorLanes = 4;

bool has_planes(const Lowering& lowering, const View& x) {
  return lowering.isa().float_requantization && lowering.isa().lanes >= kVectorLanes &&
         x.dtype == DType::kU8 && x.rank() >= 3 && is_contiguous(x, row_major(x.rank())) &&
         !has_order(x, channels_last(x.rank()));
}
}  // namespace

ETCH_INSTANTIATE_STEP(PlaneAverageStep);

StepCertificate plane_certificate(const PoolPlan& plan, std::int64_t pixels) {
  const std::int64_t zero = plan.x_zero_point;
  return {
      plan.out, plan.x_zero_point, false, {{plan.scale, -zero * pixels, (255 - zero) * pixels}}};
}

bool add_plane_average(Lowering& lowering, const Node& node, const PoolPlan& plan) {
  const View x = lowering.view(node, 0);
  if (!has_planes(lowering, x)) return false;
  const std::int64_t planes = x.shape[0] * x.shape[1];
  const std::int64_t pixels = element_count(x.shape) / planes;
  if (pixels < kLeastPixels) return false;
  // A place in a larger tensor may have gaps.
  const View y = lowering.new_output(node, 0, channels_last(x.rank()));
  if (!is_contiguous(y, row_major(y.rank()))) return false;
  auto step = std::make_unique<PlaneAverageStep>();
  step->kind = "avgpool";
  step->summary = cat("average over all ", counted(pixels, "position"));
  step->plan.planes = static_cast<int>(planes);
  step->plan.pixels = static_cast<int>(pixels);
  const std::int64_t zeros = std::int64_t{plan.x_zero_point} * pixels;
  step->plan.start = static_cast<std::int32_t>(static_cast<std::uint32_t>(-zeros));
  step->plan.scale = plan.scale;
  step->plan.zero_point = plan.out.zero_point;
  step->plan.range = {plan.out.low, plan.out.high};
  const Step& made = *step;
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
  certify(made, [&] { return plane_certificate(plan, pixels); });
  return true;
}

}  // namespace etch
