// Constant folding: a node whose inputs are all known, or whose result depends on their shapes
// only, is computed by its operator's reference and its outputs become constants.
//
// A DequantizeLinear of a constant is only folded on request: it is how QDQ graphs carry their
// weights, and the passes that turn QDQ groups into integer operators need to see the integers.
// Sizes that a quantizer took for weights are known nevertheless: a Cast to int64 or int32 of what
// is computed from few such numbers is a constant, unless integers may take the place of what
// computes it, and round otherwise (docs/spec/qdq.md 8.2).
// What folding may cost is bounded; nodes beyond the bound stay as they are.
#pragma once

#include <cstdint>
#include <map>

#include "compiler/ir/graph.h"

namespace etch {

enum class FoldDequantize { kNo, kYes };

// Folds single nodes, with one budget for the whole graph. The nodes themselves stay in place
// until remove_dead().
class ConstantFolder {
 public:
  ConstantFolder(Graph& graph, FoldDequantize dequantize)
      : graph_(graph), dequantize_(dequantize), operations_left_(graph.limits.operations) {}

  // Computes `node` if it is resolved and may be folded; true when its outputs are now constants.
  bool fold(const Node& node);

 private:
  bool is_foldable(const Node& node) const;
  bool fold_size(const Node& node);
  // What nodes have done with a number since DequantizeLinear: moved it, computed functions of it,
  // or what could be part of a group that becomes an integer operator (fuse_qdq.h).
  enum class Since { kMoves, kFunctions, kGroup };
  struct Number {
    Tensor value;
    Since since;
  };
  Since since_dequantize(const Node& node) const;
  bool may_round_otherwise(const Node& node) const;
  // Null: neither a constant nor computed from dequantized ones.
  const Tensor* number_of(ValueId id) const;
  bool spend(const Node& node);

  Graph& graph_;
  FoldDequantize dequantize_;
  // What few dequantized constants, and what is computed from them, would be.
  std::map<ValueId, Number> numbers_;
  std::int64_t operations_left_;  // elementary ones, estimated
};

// Folds everything that can be folded and removes what is dead afterwards. Requires and keeps a
// resolved graph; renumbers values.
void fold_constants(Graph& graph, FoldDequantize dequantize);

}  // namespace etch
