// What a step with a choice of tiles shows of that choice: reports read it, `etch tune` tries
// others, --unroll changes it. A facet of Step, so that none of them has to know a kernel family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "templates/isa/traits.h"

namespace etch {

// A step and each of its tiles' functions do not grow beyond this many statements, whatever is
// asked for: about 100 KB of code that g++ compiles in seconds.
inline constexpr std::int64_t kMostUnrolledStatements = 16000;
inline constexpr std::int64_t kMostTileStatements = 8000;

struct TileChoice;  // compiler/kernels/conv/tile_choice.h
struct Unrolling;   // compiler/kernels/conv/unrolling.h

// The tile of the region with the most pixels, for reports.
struct TileSummary {
  int rows = 1, cols = 1;  // pixels
  int channels = 0;
  int groups = 0;              // of 4 bytes of K that are added up
  int unrolled_groups = 0;     // that one iteration spells out
  bool pixels_outside = true;  // else channels are the outer loop
};

class TunableTiles {
 public:
  virtual ~TunableTiles() = default;

  std::string key;          // of the layer in a tuning file; see tuning_key.h
  bool from_file = false;   // the tiles come from a tuning file
  bool on_request = false;  // unrolled as --unroll asked for

  // Code that users asked for may be longer than what the cost model would choose.
  bool may_be_long() const { return from_file || on_request; }

  virtual TileSummary tile_summary(const IsaTraits& isa) const = 0;
  virtual TileChoice choice() const = 0;
  // At most `most` choices that could be faster, the most promising first.
  virtual std::vector<TileChoice> candidates(const IsaTraits& isa, std::size_t most) const = 0;
  // False where the code would be too long: then it unrolls as far as it may.
  virtual bool unroll(const IsaTraits& isa, const Unrolling& unrolling) = 0;
};

}  // namespace etch
