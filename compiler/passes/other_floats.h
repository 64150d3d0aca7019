// float16, bfloat16 and float64 as forms in which tensors arrive, leave and are kept in the file:
// what is computed from them is computed in float32, as ONNX Runtime does with float16 on a CPU.
// Part of resolving.
//   inputs and outputs of the graph   are converted once, after they arrive and before they leave
//   constants                         are converted where a node reads them that is no Cast; those
//                                     of float64 only beside a float64 of run time, or where they
//                                     are computed with (fold_doubles does some of that in
//                                     float64), so that a scale of the wrong type is still refused
//   Cast to float16 or bfloat16       rounds, and is followed by a Cast back to float32
//   Cast to float64                   is one to float32
//   Cast of float32 to float32        is Identity; one of what is float16 in the file stays
//   CastLike                          is a Cast to what its second input is in the file
//   Clip without a limit              has that of float16 or bfloat16
//   BitCast                           is refused: the bits are those of float32
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

class OtherFloats {
 public:
  explicit OtherFloats(Graph& graph) : graph_(graph) {}

  // Before the nodes are resolved: renames what is read of inputs and written of outputs of such
  // types, and forgets what the file declares of values between. The Casts of inputs, in order.
  std::vector<Node> enter(std::vector<Node>& nodes);
  // The Casts of the outputs, after all nodes are resolved. Reports outputs of another type, and
  // warns where float64 was computed in float32.
  std::vector<Node> leave(Sink& sink) const;
  // Of a node whose inputs are known: makes its constants of such types float32. What converts them
  // comes first. A Cast of float32 to float32 becomes Identity.
  std::vector<Node> read_constants(Node& node);
  // Of a BitCast of what is of such a type in the file: that type.
  std::optional<DType> type_of_lost_bits(const Node& node) const;
  // The nodes in place of a Cast at run time to such a type; empty for all other nodes.
  std::vector<Node> split_cast(const Node& node);

 private:
  ValueId new_value(ValueId like);
  void limit(Node& node);
  bool changes_nothing_in_file(const Node& node) const;
  bool computes_doubles(const Node& node) const;
  std::optional<DType> type_in_file(ValueId id) const;

  Graph& graph_;
  bool narrows_ = false;  // float64 is computed in float32
  // What values are in the file that are float32 here, or were computed from such.
  std::map<ValueId, DType> types_in_file_;
  std::vector<Node> outputs_;             // the Casts that give them
  std::map<ValueId, ValueId> converted_;  // constants
};

}  // namespace etch
