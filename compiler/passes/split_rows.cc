// See split_rows.h.
#include "compiler/passes/split_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_conv/op.h"
#include "compiler/passes/row_bands.h"

namespace etch {

namespace {

// The data between two bands should leave a second-level cache room for weights.
constexpr std::int64_t kBestBandBytes = std::int64_t{512} << 10;

// Rows of neighbouring bands are computed twice. For speed that may cost a tenth; who asks for less
// memory than that may pay as much again.
constexpr double kMostRepeated = 0.1, kMostRepeatedForMemory = 1.0;
constexpr std::size_t kLongestChain = 8;

class RowSplitter {
 public:
  RowSplitter(Graph& graph, std::int64_t above)
      : graph_(graph), above_(above), consumers_(consumers_of(graph)) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    std::vector<bool> taken(nodes.size(), false);
    std::vector<std::pair<std::size_t, std::vector<Node>>> made;  // by the last of its nodes
    std::size_t made_nodes = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (taken[i]) continue;
      std::vector<std::size_t> chain = chain_from(nodes, i);
      std::vector<Node> bands;
      for (; chain.size() >= 2; chain.pop_back()) {
        const std::int64_t rows = rows_per_band(nodes, chain);
        if (rows > 0) bands = bands_of(nodes, chain, rows);
        if (!bands.empty()) break;
      }
      if (bands.empty() || made_nodes + bands.size() > kMostBandNodes) continue;
      made_nodes += bands.size();
      for (const std::size_t each : chain) taken[each] = true;
      made.emplace_back(chain.back(), std::move(bands));
    }
    std::sort(made.begin(), made.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    auto next = made.begin();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (next != made.end() && next->first == i) {
        std::move(next->second.begin(), next->second.end(), std::back_inserter(graph_.nodes));
        ++next;
      }
      if (!taken[i]) graph_.nodes.push_back(std::move(nodes[i]));
    }
  }

 private:
  const ConvAxis& rows_of(const Node& node) const {
    return params_of<QLinearConvParams>(node).geometry.axes.front();
  }
  std::int64_t bytes_between(const Node& node) const {
    return element_count(*graph_.value(node.outputs[0]).shape);
  }

