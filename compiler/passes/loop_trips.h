// How many trips the loops of a graph make, found while it is resolved, in order. The trip count
// must be known; where the body computes the condition from nothing but constants and what it
// counts itself, it is computed here, trip by trip.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

class LoopTrips {
 public:
  LoopTrips(Graph& graph, Sink& sink) : graph_(graph), sink_(sink) {}

  // Gives the end of a region its attributes `trips` and `conditional`; nothing to other nodes. All
  // inputs of `node` are known, and all nodes before it are in the graph. False after an error:
  // E-UNSUPPORTED, E-LIMIT.
  [[nodiscard]] bool prepare(Node& node);

  // After a node was added to the graph.
  void added();

 private:
  struct Open {
    std::size_t begin = 0;   // index into Graph::nodes
    std::int64_t inner = 0;  // trips of loops in one trip of this one
  };
  struct Count {
    std::int64_t most = 0;
    bool conditional = false;
  };

  bool count(const Node& begin, Node& end, Count& out);
  bool bound(const Node& begin, ValueId goes_on, Count& out);
  bool check_total(std::int64_t trips);
  bool fail(DiagKind kind, const Node& node, std::string what);

  Graph& graph_;
  Sink& sink_;
  std::vector<Open> open_;
};

}  // namespace etch
