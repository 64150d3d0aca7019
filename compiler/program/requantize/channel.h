// One output channel as requantization sees it: the float rule of docs/spec/requantization.md
// section 3.1 and the accumulators that can occur; and the accumulators at which its result
// changes, which is all that has to be compared to prove another formula equal (both are monotone).
#pragma once

#include <cstdint>
#include <vector>

namespace etch {

// The result q counts from the zero point: the byte stored is q + zero_point. Accumulators are
// int32; least <= most. `scale` is finite and > 0.
struct RequantizeChannel {
  float scale = 1;
  int low = 0, high = 0;             // q is clamped to [low, high]: 0 - zero_point, 255 - ...
  std::int64_t least = 0, most = 0;  // the accumulators that can occur
};

// The rule itself: clamp(fl(fl(acc) * scale), low, high) to the nearest integer, ties to even.
int float_rule(const RequantizeChannel& channel, std::int64_t acc);

// A demand on a monotone formula f: f(acc) >= q, or f(acc) < q. What f gives outside of
// [low, high] does not matter, because the bytes are clamped afterwards.
struct Demand {
  int q = 0;
  std::int64_t acc = 0;
};
struct Demands {
  std::vector<Demand> reach;  // f(acc) >= q: at every threshold
  std::vector<Demand> below;  // f(acc) < q: one accumulator before it
};

// All demands that together make f equal to the rule on [least, most].
Demands demands_of(const RequantizeChannel& channel);

}  // namespace etch