  bool is_suitable(const Node& node) const {
    if (node.op_type != "QLinearConv") return false;
    const auto& params = params_of<QLinearConvParams>(node);
    const ConvGeometry& geometry = params.geometry;
    const bool shaped = geometry.layout == ConvLayout::kChannelsFirst && geometry.batch == 1 &&
                        geometry.axes.size() == 2;
    const bool constant = std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId id) {
      return id == kNoValue || graph_.value(id).constant != nullptr;
    });
    return shaped && constant && graph_.value(node.inputs[0]).constant == nullptr;
  }

  // Indices of convolutions that follow one another with too much between them, from node i on.
  std::vector<std::size_t> chain_from(const std::vector<Node>& nodes, std::size_t i) const {
    std::vector<std::size_t> chain;
    for (;;) {
      const Node& node = nodes[i];
      if (!is_suitable(node)) return chain;
      chain.push_back(i);
      const ValueId y = node.outputs[0];
      const auto& readers = consumers_[static_cast<std::size_t>(y)];
      const bool goes_on = chain.size() < kLongestChain && bytes_between(node) > above_ &&
                           readers.size() == 1 && !is_output(y) &&
                           nodes[static_cast<std::size_t>(readers[0])].inputs[0] == y;
      if (!goes_on) return chain;
      i = static_cast<std::size_t>(readers[0]);
    }
  }

  bool is_output(ValueId id) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
  }

  // What each node of the chain reads so that the last one can compute `y`.
  std::optional<std::vector<BandInput>> inputs_of(const std::vector<Node>& nodes,
                                                  const std::vector<std::size_t>& chain,
                                                  Rows y) const {
    std::vector<BandInput> out(chain.size());
    for (std::size_t k = chain.size(); k-- > 0;) {
      const auto input = band_input(rows_of(nodes[chain[k]]), y);
      if (!input) return std::nullopt;
      out[k] = *input;
      y = input->rows;
    }
    return out;
  }

  // The most bytes between two nodes of a band of `rows` rows of the last one's output.
  std::int64_t band_bytes(const std::vector<Node>& nodes, const std::vector<std::size_t>& chain,
                          std::int64_t rows) const {
    std::int64_t most = 0;
    for (std::size_t k = chain.size() - 1; k > 0; --k) {
      const ConvAxis& axis = rows_of(nodes[chain[k]]);
      rows = std::min(axis.in, (rows - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1);
      most = std::max(most, bytes_between(nodes[chain[k - 1]]) / axis.in * rows);
    }
    return most;
  }

  std::int64_t macs_of(const Node& node) const {
    const ConvGeometry& geometry = params_of<QLinearConvParams>(node).geometry;
    return bytes_between(node) * geometry.in_per_group() * geometry.axes[0].kernel *
           geometry.axes[1].kernel;
  }

  // What bands of `rows` rows compute twice, as a part of the whole.
  double repeated(const std::vector<Node>& nodes, const std::vector<std::size_t>& chain,
                  std::int64_t rows) const {
    const std::int64_t out = rows_of(nodes[chain.back()]).out;
    double whole = 0, computed = static_cast<double>(macs_of(nodes[chain.back()]));
    for (const std::size_t each : chain) whole += static_cast<double>(macs_of(nodes[each]));
    for (std::int64_t first = 0; first < out; first += rows) {
      Rows y{first, std::min(out, first + rows)};
      for (std::size_t k = chain.size() - 1; k > 0; --k) {
        const auto input = band_input(rows_of(nodes[chain[k]]), y);
        if (!input) return 1e9;
        y = input->rows;
        const Node& before = nodes[chain[k - 1]];
        computed += static_cast<double>(macs_of(before)) * static_cast<double>(y.count()) /
                    static_cast<double>(rows_of(before).out);
      }
    }
    return computed / whole - 1;
  }

  bool pays(const std::vector<Node>& nodes, const std::vector<std::size_t>& chain,
            std::int64_t rows) const {
    const std::int64_t bands = ceil_div(rows_of(nodes[chain.back()]).out, rows);
    std::int64_t weights = 0;
    for (const std::size_t each : chain)
      weights += element_count(*graph_.value(nodes[each].inputs[3]).shape);
    const double most = above_ < kSplitRowsAbove ? kMostRepeatedForMemory : kMostRepeated;
    return bands <= kMostBands && weights <= kMostBandWeightBytes / bands &&
           repeated(nodes, chain, rows) <= most;
  }

  // Bands of equal size share their code: the greatest number of rows up to `rows`, and not much
  // less, that makes them equal.
  static std::int64_t evenly(std::int64_t out, std::int64_t rows) {
    const std::int64_t bands = ceil_div(out, rows);
    for (std::int64_t equal = bands; equal <= bands + bands / 2; ++equal) {
      if (out % equal == 0) return out / equal;
    }
    return ceil_div(out, bands);
  }

  // Rows of a band, as many as a cache likes or more if they pay only then; 0 if nothing pays.
  std::int64_t rows_per_band(const std::vector<Node>& nodes,
                             const std::vector<std::size_t>& chain) const {
    const std::int64_t out = rows_of(nodes[chain.back()]).out;
    const std::int64_t best = std::min(above_, kBestBandBytes);
    std::int64_t rows = 1;
    while (rows < out && band_bytes(nodes, chain, rows + 1) <= best) ++rows;
    for (; rows < out && band_bytes(nodes, chain, rows) <= above_; rows += rows / 4 + 1) {
      if (const std::int64_t even = evenly(out, rows); pays(nodes, chain, even)) return even;
    }
    return 0;
  }

  std::vector<Node> bands_of(const std::vector<Node>& nodes, const std::vector<std::size_t>& chain,
                             std::int64_t rows) {
    const Node& last = nodes[chain.back()];
    const std::int64_t out = rows_of(last).out;
    std::vector<std::vector<BandInput>> bands;
    for (std::int64_t first = 0; first < out; first += rows) {
      auto inputs = inputs_of(nodes, chain, {first, std::min(out, first + rows)});
      if (!inputs) return {};
      bands.push_back(std::move(*inputs));
    }
    std::vector<Node> made;
    std::vector<ValueId> parts;
    parts.reserve(bands.size());
    for (const auto& band : bands) parts.push_back(add_band(nodes, chain, band, made));
    add_row_join(graph_, last, std::move(parts), made);
    for (std::size_t k = 1; k < chain.size(); ++k) {
      graph_.fusions.fused(
          nodes[chain[k]],
          cat("runs with what is before it in ",
              counted(static_cast<std::int64_t>(bands.size()), "band"), " of rows"));
    }
    return made;
  }

  // The nodes of one band; returns the rows of y that it computes.
  ValueId add_band(const std::vector<Node>& nodes, const std::vector<std::size_t>& chain,
                   const std::vector<BandInput>& inputs, std::vector<Node>& made) {
    const Node& first = nodes[chain[0]];
    ValueId x = add_row_slice(graph_, first, first.inputs[0], inputs[0].rows, made);
    for (std::size_t k = 0; k < chain.size(); ++k) {
      Node node = nodes[chain[k]];
      const ConvAxis& columns = params_of<QLinearConvParams>(node).geometry.axes[1];
      set_pads(node, inputs[k], columns);
      node.inputs[0] = x;
      x = add_like(graph_, nodes[chain[k]].outputs[0]);
      add_node(graph_, std::move(node), nodes[chain[k]], x, made);
    }
    return x;
  }

  Graph& graph_;
  const std::int64_t above_;
  const std::vector<std::vector<int>> consumers_;
};

}  // namespace

void split_rows(Graph& graph, std::int64_t above) {
  if (above >= 0) RowSplitter(graph, above).run();
}

}  // namespace etch
