// See channel_ranges.h. Every bound follows from functions that are monotone: sums of products in
// each term, requantization in the accumulator, QLinearAdd in each summand.
#include "compiler/passes/channel_ranges.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

#include "compiler/ops/max_pool/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_average_pool/op.h"
#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/ops/qlinear_conv_add/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

Interval everything(DType type) {
  return {static_cast<int>(min_of(type)), static_cast<int>(max_of(type))};
}

Interval limited(const Interval& to, int low, int high) {
  return {std::clamp(to.low, low, high), std::clamp(to.high, low, high)};
}

int channel_axis(ConvLayout layout, std::size_t spatial) {
  return layout == ConvLayout::kChannelsFirst ? 1 : static_cast<int>(spatial) + 1;
}

}  // namespace

int channel_axis(const ConvGeometry& geometry) {
  return channel_axis(geometry.layout, geometry.axes.size());
}

namespace {

// Of a sum of int32 that must not wrap, for its order to be that of the integers.
struct WideInterval {
  std::int64_t low = 0, high = 0;
  bool fits_int32() const {
    return low >= std::numeric_limits<std::int32_t>::min() &&
           high <= std::numeric_limits<std::int32_t>::max();
  }
};

class Analysis {
 public:
  explicit Analysis(const Graph& graph) : graph_(graph), ranges_(graph.values.size()) {}

  std::vector<ChannelRanges> run() && {
    for (const Node& node : graph_.nodes) visit(node);
    return std::move(ranges_);
  }

 private:
  void visit(const Node& node) {
    if (node.outputs.empty() || node.outputs[0] == kNoValue) return;
    if (!is_8bit(type_of(node.outputs[0]))) return;
    ChannelRanges out = ranges_after(node);
    if (out.axis >= 0) ranges_[static_cast<std::size_t>(node.outputs[0])] = std::move(out);
  }

  ChannelRanges ranges_after(const Node& node) const {
    if (node.op_type == "QLinearConv") return after_conv(node, params_of<QLinearConvParams>(node));
    if (node.op_type == "QLinearConvAdd") return after_conv_add(node);
    if (node.op_type == "Table") return after_table(node);
    if (node.op_type == "QLinearAdd" || node.op_type == "QLinearMul") return after_binary(node);
    if (node.op_type == "MaxPool") return after_max_pool(node);
    if (node.op_type == "QLinearGlobalAveragePool")
      return after_average(node, params_of<QLinearGlobalAveragePool>(node));
    if (node.op_type == "QLinearAveragePool") {
      const auto& params = params_of<QLinearAveragePool>(node);
      return params.global ? after_average(node, *params.global) : ChannelRanges{};
    }
    return {};
  }

  DType type_of(ValueId id) const { return *graph_.value(id).dtype; }
  const ChannelRanges& known(ValueId id) const { return ranges_[static_cast<std::size_t>(id)]; }

  // Of channel `c`, along the axis that the reader takes for that of channels.
  Interval range(ValueId id, int axis, std::int64_t c) const {
    const ChannelRanges& ranges = known(id);
    return ranges.axis == axis ? ranges.channels[static_cast<std::size_t>(c)]
                               : everything(type_of(id));
  }

  // ---- convolutions ----

  bool is_constant(const Node& node, std::size_t input) const {
    return input >= node.inputs.size() || node.inputs[input] == kNoValue ||
           graph_.value(node.inputs[input]).constant != nullptr;
  }

