// A mark on nodes whose constant weights the file stores in 4 bits each, signed or not: passes keep
// such elements as int8 (passes/widen_four_bits.h), and kernels may pack them as the file does. It
// is an attribute, so that it goes wherever a pass takes a node.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

inline constexpr const char* kFourBits = "org.etch.four_bits";  // no attribute of a file

inline void mark_four_bits(Node& node) { node.attributes[kFourBits] = std::int64_t{1}; }
inline bool has_four_bits(const Node& node) { return node.attributes.contains(kFourBits); }

}  // namespace etch
