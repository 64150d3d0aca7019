// Values whose size along one axis is known at run time only, but has a bound: NonZero, Compress
// and Unique of run-time values, Slice between run-time positions (EmbeddingBag),
// NonMaxSuppression. They are computed with as many rows as there can be; how many of them count is
// a value of its own. Rows after these hold something, always the same for the same inputs, on
// which no result depends:
//   - operators that treat each row alone carry the count on;
//   - reductions over the rows see their neutral element in its place, and ReduceMean divides by
//     the count;
//   - DynamicQuantizeLinear sees zeros there, which its range has in it anyway;
//   - ScatterElements and ScatterND write it to a row of its own, which is cut off;
//   - Shape gives a list of which one number is the count: where it says a size, the result has
//     counted rows, and where it is a number, it is the count;
//   - a loop may have a trip for each of them, which reads that row;
//   - a loop carries them where each trip gives back as many as it got, and a branch gives their
//     number as one more result;
//   - an output of the network has zeros in their place, and its shape is another output.
// Anything else is refused. Part of resolving.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

class Parts;

class CountedRows {
 public:
  CountedRows(Graph& graph, Sink& sink) : graph_(graph), sink_(sink) {}

  // Whether a node, all of whose inputs are known, makes or reads such values.
  bool concerns(const Node& node) const;

  // Whether a branch may give such values: it makes some, or reads those of around it.
  bool counts(const std::vector<Node>& branch) const;

  // The nodes in the place of `node`, in order; none after a report. They may read counted values,
  // but are not to be asked about again.
  std::vector<Node> write(const Node& node);

  // A Cast that was put before a node: its result has the rows of what it reads.
  void follow(const Node& cast);

  // What puts zeros after the rows of what such a Cast reads, before it.
  std::vector<Node> zero_input(Node& cast);

  // What gives the outputs of the network that have such rows, and after all outputs their shapes,
  // and those that are sizes, of those that are known.
  std::vector<Node> give_outputs(const std::function<bool(ValueId)>& is_known);

 private:
  // Along `axis`, or in a list of sizes the element `axis`, there are `count` (int64, no axes) of
  // at most `most`.
  struct Rows {
    std::size_t axis = 0;
    ValueId count = kNoValue;
    std::int64_t most = 0;
    ValueId source = kNoValue;  // rows of the same source are equally many
    int node = -1;              // the index of the node that counts
    std::string maker;          // and what people know it as
    ValueId region = kNoValue;  // the token of the innermost loop or branch that counts

    bool operator<(const Rows& other) const { return source < other.source; }
  };
  // Where rows are after a Reshape: the sizes of its result with as many rows as there can be.
  struct Place {
    std::size_t axis = 0;
    Shape shape;

    std::int64_t size() const { return shape[axis]; }
  };

  bool makes_rows(const Node& node) const;
  const Rows* rows_of(ValueId id) const;
  const Rows* size_of(ValueId id) const;
  const Rows* rows_of(const Node& node, std::size_t i) const;
  // Integers known when compiling, all of which count; null otherwise.
  const Tensor* constant(const Node& node, std::size_t i) const;
  const Shape& shape(const Node& node, std::size_t i) const;
  void mark(ValueId id, std::size_t axis, const Rows& rows);
  void mark_size(ValueId id, std::size_t axis, const Rows& rows);
  // None: resolving the node reports it.
  static ValueId first_output(const Node& node) {
    return node.outputs.empty() ? kNoValue : node.outputs[0];
  }

  void make(Parts& parts, const Node& node);
  void make_slice(Parts& parts, const Node& node);
  // How many rows of an axis of `size` a Slice takes in each trip of a loop; 0: not always as many.
  std::int64_t fixed_window(const Node& node, std::int64_t size) const;
  void make_boxes(Parts& parts, const Node& node);
  void make_unique(Parts& parts, const Node& node);
  static bool has_few_rows(Parts& parts, std::int64_t most);
  bool reads_sizes(const Node& node, std::vector<Node>& out);
  bool carries_size(const Node& node);
  std::optional<std::vector<std::int64_t>> picked_sizes(const Node& node) const;
  std::optional<std::size_t> size_to(const Node& node) const;
  std::optional<std::size_t> sized_axis(const Node& node, std::size_t i, const Rows& rows) const;
  bool consumes(const Node& node, std::vector<Node>& out);
  bool merges(Parts& parts, const Node& node, const Rows& rows);
  void reduce(Parts& parts, const Node& node, const Rows& rows);
  void scatter(Parts& parts, const Node& node, const Rows& rows);
  void quantize(const Node& node, const Rows& rows, std::vector<Node>& out);
  bool carries(const Node& node);
  std::optional<std::size_t> carried_axis(const Node& node, const Rows& rows) const;
  std::optional<std::size_t> pointwise_axis(const Node& node) const;
  std::optional<std::size_t> gathered_axis(const Node& node, const Rows& rows) const;
  std::optional<Place> place_of_rows(const Node& node, const Rows& rows) const;
  std::optional<std::size_t> reshaped_axis(const Node& node, const Rows& rows) const;
  std::optional<std::size_t> reduced_axis(const Node& node, const Rows& rows) const;
  bool knows_axes(const Node& node) const;
  std::set<std::size_t> axes_of(const Node& node) const;
  void refuse(const Node& node, const Rows& rows);
  static ValueId mask(Parts& parts, std::size_t rank, const Rows& rows);
  ValueId zeroed(Parts& parts, ValueId id, const Rows& rows);
  static std::vector<ValueId> sizes(Parts& parts, const Shape& most, const Rows& rows);
  ValueId open_region(ValueId but = kNoValue) const;
  void enter(const Node& begin);
  std::vector<Node> leave(const Node& end);
  std::vector<Node> after(Parts& parts, const Node& node);
  std::vector<Node> enter_rows(const Node& node);
  std::vector<Node> leave_rows(const Node& node);
  bool is_row_of_trip(ValueId id, const Rows& rows) const;
  bool leave_loop(const Node& end);
  std::vector<Node> leave_branch(const Node& node);
  ValueId filled(Parts& parts, ValueId id, const Rows* rows, const Rows& wanted, ValueId& count);
  bool may_become(ValueId id, const Rows* rows, ValueId before, const Rows& wanted);
  bool refuse_region(const Node& node, const Rows& rows, std::string_view why);

  static constexpr std::int64_t kMostRows = 1 << 20;

  Graph& graph_;
  Sink& sink_;
  std::map<ValueId, Rows> rows_, sizes_;
  std::map<ValueId, Rows> trips_;   // of loops with a trip for each of these rows
  std::set<ValueId> no_condition_;  // those of the loops of trips_ that have none
  // So many of each of them. In a loop or branch their number is computed there, for it alone.
  std::map<std::tuple<Rows, std::int64_t, ValueId>, Rows> merged_;
};

}  // namespace etch
