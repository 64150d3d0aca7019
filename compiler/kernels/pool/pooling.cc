// Pooling steps; see pooling.h.
#include "compiler/kernels/pool/pooling.h"

#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/conv/regions.h"
#include "compiler/kernels/pool/assembly.h"
#include "compiler/kernels/pool/plane_average.h"
#include "compiler/program/requantization.h"
#include "compiler/program/rounding_proof.h"

namespace etch {

namespace {

constexpr std::int64_t kMostStatements = 1500;  // unrolled in one function
constexpr std::size_t kMostRegions = 256;

// Strides and segments of the three spatial axes (missing outer ones have size 1).
struct Axes {
  std::vector<Segment> segments[3];
  std::int64_t x_stride[3] = {}, y_stride[3] = {};
};

Axes axes_of(const PoolGeometry& geometry, const View& x, const View& y) {
  Axes out;
  const std::size_t missing = 3 - geometry.axes.size();
  for (std::size_t a = 0; a < 3; ++a) {
    const ConvAxis axis = a < missing ? ConvAxis{} : geometry.axes[a - missing];
    out.segments[a] = plan_segments(axis, ConvDirection::kForward, 0, 0, kMostRegions);
    if (a < missing) continue;
    out.x_stride[a] = x.stride[a - missing + 2];
    out.y_stride[a] = y.stride[a - missing + 2];
  }
  return out;
}

PoolRegion region_of(const Axes& axes, const Segment& d, std::int64_t plane, const Segment& h,
                     const Segment& w) {
  PoolRegion region;
  region.rows = static_cast<int>(h.count);
  region.cols = static_cast<int>(w.count);
  region.x_row = h.advance * axes.x_stride[1];
  region.x_col = w.advance * axes.x_stride[2];
  region.y_row = axes.y_stride[1];
  region.y_col = axes.y_stride[2];
  region.y_offset = (d.first + plane) * axes.y_stride[0] + h.first * axes.y_stride[1] +
                    w.first * axes.y_stride[2];
  const Segment* const segments[] = {&d, &h, &w};
  for (int a = 0; a < 3; ++a) {
    const std::vector<SegmentTap>& taps = segments[a]->taps;
    region.count[a] = static_cast<int>(taps.size());
    if (taps.empty()) continue;
    region.first_tap += taps.front().input * axes.x_stride[a];
    if (taps.size() > 1) region.step[a] = (taps[1].input - taps[0].input) * axes.x_stride[a];
  }
  region.first_tap += plane * d.advance * axes.x_stride[0];
  return region;
}

// Where there are more than kMostRegions, which are refused, only the first kMostRegions + 1.
std::vector<PoolRegion> regions_of(const Axes& axes, float whole_kernel, Divisor divisor) {
  std::vector<PoolRegion> out;
  for (const Segment& d : axes.segments[0]) {
    for (std::int64_t plane = 0; plane < d.count; ++plane) {
      for (const Segment& h : axes.segments[1]) {
        for (const Segment& w : axes.segments[2]) {
          out.push_back(region_of(axes, d, plane, h, w));
          out.back().divisor = divisor == Divisor::kWholeKernel
                                   ? whole_kernel
                                   : static_cast<float>(out.back().taps());
          if (out.size() > kMostRegions) return out;
        }
      }
    }
  }
  return out;
}

// Statements of the step with every tap spelled out, roughly.
std::int64_t unrolled_statements(const PoolPlan& plan, const IsaTraits& isa) {
  const bool average = plan.kind == PoolPlan::Kind::kAverage;
  const std::int64_t per_tap = average ? 22 : 2, per_window = average ? 36 : 6;
  const int chunks =
      (plan.channels >= isa.byte_lanes() ? 1 : 0) + (plan.channels % isa.byte_lanes() != 0 ? 1 : 0);
  std::int64_t sum = 0;
  for (const PoolRegion& region : plan.regions) sum += per_window + region.taps() * per_tap;
  return sum * chunks;
}

const char* kind_of(PoolPlan::Kind kind) {
  return kind == PoolPlan::Kind::kMax ? "maxpool" : "avgpool";
}

struct Ends {
  View x, y;
};

Ends ends_of(Lowering& lowering, const Node& node, ConvLayout layout) {
  const Order order = conv_order(layout, lowering.view(node, 0).rank());
  const View y = lowering.new_output(node, 0, order);
  return {channels_first(lowering.ordered(node, 0, order), layout), channels_first(y, layout)};
}

// The one factor of a global average, in every lane.
void average_without_floats(const IsaTraits& isa, PoolPlan& plan, PoolStep& step) {
  const std::int64_t least = std::int64_t{0} - plan.x_zero_point;
  const RequantizeChannel channel =
      requantize_channel(plan.out, plan.scale, least * plan.pixels, (255 + least) * plan.pixels);
  IntegerRequantization requantized = requantize_without_floats({channel});
  plan.out.kind = Requantize::Kind::kInteger;
  plan.out.integer = requantized.layout;
  const std::vector<int> lanes(static_cast<std::size_t>(isa.lanes), 0);
  step.constants.push_back(
      requantize_constants(requantized.channels, requantized.layout, lanes, isa.lanes));
  step.requantized = std::move(requantized.channels);
  step.facts.push_back(std::move(requantized.fact));
}

// Functions in assembly spell out every tap of every border case: two instructions of 4 bytes for a
// maximum, five for an average.
bool is_short(const PoolPlan& plan, const IsaTraits& isa) {
  const std::int64_t most = isa.objective == Objective::kSize ? 64 : 512;
  std::int64_t taps = 0;
  for (const PoolRegion& region : plan.regions) taps += region.taps();
  return taps <= most;
}

// Rows of pixels become functions in assembly where the core has them.
void use_assembly(const IsaTraits& isa, PoolPlan& plan, PoolStep& step) {
  if (plan.kind == PoolPlan::Kind::kGlobalAverage || plan.clamp || !is_short(plan, isa)) return;
  for (PoolRegion& region : plan.regions) {
    const rt::PoolRow row = plan.row_of(region);
    std::optional<AssemblyFunction> function =
        plan.kind == PoolPlan::Kind::kMax ? pool_maximum_function(row, isa)
                                          : pool_mean_function(row, plan.mean_of(region), isa);
    if (function) region.function = use(std::move(*function), step.assembly);
  }
}

void finish(Lowering& lowering, const Node& node, const Ends& ends, PoolPlan plan,
            std::string summary, const ArithmeticCertificate& certificate) {
  auto step = std::make_unique<PoolStep>();
  if (plan.kind == PoolPlan::Kind::kGlobalAverage && !lowering.isa().float_requantization)
    average_without_floats(lowering.isa(), plan, *step);
  step->kind = kind_of(plan.kind);
  step->summary = std::move(summary);
  if (plan.clamp) step->facts.emplace_back(kClampedFact);
  plan.images = static_cast<int>(ends.x.shape[0]);
  plan.x_image = ends.x.stride[0];
  plan.y_image = ends.y.stride[0];
  plan.channels = static_cast<int>(ends.x.shape[1]);
  use_assembly(lowering.isa(), plan, *step);
  step->plan = std::move(plan);
  const Step& made = *step;
  lowering.add(node, std::move(step), {{"x", &ends.x}, {"y", &ends.y}});
  certify(made, [&] { return certificate; });
}

// Whether the planes of a volume [N, C, D, H, W] follow one another row by row.
bool planes_are_adjacent(const View& x) {
  return x.rank() <= 4 || x.shape[2] == 1 || x.stride[2] == x.stride[3] * x.shape[3];
}

}  // namespace

void add_pooling(Lowering& lowering, const Node& node, const PoolGeometry& geometry, PoolPlan plan,
                 Divisor divisor) {
  std::int64_t taps = 1;
  std::string kernel;
  for (const ConvAxis& axis : geometry.axes) {
    taps *= axis.kernel;
    kernel += cat(kernel.empty() ? "" : "x", axis.kernel);
  }
  const Ends ends = ends_of(lowering, node, geometry.layout);
  plan.regions = regions_of(axes_of(geometry, ends.x, ends.y), static_cast<float>(taps), divisor);
  if (plan.regions.size() > kMostRegions) {
    lowering.unsupported(node, "too many border cases in this pooling");
    return;
  }
  plan.channels = static_cast<int>(geometry.channels);
  plan.unroll = unrolled_statements(plan, lowering.isa()) <= kMostStatements;
  plan.clamp = plan.kind == PoolPlan::Kind::kAverage && may_leave_int32(plan);
  const bool averages = plan.kind == PoolPlan::Kind::kAverage;
  const WindowCertificate certificate{geometry,
                                      averages,
                                      divisor == Divisor::kWholeKernel,
                                      plan.x_scale,
                                      plan.y_scale,
                                      plan.x_zero_point,
                                      static_cast<int>(plan.y_zero) + plan.y_stored};
  finish(lowering, node, ends, std::move(plan),
         cat(averages ? "average" : "maximum", " over windows of ", kernel, ", ",
             counted(geometry.channels, "channel")),
         certificate);
}

void add_global_average(Lowering& lowering, const Node& node, ConvLayout layout, PoolPlan plan) {
  if (layout == ConvLayout::kChannelsFirst && add_plane_average(lowering, node, plan)) return;
  Ends ends = ends_of(lowering, node, layout);
  if (!planes_are_adjacent(ends.x)) {  // a halo that another consumer requested
    const Order order = conv_order(layout, ends.x.rank());
    ends.x = channels_first(lowering.contiguous(node, 0, order), layout);
  }
  const int rank = ends.x.rank();
  PoolRegion all;
  for (int d = 2; d < rank; ++d)
    plan.pixels *= static_cast<int>(ends.x.shape[static_cast<std::size_t>(d)]);
  // The last axis is the columns; the others are one run of rows where the memory allows it.
  const auto last = static_cast<std::size_t>(rank - 1);
  all.cols = static_cast<int>(ends.x.shape[last]);
  all.x_col = ends.x.stride[last];
  all.rows = plan.pixels / all.cols;
  all.x_row = rank > 3 ? ends.x.stride[last - 1] : 0;
  plan.kind = PoolPlan::Kind::kGlobalAverage;
  plan.regions = {all};
  std::string summary = cat("average over all ", counted(plan.pixels, "position"));
  const StepCertificate certificate = plane_certificate(plan, plan.pixels);
  finish(lowering, node, ends, std::move(plan), std::move(summary), certificate);
}

}  // namespace etch
