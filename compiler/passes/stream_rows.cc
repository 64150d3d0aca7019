// See stream_rows.h. A band is planned backwards: from the rows of the last output to the rows of
// every value that they need, the hull where several operators read one.
#include "compiler/passes/stream_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/ops/qlinear_conv_add/op.h"
#include "compiler/ops/quantize_linear/op.h"
#include "compiler/passes/order_regions.h"
#include "compiler/passes/row_bands.h"

namespace etch {
namespace {

const ConvGeometry* geometry_of(const Node& node) {
  if (node.op_type == "QLinearConv") return &params_of<QLinearConvParams>(node).geometry;
  if (node.op_type == "QLinearConvAdd") return &params_of<QLinearConvAdd>(node).conv.geometry;
  return nullptr;
}

bool is_band_conv(const ConvGeometry& geometry) {
  return geometry.layout == ConvLayout::kChannelsFirst && geometry.batch == 1 &&
         geometry.axes.size() == 2 && geometry.direction == ConvDirection::kForward;
}

// Inputs that have rows; the others are constants.
std::vector<std::size_t> row_inputs(const Node& node) {
  if (node.op_type == "QLinearConvAdd") return {0, 9};
  if (node.op_type == "QLinearAdd") return {0, 3};
  return {0};
}

// What of the rows of its input a node needs for rows of its output.
std::optional<BandInput> rows_read(const Node& node, std::size_t input, Rows y) {
  const ConvGeometry* const geometry = geometry_of(node);
  if (geometry == nullptr || input != 0) return BandInput{y, 0, 0};
  return band_input(geometry->axes[0], y);
}

using Needs = std::map<ValueId, Rows>;

class Streamer {
 public:
  explicit Streamer(const Graph& graph)
      : graph_(graph), consumers_(consumers_of(graph)), producers_(producers_of(graph)) {}

  // Indices of the nodes that only `last` needs, `last` at the end; those that are suitable.
  std::vector<std::size_t> segment(std::size_t last) const {
    std::vector<bool> in(graph_.nodes.size(), false);
    if (!is_suitable(graph_.nodes[last])) return {};
    in[last] = true;
    for (std::size_t i = last; i-- > 0;) in[i] = feeds_only(i, in) && is_suitable(graph_.nodes[i]);
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i <= last; ++i) {
      if (in[i]) out.push_back(i);
    }
    return out;
  }

  // The rows of every value that a band needs, those of values from outside included.
  std::optional<Needs> needs_of(const std::vector<std::size_t>& nodes, Rows y) const {
    Needs needs;
    needs[graph_.nodes[nodes.back()].outputs[0]] = y;
    for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
      const Node& node = graph_.nodes[*at];
      for (const std::size_t input : row_inputs(node)) {
        const auto read = rows_read(node, input, needs.at(node.outputs[0]));
        if (!read) return std::nullopt;
        const auto [it, is_new] = needs.emplace(node.inputs[input], read->rows);
        if (is_new) continue;
        it->second = {std::min(it->second.first, read->rows.first),
                      std::max(it->second.end, read->rows.end)};
      }
    }
    return needs;
  }

  // The bands of `rows` rows, or nothing if one of them sees only padding.
  std::optional<std::vector<Needs>> bands(const std::vector<std::size_t>& nodes,
                                          std::int64_t rows) const {
    const std::int64_t out = rows_of(graph_.nodes[nodes.back()].outputs[0]);
    std::vector<Needs> bands;
    for (std::int64_t first = 0; first < out; first += rows) {
      auto needs = needs_of(nodes, {first, std::min(out, first + rows)});
      if (!needs) return std::nullopt;
      bands.push_back(*std::move(needs));
    }
    return bands;
  }

  std::int64_t rows_of(ValueId id) const { return (*graph_.value(id).shape)[2]; }

  std::int64_t macs_of(const Node& node) const {
    const ConvGeometry* const geometry = geometry_of(node);
    if (geometry == nullptr) return 0;
    return element_count(*graph_.value(node.outputs[0]).shape) * geometry->in_per_group() *
           geometry->axes[0].kernel * geometry->axes[1].kernel;
  }

