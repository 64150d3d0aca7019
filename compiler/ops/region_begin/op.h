// Loop, Scan and If (org.etch): where a part of the graph begins that runs several times, or
// perhaps not at all. The importer and resolve() make it; no file has it. The nodes of the part
// follow up to the region_end that has this node's output 0 as its input 0; they lead from this
// node to that one. What else they read is computed before.
//
//   inputs   the trip count (int64, one element, constant; omitted: no bound), the condition (bool,
//            one element; omitted: true), then carried values as they are at first, then guarded
//            values, then the inputs of a Scan that are cut into slices
//   outputs  the trip, from 0 (int64), then each carried value as the part sees it, then each
//            guarded value, unchanged
//
// Attributes: carried, guarded: how many; axes: of a Scan's inputs, along which it goes through
// them; when: of a branch, runs once or not at all, the condition for which it runs; trip_rank: 0
// or 1.
//
// A guarded value is another name of an input. Work that depends on nothing that the part makes is
// done before it, as a loop should; a branch reads everything through guarded values, so that
// nothing of it is computed where it is not taken.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

struct RegionBegin {
  std::int64_t carried = 0, guarded = 0;
  std::int64_t slices = -1;  // of a Scan's inputs; -1: it has none
};

bool is_region_begin(const Node& node);
bool has_regions(const Graph& graph);

}  // namespace etch
