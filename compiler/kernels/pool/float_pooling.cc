// Float pooling; see float_pooling.h.
#include "compiler/kernels/pool/float_pooling.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/products/general.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"

namespace etch {

namespace {

constexpr std::int64_t kLeastChannels = 8;   // that vectors are worth another order of x for
constexpr std::int64_t kLeastPositions = 8;  // of a line whose windows are inside, for vectors
constexpr std::int64_t kManyPositions = 24;  // that make turning x and y slower than lines
constexpr std::int64_t kFewChannels = 16;    // of which small windows are faster in lines
constexpr std::int64_t kSmallWindow = 3;     // such a window's width
constexpr std::int64_t kInsideOfBorder = 6;  // positions inside for each that is computed alone

bool has_dense_lines(const View& view) { return steps_of(view).back() == 1; }

// How many windows of a line are inside the image.
std::int64_t positions_inside(const ConvAxis& axis) {
  const std::int64_t first = ceil_div(axis.pad_begin, axis.stride);
  const std::int64_t reach = axis.in - 1 + axis.pad_begin - (axis.kernel - 1) * axis.dilation;
  return reach < 0 ? 0 : std::min(reach / axis.stride + 1, axis.out) - first;
}

// Whether windows are summed in vectors of positions: where channels fill at most one vector, and
// on long lines whose windows are one apart, less long ones of few channels with AVX2 and wider.
// Else turning both tensors was faster (AMD EPYC, AVX2), also where wide windows make much of the
// border, which is computed one by one (Cascade Lake).
bool fills_lines(const PoolGeometry& geometry, const View& x, const IsaTraits& isa) {
  const ConvAxis& last = geometry.axes.back();
  if (geometry.layout != ConvLayout::kChannelsFirst || !has_dense_lines(x)) return false;
  const std::int64_t inside = positions_inside(last);
  if (geometry.channels <= kLeastChannels) return last.stride <= 2 && inside >= kLeastPositions;
  if (last.stride != 1) return false;
  if (isa.lanes >= 8 && geometry.channels <= kFewChannels && last.kernel <= kSmallWindow)
    return inside >= std::max(kLeastPositions, kInsideOfBorder * (last.out - inside));
  return inside >= std::max(kManyPositions, kManyPositions / 2 * (last.kernel - 1));
}

// Else in vectors of channels.
View input_of(Lowering& lowering, const Node& node, const PoolGeometry& geometry) {
  const View& as_is = lowering.view(node, 0);
  const bool first = geometry.layout == ConvLayout::kChannelsFirst;
  if (!first || geometry.channels < kLeastChannels) return as_is;
  return lowering.ordered(node, 0, channels_last(as_is.rank()));
}

void add_pool(Lowering& lowering, const Node& node, const PoolGeometry& geometry,
              std::unique_ptr<FloatPoolStep> step) {
  const View as_is = lowering.view(node, 0);
  const bool fills = fills_lines(geometry, as_is, lowering.isa());
  View x = fills ? as_is : input_of(lowering, node, geometry);
  const View y = lowering.new_output(node, 0, order_like(x));
  step->plan.lines = fills && has_dense_lines(y);
  if (fills && !step->plan.lines) x = input_of(lowering, node, geometry);
  const View from = channels_first(x, geometry.layout);
  const View to = channels_first(y, geometry.layout);
  rt::PoolShape& shape = step->plan.shape;
  shape.batch = static_cast<std::int32_t>(geometry.batch);
  shape.channels = static_cast<std::int32_t>(geometry.channels);
  shape.x_image = steps_of(from)[0];
  shape.x_channel = steps_of(from)[1];
  shape.y_image = steps_of(to)[0];
  shape.y_channel = steps_of(to)[1];
  set_runtime_axes(shape.axis, geometry.axes, from, to);
  for (std::size_t a = 0; a < geometry.axes.size(); ++a) {
    shape.pad_end[3 - geometry.axes.size() + a] =
        static_cast<std::int32_t>(geometry.axes[a].pad_end);
  }
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace

void add_float_max_pool(Lowering& lowering, const Node& node, const PoolGeometry& geometry) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<FloatPoolStep>();
  step->kind = "maxpool";
  step->summary = cat("maximum over windows of floats, ", counted(geometry.channels, "channel"));
  add_pool(lowering, node, geometry, std::move(step));
}

void add_float_average_pool(Lowering& lowering, const Node& node, const PoolGeometry& geometry,
                            PoolDivisor divisor) {
  if (refuse_empty(lowering, node)) return;
  auto step = std::make_unique<FloatPoolStep>();
  step->kind = "avgpool";
  step->summary = cat("mean over windows of floats, ", counted(geometry.channels, "channel"));
  step->plan.averages = true;
  step->plan.shape.count_padding = divisor == PoolDivisor::kElementsAndPadding ? 1 : 0;
  add_pool(lowering, node, geometry, std::move(step));
}

}  // namespace etch