  ChannelRanges after_conv(const Node& node, const QLinearConvParams& params) const {
    const ConvGeometry& g = params.geometry;
    ChannelRanges out;
    out.axis = channel_axis(g);
    const DType type = type_of(node.outputs[0]);
    const Interval most = limited(everything(type), params.low, params.high);
    out.channels.assign(static_cast<std::size_t>(g.out_channels), most);
    const bool forward = g.direction == ConvDirection::kForward;
    const bool constant =
        params.x && params.w && params.y && is_constant(node, 3) && is_constant(node, 8);
    if (!forward || !constant) return out;
    const std::vector<float> scale = combined_scale(*params.x, *params.w, *params.y);
    const int zero = params.y->zero_point_at(0);
    for (std::size_t m = 0; m < out.channels.size(); ++m) {
      const WideInterval sum = accumulator(node, params, static_cast<std::int64_t>(m));
      if (!sum.fits_int32()) continue;
      const auto result = [&](std::int64_t value) {
        return requantize(static_cast<std::int32_t>(value), scale[m % scale.size()], zero, type);
      };
      out.channels[m] = limited({result(sum.low), result(sum.high)}, params.low, params.high);
    }
    return out;
  }

  // Of output channel m, bias included. A tap on padding adds nothing.
  WideInterval accumulator(const Node& node, const QLinearConvParams& params,
                           std::int64_t m) const {
    const ConvGeometry& g = params.geometry;
    const Tensor& w = *graph_.value(node.inputs[3]).constant;
    const int w_zero = params.w->zero_point_at(m);
    const int x_zero = params.x->zero_point_at(0);
    const bool padded = std::any_of(g.axes.begin(), g.axes.end(), [](const ConvAxis& axis) {
      return axis.pad_begin > 0 || axis.pad_end > 0;
    });
    const std::int64_t in = g.in_per_group();
    const std::int64_t taps = w.size() / (g.out_channels * in);
    const std::int64_t first = m / g.out_per_group() * in;
    WideInterval sum;
    if (node.inputs.size() > 8 && node.inputs[8] != kNoValue)
      sum.low = sum.high = graph_.value(node.inputs[8]).constant->integer(m);
    for (std::int64_t c = 0; c < in; ++c) {
      const Interval x = range(node.inputs[0], channel_axis(g), first + c);
      std::int64_t low = x.low - x_zero, high = x.high - x_zero;
      if (padded) low = std::min<std::int64_t>(low, 0), high = std::max<std::int64_t>(high, 0);
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t weight = w.integer((m * in + c) * taps + tap) - w_zero;
        sum.low += weight > 0 ? weight * low : weight * high;
        sum.high += weight > 0 ? weight * high : weight * low;
      }
    }
    return sum;
  }

  ChannelRanges after_conv_add(const Node& node) const {
    const auto& params = params_of<QLinearConvAdd>(node);
    ChannelRanges out = after_conv(node, params.conv);
    QLinearBinary sum;
    sum.dtype = params.dtype;
    const ScalarQuantization own{params.conv.y->scale_at(0), params.conv.y->zero_point_at(0)};
    sum.a = params.residual_is_a ? params.residual : own;
    sum.b = params.residual_is_a ? own : params.residual;
    sum.c = params.sum;
    const QLinearBinaryFunction function(sum);
    for (std::size_t m = 0; m < out.channels.size(); ++m) {
      const Interval mine = out.channels[m];
      const Interval other = range(node.inputs[9], out.axis, static_cast<std::int64_t>(m));
      const Interval &a = params.residual_is_a ? other : mine,
                     &b = params.residual_is_a ? mine : other;
      out.channels[m] =
          limited({function(a.low, b.low), function(a.high, b.high)}, params.low, params.high);
    }
    return out;
  }

  // ---- single elements ----

