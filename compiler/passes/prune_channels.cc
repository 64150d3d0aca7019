// See prune_channels.h. Values whose channels are the same things form a group: a depthwise
// convolution, a table, a sum or a pooling joins its input to its output. A channel leaves all
// values of its group or none.
#include "compiler/passes/prune_channels.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/observation.h"
#include "compiler/base/text.h"
#include "compiler/ir/kept_channels.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/ops/qlinear_conv_add/op.h"
#include "compiler/ops/reference_math.h"
#include "compiler/passes/channel_ranges.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

using Flags = std::vector<bool>;
using Channels = std::vector<std::int64_t>;  // those that are kept, ascending

constexpr int kRounds = 8;  // what is removed may leave other channels without a reader

const QLinearConvParams* conv_of(const Node& node) {
  if (node.op_type == "QLinearConv") return &params_of<QLinearConvParams>(node);
  if (node.op_type == "QLinearConvAdd") return &params_of<QLinearConvAdd>(node).conv;
  return nullptr;
}

bool is_padded(const ConvGeometry& g) {
  return std::any_of(g.axes.begin(), g.axes.end(),
                     [](const ConvAxis& axis) { return axis.pad_begin > 0 || axis.pad_end > 0; });
}

bool is_depthwise(const ConvGeometry& g) {
  return g.group > 1 && g.group == g.in_channels && g.group == g.out_channels;
}

// The parts of `tensor` along `axis` that `kept` names.
Tensor selected(const Tensor& tensor, std::size_t axis, const Channels& kept) {
  Shape shape = tensor.shape();
  const std::int64_t size = shape[axis];
  shape[axis] = std::ssize(kept);
  std::int64_t inner = bytes_of(tensor.dtype());
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  const std::int64_t outer = size * inner == 0 ? 0 : std::ssize(tensor.bytes()) / (size * inner);
  Tensor out(tensor.dtype(), shape);
  auto to = out.mutable_bytes().begin();
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const std::int64_t channel : kept)
      to = std::copy_n(tensor.bytes().begin() + (o * size + channel) * inner, inner, to);
  }
  return out;
}

// What is left of `before` (empty: all) after a round in which its places `kept` are.
Channels left_of(const Channels& before, const Channels& kept) {
  if (before.empty()) return kept;
  Channels out;
  for (const std::int64_t place : kept) out.push_back(before[static_cast<std::size_t>(place)]);
  return out;
}

class Pruning {
 public:
  Pruning(Graph& graph, std::int64_t granule)
      : graph_(graph), granule_(granule), ranges_(channel_ranges(graph)) {
    parent_.resize(graph.values.size());
    std::iota(parent_.begin(), parent_.end(), 0);
    pinned_.assign(graph.values.size(), false);
  }

  // True when something was removed.
  bool run() {
    for (const ValueId id : graph_.inputs) pin(id);
    for (const ValueId id : graph_.outputs) pin(id);
    for (const Node& node : graph_.nodes) connect(node);
    find_needed();
    if (kept_.empty()) return false;
    for (Node& node : graph_.nodes) rewrite(node);
    return true;
  }

 private:
  // ---- groups of values ----

  int root(ValueId id) const {
    while (parent_[static_cast<std::size_t>(id)] != id) id = parent_[static_cast<std::size_t>(id)];
    return id;
  }
  void pin(ValueId id) {
    if (id != kNoValue) pinned_[static_cast<std::size_t>(id)] = true;
  }
  void join(ValueId a, ValueId b) {
    const bool same_axis = ranges_of(a).axis == ranges_of(b).axis && ranges_of(a).axis >= 0 &&
                           ranges_of(a).channels.size() == ranges_of(b).channels.size();
    if (!same_axis) {
      pin(a);
      pin(b);
      return;
    }
    parent_[static_cast<std::size_t>(root(a))] = root(b);
  }
  const ChannelRanges& ranges_of(ValueId id) const { return ranges_[static_cast<std::size_t>(id)]; }
  bool is_constant(ValueId id) const {
    return id == kNoValue || graph_.value(id).constant != nullptr;
  }

