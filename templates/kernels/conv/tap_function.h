// The function that holds one tile or chunk of a convolution. A region of pure padding has no taps
// and reads neither image nor weights, so its function must not have those parameters either:
// compilers warn about what is not used.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "templates/stage.h"

namespace etch {

enum class Taps { kSome, kNone };

// S::inlined() with body(x, w, rest...): image and weights from their base pointers on, null
// without taps.
template <class S, class Body, class... Rest>
void tap_function(S& s, const std::string& name, Taps taps, Body body,
                  const typename S::template Ptr<const std::uint8_t>& x,
                  const typename S::template Ptr<const std::uint8_t>& w, const Rest&... rest) {
  if (taps == Taps::kNone) {
    using Bytes = typename S::template Ptr<const std::uint8_t>;
    s.inlined(
        name, [&](const auto&... p) { body(Bytes{}, Bytes{}, p...); }, rest...);
    return;
  }
  s.inlined(
      name,
      [&](const auto& tx, const auto& tw, const auto&... p) {
        const auto xt = s.base("xt", tx);
        body(xt, s.base("wt", tw), p...);
      },
      std::pair{"x", x}, std::pair{"w", w}, rest...);
}

}  // namespace etch