  ChannelRanges after_table(const Node& node) const {
    const ChannelRanges& x = known(node.inputs[0]);
    const auto& constant = graph_.value(node.inputs[1]).constant;
    if (constant == nullptr || x.axis < 0) return {};
    ChannelRanges out{x.axis, {}};
    for (const Interval& from : x.channels) {
      Interval to{std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
      for (int v = from.low; v <= from.high; ++v) {
        const auto y = static_cast<int>(constant->integer(v & 255));
        to = {std::min(to.low, y), std::max(to.high, y)};
      }
      out.channels.push_back(to);
    }
    return out;
  }

  // Operands of a binary operator that reach over all channels, or nothing that can be used: the
  // axis they agree on.
  std::optional<int> common_axis(const Node& node,
                                 std::initializer_list<std::size_t> inputs) const {
    const auto rank = graph_.value(node.outputs[0]).shape->size();
    std::optional<int> axis;
    for (const std::size_t i : inputs) {
      const ValueId id = node.inputs[i];
      if (graph_.value(id).constant != nullptr) continue;
      const ChannelRanges& ranges = known(id);
      if (ranges.axis < 0 || graph_.value(id).shape->size() != rank) return std::nullopt;
      if (axis && *axis != ranges.axis) return std::nullopt;
      axis = ranges.axis;
    }
    return axis;
  }

  ChannelRanges after_binary(const Node& node) const {
    const auto& params = params_of<QLinearBinary>(node);
    const std::optional<int> axis = common_axis(node, {0, 3});
    if (!axis) return {};
    const bool multiplies = params.kind == QLinearBinary::Kind::kMul;
    const std::int64_t channels = params.shape[static_cast<std::size_t>(*axis)];
    ChannelRanges out{
        *axis, std::vector<Interval>(static_cast<std::size_t>(channels), everything(params.dtype))};
    if (params.at_run_time || (multiplies && product_may_leave_int32(params))) return out;
    const QLinearBinaryFunction function(params);
    for (std::int64_t c = 0; c < channels; ++c) {
      const Interval a = broadcast_range(node.inputs[0], *axis, c, channels);
      const Interval b = broadcast_range(node.inputs[3], *axis, c, channels);
      const auto corners = {function(a.low, b.low), function(a.low, b.high),
                            function(a.high, b.low), function(a.high, b.high)};
      out.channels[static_cast<std::size_t>(c)] = {std::min(corners), std::max(corners)};
    }
    return out;
  }

  // Nothing is known of a constant operand here, nor of one that has a single channel for all.
  Interval broadcast_range(ValueId id, int axis, std::int64_t c, std::int64_t channels) const {
    const ChannelRanges& ranges = known(id);
    const bool own = ranges.axis == axis && std::ssize(ranges.channels) == channels;
    return own ? ranges.channels[static_cast<std::size_t>(c)] : everything(type_of(id));
  }

  // ---- pools ----

  ChannelRanges after_max_pool(const Node& node) const {
    const PoolGeometry& g = params_of<MaxPool>(node).geometry;
    const ChannelRanges& x = known(node.inputs[0]);
    if (x.axis != channel_axis(g.layout, g.axes.size())) return {};
    ChannelRanges out = x;
    const bool may_be_empty = std::any_of(g.axes.begin(), g.axes.end(),
                                          [](const ConvAxis& axis) { return axis.dilation > 1; });
    if (may_be_empty) {
      for (Interval& channel : out.channels) channel.low = everything(type_of(node.outputs[0])).low;
    }
    return out;
  }

  ChannelRanges after_average(const Node& node, const QLinearGlobalAveragePool& params) const {
    const ChannelRanges& x = known(node.inputs[0]);
    const std::size_t spatial = params.shape.size() - 2;
    if (x.axis != channel_axis(params.layout, spatial)) return {};
    ChannelRanges out{x.axis, {}};
    const auto result = [&](int v) {
      const std::int64_t sum = (std::int64_t{v} - params.x_zero_point) * params.plane;
      return requantize(static_cast<std::int32_t>(sum), params.scale, params.y_zero_point,
                        params.dtype);  // at most 255 * 2^24
    };
    const bool fits = params.plane < (std::int64_t{1} << 23);
    for (const Interval& channel : x.channels) {
      out.channels.push_back(fits ? Interval{result(channel.low), result(channel.high)}
                                  : everything(params.dtype));
    }
    return out;
  }

  const Graph& graph_;
  std::vector<ChannelRanges> ranges_;
};

}  // namespace

std::vector<ChannelRanges> channel_ranges(const Graph& graph) { return Analysis(graph).run(); }

}  // namespace etch