  std::int64_t network_macs() const {
    std::int64_t sum = 0;
    for (const Node& node : graph_.nodes) sum += macs_of(node);
    return sum;
  }

  std::int64_t repeated_macs(const std::vector<std::size_t>& nodes,
                             const std::vector<Needs>& bands) const {
    std::int64_t sum = 0;
    for (const std::size_t at : nodes) {
      const Node& node = graph_.nodes[at];
      const std::int64_t per_row = macs_of(node) / rows_of(node.outputs[0]);
      std::int64_t rows = -rows_of(node.outputs[0]);
      for (const Needs& needs : bands) rows += needs.at(node.outputs[0]).count();
      sum += per_row * std::max<std::int64_t>(0, rows);  // a stride may leave rows out
    }
    return sum;
  }

  // Bytes live at once: of the band that needs most, beside the whole output and what comes from
  // outside; and of the rest of the network, where an output overlaps its input if it can.
  std::int64_t estimate(const std::vector<std::size_t>& nodes,
                        const std::vector<Needs>& bands) const {
    std::int64_t band = 0;
    for (const Needs& needs : bands) band = std::max(band, band_bytes(nodes, needs));
    std::int64_t outside = bytes_of_value(graph_.nodes[nodes.back()].outputs[0]);
    for (const auto& [value, rows] : bands.front()) {
      const bool inner = is_inside(producers_[static_cast<std::size_t>(value)], nodes);
      if (!inner && !is_input(value)) outside += bytes_of_value(value);
    }
    return std::max(band + outside, rest_bytes(nodes));
  }

  bool is_inside(int node, const std::vector<std::size_t>& nodes) const {
    return node >= 0 &&
           std::binary_search(nodes.begin(), nodes.end(), static_cast<std::size_t>(node));
  }

 private:
  bool is_suitable(const Node& node) const {
    const Shape* const y = node.outputs.empty() || node.outputs[0] == kNoValue
                               ? nullptr
                               : &*graph_.value(node.outputs[0]).shape;
    if (y == nullptr || y->size() != 4 || (*y)[0] != 1 || element_count(*y) == 0) return false;
    if (const ConvGeometry* const geometry = geometry_of(node)) {
      if (!is_band_conv(*geometry)) return false;
    } else if (node.op_type == "QuantizeLinear") {
      const auto& params = params_of<QuantizeLinearParams>(node);
      if (!params.y || params.y->scale.size() != 1) return false;
    } else if (node.op_type == "QLinearAdd") {
      const auto shape = [&](std::size_t i) { return *graph_.value(node.inputs[i]).shape; };
      if (shape(0) != *y || shape(3) != *y) return false;
      // One row of one element would be a scalar, with which the operands exchange their roles.
      if ((*y)[1] == 1 && (*y)[3] == 1) return false;
    } else {
      return false;
    }
    return rest_is_constant(node);
  }

