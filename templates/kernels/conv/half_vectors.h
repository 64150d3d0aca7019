// Blocks of at most L / 2 output channels, for which one vector would be half empty. Lanes 2i and
// 2i + 1 both belong to channel i, and broadcast8 gives them different bytes of the image:
//   split: even and odd lanes take turns at the groups of K; at the end they are added, for two
//          pixels at once, and the odd lanes hold the second pixel;
//   pairs: even lanes compute a pixel and odd lanes the next one in its row. Their bytes are x_col
//          apart and broadcast8's four: so both run through the bytes of either pixel, with zero
//          weights where a byte is not theirs. Pays where neighbours overlap, as in first layers.
// Either way ends with vectors of two pixels, in even and in odd lanes.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "templates/kernels/quantize/requantize.h"
#include "templates/stage.h"

namespace etch::half_vectors {

// The sums of two accumulators in one.
template <class S>
std::vector<typename S::I32> add_halves(S& s, const std::vector<typename S::I32>& acc) {
  std::vector<typename S::I32> out;
  for (std::size_t i = 0; i < acc.size(); i += 2) {
    const auto& next = acc[std::min(i + 1, acc.size() - 1)];
    out.push_back(s.add_pairs(Name("sum").at("p", static_cast<int>(i)), acc[i], next));
  }
  return out;
}

// The pixels of even and odd lanes, one vector after the other; `cols` > 0: pairs do not cross the
// rows of a tile that has so many columns.
inline std::vector<std::optional<PixelPlace>> slots(const std::vector<PixelPlace>& pixels,
                                                    int cols) {
  std::vector<std::optional<PixelPlace>> out;
  for (const PixelPlace& pixel : pixels) {
    if (cols > 0 && pixel.col == 0 && out.size() % 2 != 0) out.emplace_back();
    out.emplace_back(pixel);
  }
  return out;
}

// Requantizes and stores the first `channels` channels of every pixel. Factors and residual as in
// store_tile(), but of L / 2 channels.
template <class S>
void store(S& s, const Requantize& out, int channels,
           const std::vector<std::optional<PixelPlace>>& slots,
           const std::vector<typename S::I32>& acc, const Factors<S>& factors,
           const typename S::template Ptr<std::uint8_t>& y, const Residual<S>& residual) {
  using namespace requantize_detail;
  const int half = s.isa().lanes / 2;
  const bool integer = out.kind == Requantize::Kind::kInteger;
  std::optional<typename S::F32> scale;
  if (!integer) scale = s.load_f32(Name("scale").at("v", 0), factors.scale);
  std::vector<PixelPlace> places;  // empty slots repeat their neighbour
  places.reserve(slots.size());
  for (const auto& slot : slots) places.push_back(slot ? *slot : places.back());
  for (std::size_t first = 0; first < acc.size(); first += 4) {
    const auto p0 = static_cast<int>(2 * first);
    std::vector<typename S::I32> q;
    for (std::size_t a = first; a < std::min(first + 4, acc.size()); ++a) {
      const Name name = Name("q").at("p", static_cast<int>(2 * a));
      q.push_back(integer ? without_floats(s, out.integer, name, acc[a], factors.integer)
                          : to_integer(s, out, name, acc[a], *scale));
    }
    while (q.size() < 4) q.push_back(q.back());
    auto bytes = s.narrow4(Name("packed").at("p", p0), q[0], q[1], q[2], q[3], out.zero_point);
    bytes = clamped(s, out.low, out.high, Name("clamped").at("p", p0), bytes);
    bytes = s.arrange1(Name("vectors").at("p", p0), bytes);
    bytes = s.unzip(Name("bytes").at("p", p0), bytes);

    const int end = std::min(p0 + 8, static_cast<int>(slots.size()));
    if (residual.plan != nullptr)
      bytes = with_residual(s, *residual.plan, p0, bytes,
                            load_pixels(s, residual.p, places, p0, end, half));
    const auto offset = [&](int i) { return places[static_cast<std::size_t>(i)].offset; };
    bool adjacent = channels == half && end == p0 + 8;
    for (int i = p0; i < end; ++i)
      adjacent = adjacent && offset(i) == offset(p0) + std::int64_t{i - p0} * half;
    if (adjacent) {
      s.store_bytes(y + offset(p0), bytes);
      continue;
    }
    for (int i = p0; i < end; ++i) {
      if (slots[static_cast<std::size_t>(i)])
        s.store_slice(y + offset(i), bytes, (i - p0) * half, channels);
    }
  }
}

}  // namespace etch::half_vectors
