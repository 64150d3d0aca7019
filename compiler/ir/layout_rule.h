// What operators tell lowering about memory: orders and halos. Plain data, no behaviour.
#pragma once

#include <cstdint>
#include <vector>

namespace etch {

struct Node;

// Which layout an operator wants for its tensors.
enum class LayoutRule {
  kRowMajor,      // inputs and outputs row-major
  kChannelsLast,  // input 0 and output 0: N, spatial..., C
  kAnyOrder,      // any order, the same for all; says nothing of what elements are made of
  kPart,          // the same, and outputs are views of input 0 where possible
  kRelabel,       // outputs are views of input 0 where possible
};

// For OpDef::layout of operators whose rule never depends on the node.
inline LayoutRule channels_last_rule(const Node&) { return LayoutRule::kChannelsLast; }
inline LayoutRule any_order_rule(const Node&) { return LayoutRule::kAnyOrder; }
inline LayoutRule part_rule(const Node&) { return LayoutRule::kPart; }
inline LayoutRule relabel_rule(const Node&) { return LayoutRule::kRelabel; }

// Memory around input 0 that a node would like to hold `value`, per dimension of the input.
struct HaloWish {
  std::vector<std::int64_t> begin, end;
  int value = 0;                     // as stored
  int source = -1;                   // or this value of the graph, known at run time
  bool forward_convolution = false;  // kernels that copy their rows do without
  bool per_channel = false;          // one that is depthwise
};

// Input `input` is what output 0 holds from position `start` on, so that the step that computes the
// input may write it there at once.
struct PlacedInput {
  int input = 0;
  std::vector<std::int64_t> start;  // one per dimension
};

}  // namespace etch