  // A convolution whose weights can be taken apart.
  bool is_known(const Node& node, const QLinearConvParams& params) const {
    return params.geometry.direction == ConvDirection::kForward && params.x && params.w &&
           params.y && is_constant(node.inputs[3]) &&
           (node.inputs.size() <= 8 || is_constant(node.inputs[8])) && !is_constant(node.inputs[0]);
  }

  void connect(const Node& node) {
    const QLinearConvParams* conv = conv_of(node);
    if (conv != nullptr && is_known(node, *conv)) return connect_conv(node, *conv);
    const ValueId y = node.outputs.empty() ? kNoValue : node.outputs[0];
    if (y != kNoValue && ranges_of(y).axis >= 0 && conv == nullptr) {
      if (node.op_type == "QLinearAdd" || node.op_type == "QLinearMul") return connect_binary(node);
      // Table and poolings: only input 0 has channels.
      return join(node.inputs[0], y);
    }
    for (const ValueId id : node.inputs) pin(id);
    for (const ValueId id : node.outputs) pin(id);
  }

  void connect_conv(const Node& node, const QLinearConvParams& params) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    if (ranges_of(x).axis != channel_axis(params.geometry)) pin(x);
    if (node.op_type == "QLinearConvAdd") join(node.inputs[9], y);
    if (is_depthwise(params.geometry)) return join(x, y);
    if (params.geometry.group == 1) return;
    pin(x);
    pin(y);
  }

  void connect_binary(const Node& node) {
    const ValueId y = node.outputs[0];
    const auto axis = static_cast<std::size_t>(ranges_of(y).axis);
    for (const std::size_t i : {std::size_t{0}, std::size_t{3}}) {
      const ValueId side = node.inputs[i];
      const Shape& shape = *graph_.value(side).shape;
      const std::size_t rank = graph_.value(y).shape->size();
      const bool one_for_all = shape.size() + axis < rank || shape[shape.size() + axis - rank] == 1;
      if (is_constant(side)) {
        if (!one_for_all) pin(y);
      } else if (one_for_all) {
        pin(side);
        pin(y);
      } else {
        join(side, y);
      }
    }
  }

  // ---- what is needed ----

  // Whether all outputs of a convolution of one group can do without channel c of its input.
  bool is_spared(const Node& node, const QLinearConvParams& params, std::int64_t c) const {
    const ValueId x = node.inputs[0];
    const auto axis_is_known = ranges_of(x).axis >= 0;
    if (axis_is_known) {
      const Interval range = ranges_of(x).channels[static_cast<std::size_t>(c)];
      const bool adds_nothing = range.is_constant() && range.low == params.x->zero_point_at(0);
      if (adds_nothing || (range.is_constant() && !is_padded(params.geometry))) return true;
    }
    const Tensor& w = *graph_.value(node.inputs[3]).constant;
    const std::int64_t in = params.geometry.in_channels;
    const std::int64_t taps = w.size() / (params.geometry.out_channels * in);
    for (std::int64_t m = 0; m < params.geometry.out_channels; ++m) {
      const int zero = params.w->zero_point_at(m);
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        if (w.integer((m * in + c) * taps + tap) != zero) return false;
      }
    }
    return true;
  }

  void find_needed() {
    std::map<int, Flags> needed;  // by root
    std::map<int, bool> fixed;
    for (ValueId id = 0; id < std::ssize(graph_.values); ++id) {
      if (ranges_of(id).axis < 0) continue;
      needed[root(id)].resize(ranges_of(id).channels.size());
      fixed[root(id)] = fixed[root(id)] || pinned_[static_cast<std::size_t>(id)];
    }
    for (const Node& node : graph_.nodes) {
      const QLinearConvParams* conv = conv_of(node);
      if (conv == nullptr || !is_known(node, *conv) || conv->geometry.group != 1) continue;
      const ValueId x = node.inputs[0];
      if (ranges_of(x).axis < 0 || fixed[root(x)]) continue;
      Flags& flags = needed[root(x)];
      for (std::size_t c = 0; c < flags.size(); ++c) {
        if (!flags[c]) flags[c] = !is_spared(node, *conv, static_cast<std::int64_t>(c));
      }
    }
    for (const auto& [group, flags] : needed) {
      if (!fixed[group]) keep(group, flags);
    }
  }

  // The needed channels, and others up to whole granules.
  void keep(int group, Flags flags) {
    const auto all = static_cast<std::int64_t>(flags.size());
    const std::int64_t count = std::count(flags.begin(), flags.end(), true);
    std::int64_t more = std::max<std::int64_t>((count + granule_ - 1) / granule_ * granule_, 1);
    more = std::min(more, all) - count;
    for (std::size_t c = 0; c < flags.size() && more > 0; ++c) {
      if (flags[c]) continue;
      flags[c] = true;
      --more;
    }
    Channels kept;
    for (std::int64_t c = 0; c < all; ++c) {
      if (flags[static_cast<std::size_t>(c)]) kept.push_back(c);
    }
    if (std::ssize(kept) == all) return;
    kept_.emplace(group, std::move(kept));
  }

  const Channels* kept(ValueId id) const {
    if (id == kNoValue || ranges_of(id).axis < 0) return nullptr;
    const auto it = kept_.find(root(id));
    return it == kept_.end() ? nullptr : &it->second;
  }

  // ---- rewriting ----

  void rewrite(Node& node) {
    const bool touched =
        std::any_of(node.inputs.begin(), node.inputs.end(), [&](auto id) { return kept(id); }) ||
        std::any_of(node.outputs.begin(), node.outputs.end(), [&](auto id) { return kept(id); });
    if (!touched) return;
    if (const QLinearConvParams* conv = conv_of(node)) rewrite_conv(node, *conv);
    node.params.reset();
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) graph_.value(id).shape.reset();  // as declared before
    }
    Sink none;
    ETCH_CHECK(resolve_node(graph_, node, none));
  }

  // Input `i` with the parts of its only axis that `channels` names, unless it is one for all.
  void select(Node& node, std::size_t i, const Channels& channels) {
    if (i >= node.inputs.size() || node.inputs[i] == kNoValue) return;
    const Tensor& tensor = *graph_.value(node.inputs[i]).constant;
    if (tensor.shape().empty() || tensor.size() == 1) return;
    node.inputs[i] = graph_.add_constant(selected(tensor, 0, channels));
    grow();
  }

  void rewrite_conv(Node& node, const QLinearConvParams& params) {
    const bool depthwise = is_depthwise(params.geometry);
    const Channels* in = kept(node.inputs[0]);
    const Channels* out = kept(node.outputs[0]);
    tell(node, depthwise ? nullptr : in, out);
    if (in != nullptr && !depthwise) {
      fold_constants(node, params, *in);
      const Tensor weights = selected(*graph_.value(node.inputs[3]).constant, 1, *in);
      node.inputs[3] = graph_.add_constant(weights);
      grow();
    }
    if (out == nullptr) return;
    const Tensor weights = selected(*graph_.value(node.inputs[3]).constant, 0, *out);
    node.inputs[3] = graph_.add_constant(weights);
    grow();
    for (const std::size_t per_channel : {4U, 5U, 8U}) select(node, per_channel, *out);
    if (depthwise) node.attributes["group"] = std::int64_t{std::ssize(*out)};
  }

  static void tell(const Node& node, const Channels* in, const Channels* out) {
    KeptChannelsLog* const log = Observation<KeptChannelsLog>::current();
    if (log == nullptr) return;
    KeptChannels& left = (*log)[node.index];
    if (in != nullptr) left.inputs = left_of(left.inputs, *in);
    if (out != nullptr) left.outputs = left_of(left.outputs, *out);
  }

  // Into the bias: what the channels that are not in `in` add to every pixel.
  void fold_constants(Node& node, const QLinearConvParams& params, const Channels& in) {
    const ConvGeometry& g = params.geometry;
    const Tensor& w = *graph_.value(node.inputs[3]).constant;
    const std::int64_t taps = w.size() / (g.out_channels * g.in_channels);
    std::vector<std::int64_t> added(static_cast<std::size_t>(g.out_channels), 0);
    bool any = false;
    for (std::int64_t c = 0; c < g.in_channels; ++c) {
      if (std::binary_search(in.begin(), in.end(), c)) continue;
      const Interval range = ranges_of(node.inputs[0]).channels[static_cast<std::size_t>(c)];
      const std::int64_t x = range.low - params.x->zero_point_at(0);
      if (!range.is_constant() || x == 0) continue;  // then its weights are 0, or it is
      for (std::int64_t m = 0; m < g.out_channels; ++m) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          const std::int64_t weight = w.integer((m * g.in_channels + c) * taps + tap);
          added[static_cast<std::size_t>(m)] += x * (weight - params.w->zero_point_at(m));
        }
      }
      any = true;
    }
    if (any) add_to_bias(node, added);
  }

  void add_to_bias(Node& node, const std::vector<std::int64_t>& added) {
    if (node.inputs.size() < 9) node.inputs.resize(9, kNoValue);
    const Tensor* before =
        node.inputs[8] == kNoValue ? nullptr : graph_.value(node.inputs[8]).constant.get();
    std::vector<std::int32_t> bias;
    for (std::size_t m = 0; m < added.size(); ++m) {
      const std::int64_t old =
          before == nullptr ? 0 : before->integer(static_cast<std::int64_t>(m));
      bias.push_back(wrap_to_int32(old + added[m]));
    }
    const auto channels = static_cast<std::int64_t>(bias.size());
    node.inputs[8] = graph_.add_constant(narrowed(DType::kS32, {channels}, bias));
    grow();
  }

  // New values are constants without channels of their own.
  void grow() {
    ranges_.resize(graph_.values.size());
    while (parent_.size() < graph_.values.size())
      parent_.push_back(static_cast<int>(parent_.size()));
  }

  Graph& graph_;
  std::int64_t granule_;
  std::vector<ChannelRanges> ranges_;
  std::vector<int> parent_;
  Flags pinned_;
  std::map<int, Channels> kept_;  // by root, of groups that lose channels
};