  // Inputs with rows are not constant, all others are.
  bool rest_is_constant(const Node& node) const {
    const std::vector<std::size_t> rows = row_inputs(node);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const bool has_rows = std::find(rows.begin(), rows.end(), i) != rows.end();
      if (node.inputs[i] == kNoValue) {
        if (has_rows) return false;
        continue;
      }
      const Value& value = graph_.value(node.inputs[i]);
      if (has_rows == (value.constant != nullptr)) return false;
    }
    return true;
  }

  bool is_output(ValueId id) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
  }
  // Of the network, as itself or as another view of it: not in the arena.
  bool is_input(ValueId id) const {
    const int producer = producers_[static_cast<std::size_t>(id)];
    if (producer < 0) return true;
    const Node& node = graph_.nodes[static_cast<std::size_t>(producer)];
    return node.op_type == "Transpose" && is_input(node.inputs[0]);
  }

  bool feeds_only(std::size_t i, const std::vector<bool>& segment) const {
    const Node& node = graph_.nodes[i];
    if (node.outputs.size() != 1 || node.outputs[0] == kNoValue) return false;
    const ValueId y = node.outputs[0];
    const auto& readers = consumers_[static_cast<std::size_t>(y)];
    return !readers.empty() && !is_output(y) &&
           std::all_of(readers.begin(), readers.end(),
                       [&](int reader) { return segment[static_cast<std::size_t>(reader)]; });
  }

  std::int64_t bytes_of_value(ValueId id) const {
    const Value& value = graph_.value(id);
    return element_count(*value.shape) * bytes_of(*value.dtype);
  }

  std::int64_t band_bytes(const std::vector<std::size_t>& nodes, const Needs& needs) const {
    const auto bytes = [&](ValueId id) {
      return bytes_of_value(id) / rows_of(id) * needs.at(id).count();
    };
    std::int64_t most = 0;
    for (std::size_t k = 0; k + 1 < nodes.size(); ++k) {
      std::int64_t live = 0;
      for (std::size_t i = 0; i <= k; ++i) {
        const ValueId y = graph_.nodes[nodes[i]].outputs[0];
        const auto& readers = consumers_[static_cast<std::size_t>(y)];
        const bool still = i == k || std::any_of(readers.begin(), readers.end(), [&](int reader) {
                             return static_cast<std::size_t>(reader) >= nodes[k];
                           });
        if (still) live += bytes(y);
      }
      most = std::max(most, live);
    }
    return most;
  }

  std::int64_t rest_bytes(const std::vector<std::size_t>& nodes) const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (is_inside(static_cast<int>(i), nodes)) continue;
      const Node& node = graph_.nodes[i];
      for (const ValueId id : node.outputs) {
        if (id != kNoValue && !is_input(id)) most = std::max(most, bytes_of_value(id));
      }
    }
    return most;
  }

  const Graph& graph_;
  const std::vector<std::vector<int>> consumers_;
  const std::vector<int> producers_;
};

std::int64_t convolutions(const Graph& graph, const std::vector<std::size_t>& nodes) {
  return std::count_if(nodes.begin(), nodes.end(),
                       [&](std::size_t i) { return geometry_of(graph.nodes[i]) != nullptr; });
}

std::int64_t weight_bytes(const Graph& graph, const std::vector<std::size_t>& nodes) {
  std::int64_t sum = 0;
  for (const std::size_t i : nodes) {
    if (geometry_of(graph.nodes[i]) != nullptr)
      sum += element_count(*graph.value(graph.nodes[i].inputs[3]).shape);
  }
  return sum;
}

// The ways to divide the rows of one segment's output.
void add_streams(const Graph& graph, const Streamer& streamer,
                 const std::vector<std::size_t>& nodes, double most_repeated,
                 std::vector<RowStream>& out) {
  const std::int64_t rows = streamer.rows_of(graph.nodes[nodes.back()].outputs[0]);
  const auto most =
      static_cast<std::int64_t>(most_repeated * static_cast<double>(streamer.network_macs()));
  std::int64_t last = rows;
  for (std::int64_t bands = 2; bands <= std::min(rows, kMostBands); ++bands) {
    RowStream stream{nodes.back(), ceil_div(rows, bands), 0, 0, 0};
    if (stream.rows == last) continue;
    last = stream.rows;
    const auto plan = streamer.bands(nodes, stream.rows);
    if (!plan) continue;
    stream.bands = static_cast<std::int64_t>(plan->size());
    if (weight_bytes(graph, nodes) > kMostBandWeightBytes / stream.bands) return;
    if (nodes.size() * plan->size() > kMostBandNodes) return;
    stream.repeated_macs = streamer.repeated_macs(nodes, *plan);
    if (stream.repeated_macs > most) continue;
    stream.estimate = streamer.estimate(nodes, *plan);
    out.push_back(stream);
  }
}

// Makes the nodes of all bands.
class Rewriter {
 public:
  Rewriter(Graph& graph, const Streamer& streamer, std::vector<std::size_t> nodes)
      : graph_(graph), streamer_(streamer), nodes_(std::move(nodes)), originals_(graph.nodes) {}

