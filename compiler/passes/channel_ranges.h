// Which integers each channel of an 8-bit tensor can hold, by interval arithmetic from the inputs
// of the network, which may hold anything, through its constant weights. A channel whose interval
// is one integer is constant, whatever the network is given.
#pragma once

#include <vector>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/ir/graph.h"

namespace etch {

// Logical integers, both ends included.
struct Interval {
  int low = 0, high = 0;
  bool is_constant() const { return low == high; }
};

// Of one value; empty without a known axis of channels, and then nothing is known of its elements
// either but their type.
struct ChannelRanges {
  int axis = -1;  // of the channels
  std::vector<Interval> channels;
};

// The axis of the channels of x and y.
int channel_axis(const ConvGeometry& geometry);

// Per ValueId. The graph is resolved.
std::vector<ChannelRanges> channel_ranges(const Graph& graph);

}  // namespace etch
