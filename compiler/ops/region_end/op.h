// LoopEnd, ScanEnd and IfEnd (org.etch): where the part of the graph ends that a region_begin
// opens.
//
//   inputs   output 0 of the beginning, the condition for another trip (bool, one element; omitted:
//            there is no other), then the previous values of what is carried, then what the
//            trip gives for them, then slices of outputs
//   outputs  the carried values after the last trip, then the slices of all trips side by side
//
// Of a loop the previous values are those that the trip began with, and all carried shapes and
// types must be equal. Of an If, the first branch has none, and its results are undefined where it
// is not taken; those of the second are what the first gave wherever the second is not taken.
//
// Attributes: carried, previous: how many; axes, directions (1: from the last place to the first)
// of the sliced outputs; trips: how many there are, or with conditional = 1 are at most; when: of a
// branch, the condition for which it runs.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

struct RegionEnd {
  struct Slices {
    std::size_t axis = 0;
    bool reversed = false;
  };
  std::int64_t carried = 0, previous = 0;
  std::int64_t trips = 1;
  bool conditional = false;  // looks at a condition before each trip
  bool when = true;          // what the condition is then
  bool is_branch = false;
  std::vector<Slices> slices;  // of each output after the carried ones
};

bool is_region_end(const Node& node);

// Index into graph.nodes of the end of the region that node `begin` opens.
std::size_t end_of_region(const Graph& graph, std::size_t begin);

}  // namespace etch