  std::vector<Node> run(const std::vector<Needs>& bands) {
    std::vector<ValueId> parts;
    parts.reserve(bands.size());
    for (const Needs& needs : bands) parts.push_back(add_band(needs));
    const Node& last = originals_[nodes_.back()];
    add_row_join(graph_, last, std::move(parts), made_);
    return std::move(made_);
  }

 private:
  ValueId add_band(const Needs& needs) {
    computed_.clear();
    slices_.clear();
    for (const std::size_t at : nodes_) {
      const Node& original = originals_[at];
      Node node = original;
      const ValueId y = original.outputs[0];
      for (const std::size_t input : row_inputs(original)) {
        const auto read = rows_read(original, input, needs.at(y));
        node.inputs[input] = rows_from(original, original.inputs[input], read->rows, needs);
        const ConvGeometry* const geometry = geometry_of(original);
        if (geometry != nullptr && input == 0) set_pads(node, *read, geometry->axes[1]);
      }
      const ValueId part = add_like(graph_, y);
      add_node(graph_, std::move(node), original, part, made_);
      computed_[y] = part;
    }
    return computed_.at(originals_[nodes_.back()].outputs[0]);
  }

  // Rows of a value: of the band's if it computes the value, else of the whole.
  ValueId rows_from(const Node& reader, ValueId value, Rows rows, const Needs& needs) {
    const auto own = computed_.find(value);
    const Rows there = own == computed_.end() ? Rows{0, streamer_.rows_of(value)} : needs.at(value);
    const ValueId from = own == computed_.end() ? value : own->second;
    if (rows == there) return from;
    const auto [it, is_new] = slices_.try_emplace({from, {rows.first, rows.end}}, kNoValue);
    if (is_new) {
      const Rows within{rows.first - there.first, rows.end - there.first};
      it->second = add_row_slice(graph_, reader, from, within, made_);
    }
    return it->second;
  }

  Graph& graph_;
  const Streamer& streamer_;
  const std::vector<std::size_t> nodes_;
  const std::vector<Node> originals_;
  std::vector<Node> made_;
  std::map<ValueId, ValueId> computed_;  // in this band
  std::map<std::pair<ValueId, std::pair<std::int64_t, std::int64_t>>, ValueId> slices_;
};

}  // namespace

std::vector<RowStream> row_streams(const Graph& graph, double most_repeated, std::size_t most) {
  const Streamer streamer(graph);
  std::vector<RowStream> out;
  for (std::size_t last = 0; last < graph.nodes.size(); ++last) {
    if (geometry_of(graph.nodes[last]) == nullptr) continue;
    const std::vector<std::size_t> nodes = streamer.segment(last);
    if (convolutions(graph, nodes) < 2) continue;
    add_streams(graph, streamer, nodes, most_repeated, out);
  }
  std::stable_sort(out.begin(), out.end(), [](const RowStream& a, const RowStream& b) {
    return std::pair(a.estimate, a.repeated_macs) < std::pair(b.estimate, b.repeated_macs);
  });
  if (out.size() > most) out.resize(most);
  return out;
}

void stream_rows(Graph& graph, const RowStream& stream) {
  const Graph before = graph;
  const Streamer streamer(before);
  const std::vector<std::size_t> nodes = streamer.segment(stream.last);
  const auto bands = streamer.bands(nodes, stream.rows);
  ETCH_CHECK(bands && static_cast<std::int64_t>(bands->size()) == stream.bands);
  std::vector<Node> made = Rewriter(graph, streamer, nodes).run(*bands);
  for (const std::size_t at : nodes) {
    if (geometry_of(before.nodes[at]) == nullptr) continue;
    graph.fusions.fused(before.nodes[at],
                        cat("runs in ", counted(stream.bands, "band"), " of rows"));
  }
  std::vector<Node> all;
  for (std::size_t i = 0; i < before.nodes.size(); ++i) {
    if (i == stream.last) std::move(made.begin(), made.end(), std::back_inserter(all));
    if (!streamer.is_inside(static_cast<int>(i), nodes)) all.push_back(before.nodes[i]);
  }
  graph.nodes = std::move(all);
  order_regions(graph);
}

}  // namespace etch
