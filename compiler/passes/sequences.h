// Lists of tensors (ONNX's sequences), which exporters write for split, unbind, stack and for loops
// that append results. Generated code has none: where the number of elements is known, a list is
// only a name for these, and what reads it becomes operators on them:
//   SequenceConstruct, SequenceEmpty, SequenceInsert, SequenceErase, SplitToSequence, Identity
//                       nothing, but positions and sizes of parts must be known
//   SequenceAt          the element; at a position known at run time only a Gather of all of them
//   SequenceLength      a constant
//   ConcatFromSequence  Concat; the tensor itself where all its parts come together again
//   Loop                one that appends to a list gives slices instead (compiler/import), of which
//                       org.etch's ListOfSlices makes the list that follows
// Part of resolving.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

class Parts;

class Sequences {
 public:
  Sequences(Graph& graph, Sink& sink) : graph_(graph), sink_(sink) {}

  // Whether an operator is about lists, whatever its inputs are.
  static bool is_about(const Node& node);
  // Whether a node makes or reads a list.
  bool concerns(const Node& node) const;
  bool has(ValueId id) const { return lists_.contains(id); }

  // The nodes in the place of `node`, whose tensors are all known; none where it only makes a list,
  // or after a report.
  std::vector<Node> write(const Node& node);

 private:
  // A tensor, or the part of one from `begin` to `end` along an axis, which goes where it is one
  // slice of `is_slice`.
  struct Element {
    ValueId source = kNoValue;
    std::optional<std::int64_t> axis;
    std::int64_t begin = 0, end = 0;
    bool is_slice = false;
  };
  using List = std::vector<Element>;

  struct Operator;
  static const Operator kOperators[];
  static const Operator* operator_of(const Node& node);

  bool takes_tensors(Parts& parts, std::size_t first);
  void empty(Parts& parts);
  void length(Parts& parts);
  void construct(Parts& parts);
  void insert(Parts& parts);
  void erase(Parts& parts);
  void split(Parts& parts);
  void slices(Parts& parts);
  void at(Parts& parts);
  void concat(Parts& parts);
  bool spend(Parts& parts, std::int64_t elements);
  bool has_room(Parts& parts, std::int64_t elements);
  void make(Parts& parts, List list);
  bool may_join(Parts& parts, const List& list, std::size_t i);
  const List* list_of(Parts& parts, std::size_t i);
  // Input i as a position in [0, count); a negative one counts from the end.
  std::optional<std::int64_t> position(Parts& parts, std::size_t i, std::int64_t count);
  static List parts_of(ValueId source, std::int64_t axis, const std::vector<std::int64_t>& sizes,
                       bool are_slices);
  static ValueId tensor_of(Parts& parts, const Element& element);
  ValueId stacked(Parts& parts, const List& list, std::int64_t axis);
  const Element* whole(const List& list) const;

  Graph& graph_;
  Sink& sink_;
  std::map<ValueId, List> lists_;
  std::int64_t elements_ = 0;  // of all lists so far
};

}  // namespace etch