// Multiplications of all convolutions with 8-bit results.
std::int64_t multiplications(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes) {
    const QLinearConvParams* conv = conv_of(node);
    if (conv == nullptr || conv->geometry.direction != ConvDirection::kForward) continue;
    const ConvGeometry& g = conv->geometry;
    std::int64_t macs = g.batch * g.out_channels * g.in_per_group();
    for (const ConvAxis& axis : g.axes) macs *= axis.out * axis.kernel;
    sum += macs;
  }
  return sum;
}

// Channels between convolutions: those that the pass looks at.
std::int64_t channels_made(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes) {
    const QLinearConvParams* conv = conv_of(node);
    if (conv != nullptr && conv->geometry.direction == ConvDirection::kForward)
      sum += conv->geometry.out_channels;
  }
  return sum;
}

}  // namespace

void prune_channels(Graph& graph, std::int64_t granule) {
  const std::int64_t macs = multiplications(graph);
  const std::int64_t channels = channels_made(graph);
  if (KeptChannelsLog* const log = Observation<KeptChannelsLog>::current()) log->clear();
  for (int round = 0; round < kRounds && Pruning(graph, granule).run(); ++round) {
  }
  graph.pruning = {channels - channels_made(graph), channels, macs - multiplications(graph), macs};
}

}  // namespace etch
