// What passes share that compute operators in bands of rows: which rows a band reads, and the nodes
// that take rows from a tensor and put them together again. Channels come first, rows are
// dimension 2.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/conv_geometry/geometry.h"

namespace etch {

// Every band is calls of functions and, while compiling, has weights of its own.
inline constexpr std::int64_t kMostBands = 64;
inline constexpr std::size_t kMostBandNodes = 4096;
inline constexpr std::int64_t kMostBandWeightBytes = std::int64_t{32} << 20;

struct Rows {
  std::int64_t first = 0, end = 0;
  std::int64_t count() const { return end - first; }
  bool operator==(const Rows&) const = default;
};

// Rows of x, and what of the padding, that some rows of y need.
struct BandInput {
  Rows rows;
  std::int64_t pad_begin = 0, pad_end = 0;
};

// Nothing if they are nothing but padding.
std::optional<BandInput> band_input(const ConvAxis& axis, Rows y);

// Gives a copy of a convolution the padding of its band.
void set_pads(Node& node, const BandInput& band, const ConvAxis& columns);

// A value named as `value`, without shape.
ValueId add_like(Graph& graph, ValueId value);

// Resolves `node`, which stands for (a part of) `origin` and computes `output`, and appends it.
void add_node(Graph& graph, Node node, const Node& origin, ValueId output, std::vector<Node>& made);

// Rows of `value`, by a Slice.
ValueId add_row_slice(Graph& graph, const Node& origin, ValueId value, Rows rows,
                      std::vector<Node>& made);

// The output of `origin` from its bands, by a Concat.
void add_row_join(Graph& graph, const Node& origin, std::vector<ValueId> parts,
                  std::vector<Node>& made);

}  // namespace etch
