// Pooling over windows of bytes, channels last. Maximum pooling compares raw bytes (a positive
// scale keeps the order); average pooling follows ONNX Runtime's QLinearAveragePool (floats in
// window order, zero point added before rounding), global average pooling its integer sibling
// (docs/spec/qlinear.md sections 6.6 and 6.5).
//
// A region is a rectangle of output pixels whose windows see the same taps, so that no tap is
// ever tested against the border at run time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/etch_pool.h"
#include "templates/external.h"
#include "templates/kernels/quantize/requantize.h"
#include "templates/stage.h"

namespace etch {

struct PoolRegion {
  std::int64_t x_offset = 0, y_offset = 0;  // bytes
  int rows = 1, cols = 1;
  std::int64_t x_row = 0, x_col = 0, y_row = 0, y_col = 0;  // bytes
  // Taps in window order: count[0] x count[1] x count[2] of them, in bytes from the pixel's origin.
  std::int64_t first_tap = 0;
  int count[3] = {1, 1, 1};
  std::int64_t step[3] = {};
  float divisor = 1;     // of an average
  std::string function;  // in assembly, for a row of pixels; empty: there is none

  int taps() const { return count[0] * count[1] * count[2]; }
};

struct PoolPlan {
  enum class Kind { kMax, kAverage, kGlobalAverage };
  Kind kind = Kind::kMax;
  int images = 1;
  std::int64_t x_image = 0, y_image = 0;  // bytes
  int channels = 0;
  std::vector<PoolRegion> regions;
  bool unroll = true;  // spell out the taps of a window
  // kAverage: real = x_scale * (x - x_zero_point); y = rne(mean / y_scale + y_zero) + y_stored
  float x_scale = 1, y_scale = 1, y_zero = 0;
  int x_zero_point = 0;  // as stored
  int y_stored = 0;      // 128 when an int8 is stored as uint8
  bool clamp = false;    // an average may leave int32: clamped before it is rounded
  // kGlobalAverage: sum over pixels x row, then docs/spec/requantization.md section 3.1 with this
  // factor
  int pixels = 1;
  float scale = 1;
  Requantize out;

  // Of windows, as functions in assembly take them.
  rt::PoolRow row_of(const PoolRegion& r) const {
    return {r.cols,
            static_cast<std::ptrdiff_t>(r.x_col),
            static_cast<std::ptrdiff_t>(r.y_col),
            channels,
            {r.count[0], r.count[1], r.count[2]},
            {static_cast<std::ptrdiff_t>(r.step[0]), static_cast<std::ptrdiff_t>(r.step[1]),
             static_cast<std::ptrdiff_t>(r.step[2])}};
  }
  rt::PoolMean mean_of(const PoolRegion& r) const {
    return {x_scale, x_zero_point, r.divisor, y_scale, y_zero, y_stored};
  }
};

namespace pool_detail {

// Loads n <= 4 L channels at p.
template <class S>
typename S::Bytes load(S& s, const Name& name,
                       const typename S::template Ptr<const std::uint8_t>& p, int n) {
  return n == 4 * s.isa().lanes ? s.load_bytes(name, p) : s.load_bytes_n(name, p, n);
}

template <class S>
void store(S& s, const typename S::template Ptr<std::uint8_t>& p, const typename S::Bytes& bytes,
           int n) {
  if (n == 4 * s.isa().lanes) {
    s.store_bytes(p, bytes);
  } else {
    s.store_slice(p, bytes, 0, n);
  }
}

// Calls body(offset in bytes, number of the tap) for every tap: spelled out, or in loops.
template <class S, class Body>
void for_each_tap(S& s, const PoolPlan& plan, const PoolRegion& region, Body body) {
  using Index = typename S::Index;
  const int planes = region.count[0], rows = region.count[1], cols = region.count[2];
  if (plan.unroll) {
    for (int t = 0; t < region.taps(); ++t) {
      body(Index(region.first_tap + t / cols / rows * region.step[0] +
                 t / cols % rows * region.step[1] + t % cols * region.step[2]),
           t);
    }
    return;
  }
  s.loop("tap_plane", planes, [&](const Index& d) {
    s.loop("tap_row", rows, [&](const Index& h) {
      s.loop("tap_col", cols, [&](const Index& w) {
        s.block([&] {
          body(Index(region.first_tap) + d * region.step[0] + h * region.step[1] +
                   w * region.step[2],
               0);
        });
      });
    });
  });
}

template <class S>
typename S::Bytes maximum(S& s, const PoolPlan& plan, const PoolRegion& region,
                          const typename S::template Ptr<const std::uint8_t>& x, int n) {
  auto best = s.splat_bytes("best", 0);
  for_each_tap(s, plan, region, [&](const typename S::Index& at, int tap) {
    s.max_into(best, load(s, Name("x").at("t", tap), x + at, n));
  });
  return best;
}

// Sums of dequantized floats, one F32 per quarter of the chunk.
template <class S>
typename S::Bytes average(S& s, const PoolPlan& plan, const PoolRegion& region,
                          const typename S::template Ptr<const std::uint8_t>& x, int n) {
  const auto zero = s.splat_i32("zero_point", -plan.x_zero_point);
  const auto scale = s.splat_f32("x_scale", plan.x_scale);
  std::vector<typename S::F32> sum;
  sum.reserve(4);
  for (int v = 0; v < 4; ++v) sum.push_back(s.splat_f32(Name("sum").at("v", v), 0.0F));
  for_each_tap(s, plan, region, [&](const typename S::Index& at, int tap) {
    const auto bytes = load(s, Name("x").at("t", tap), x + at, n);
    const auto wide = s.widen4(Name("wide").at("t", tap), bytes);
    for (int v = 0; v < 4; ++v) {
      auto centred = s.part(wide, v);
      s.add_i32(centred, zero);
      const auto real = s.to_f32(Name("real").at("t", tap).at("v", v), centred);
      s.add_into(sum[static_cast<std::size_t>(v)],
                 s.mul_f32(Name("term").at("t", tap).at("v", v), real, scale));
    }
  });
  const auto count = s.splat_f32("count", region.divisor);
  const auto y_scale = s.splat_f32("y_scale", plan.y_scale);
  const auto y_zero = s.splat_f32("y_zero", plan.y_zero);
  std::vector<typename S::I32> q;
  for (int v = 0; v < 4; ++v) {
    const auto mean = s.div_f32(Name("mean").at("v", v), sum[static_cast<std::size_t>(v)], count);
    const auto scaled = s.div_f32(Name("scaled").at("v", v), mean, y_scale);
    auto shifted = s.add_f32(Name("shifted").at("v", v), scaled, y_zero);
    if (plan.clamp) shifted = clamp_to_byte(s, Name("inside").at("v", v), shifted, plan.y_stored);
    q.push_back(s.round_i32(Name("q").at("v", v), shifted));
  }
  return s.narrow4("packed", q[0], q[1], q[2], q[3], plan.y_stored);
}

template <class S>
typename S::Bytes global_average(S& s, const PoolPlan& plan,
                                 const typename S::template Ptr<const std::uint8_t>& x, int n) {
  // Modulo 2^32, as the sums are.
  const std::int64_t zeros = std::int64_t{plan.x_zero_point} * plan.pixels;
  const auto start = static_cast<std::int32_t>(static_cast<std::uint32_t>(-zeros));
  std::vector<typename S::I32> sum;
  sum.reserve(4);
  for (int v = 0; v < 4; ++v) sum.push_back(s.splat_i32(Name("sum").at("v", v), start));
  const PoolRegion& rows = plan.regions.front();  // its rows and columns are summed over
  s.loop("row", rows.rows, [&](const typename S::Index& row) {
    s.loop("col", rows.cols, [&](const typename S::Index& col) {
      const auto wide =
          s.widen4("wide", load(s, "pixel", x + row * rows.x_row + col * rows.x_col, n));
      for (int v = 0; v < 4; ++v) s.add_i32(sum[static_cast<std::size_t>(v)], s.part(wide, v));
    });
  });
  std::vector<typename S::I32> q;
  if (plan.out.kind == Requantize::Kind::kInteger) {
    const auto factors = s.template constant<const std::int32_t>("requantize");  // one vector
    for (int v = 0; v < 4; ++v) {
      q.push_back(requantize_detail::without_floats(s, plan.out.integer, Name("q").at("v", v),
                                                    sum[static_cast<std::size_t>(v)], factors));
    }
  } else {
    const auto scale = s.splat_f32("scale", plan.scale);
    for (int v = 0; v < 4; ++v) {
      q.push_back(requantize_detail::to_integer(s, plan.out, Name("q").at("v", v),
                                                sum[static_cast<std::size_t>(v)], scale));
    }
  }
  const auto packed = s.narrow4("packed", q[0], q[1], q[2], q[3], plan.out.zero_point);
  return requantize_detail::clamped(s, plan.out.low, plan.out.high, "clamped", packed);
}

// All channels of one output pixel, a chunk at a time.
template <class S>
void pixel(S& s, const PoolPlan& plan, const PoolRegion& region, const std::string& prefix,
           const typename S::template Ptr<const std::uint8_t>& x,
           const typename S::template Ptr<std::uint8_t>& y) {
  const int full = 4 * s.isa().lanes;
  const auto one = [&](const typename S::Index& at, int n) {
    s.inlined(
        prefix + "window_" + std::to_string(n),
        [&](const auto& xt, const auto& yt) {
          if (plan.kind == PoolPlan::Kind::kMax) store(s, yt, maximum(s, plan, region, xt, n), n);
          if (plan.kind == PoolPlan::Kind::kAverage)
            store(s, yt, average(s, plan, region, xt, n), n);
          if (plan.kind == PoolPlan::Kind::kGlobalAverage)
            store(s, yt, global_average(s, plan, xt, n), n);
        },
        std::pair{"x", x + at}, std::pair{"y", y + at});
  };
  s.loop("chunk", plan.channels / full, [&](const typename S::Index& c) { one(c * full, full); });
  if (plan.channels % full != 0)
    one(typename S::Index(plan.channels - plan.channels % full), plan.channels % full);
}

// A row of pixels by the region's function; x and y of its first pixel.
template <class S>
void row_in_assembly(S& s, const PoolPlan& plan, const PoolRegion& region,
                     const typename S::template Ptr<const std::uint8_t>& x,
                     const typename S::template Ptr<std::uint8_t>& y) {
  std::int64_t read = (region.cols - 1) * region.x_col + plan.channels;
  for (int a = 0; a < 3; ++a) read += (region.count[a] - 1) * region.step[a];
  const bool averages = plan.kind == PoolPlan::Kind::kAverage;
  const auto native = [&plan, &region, averages](const std::uint8_t* from, std::uint8_t* to) {
    if (averages) return rt::pool_mean(from, to, plan.row_of(region), plan.mean_of(region));
    rt::pool_maximum(from, to, plan.row_of(region));
  };
  s.call(
      assembly_call({region.function, "etch_pool.h", averages ? FloatUse::kUsed : FloatUse::kNone},
                    native, read, (region.cols - 1) * region.y_col + plan.channels),
      x + typename S::Index(region.first_tap), y);
}

}  // namespace pool_detail

template <class S>
void pool_kernel(S& s, const PoolPlan& plan) {
  using Index = typename S::Index;
  s.loop("image", plan.images, [&](const Index& image) {
    const auto x = s.template operand<const std::uint8_t>(0) + image * plan.x_image;
    const auto y = s.template operand<std::uint8_t>(1) + image * plan.y_image;
    for (std::size_t r = 0; r < plan.regions.size(); ++r) {
      const PoolRegion& region = plan.regions[r];
      const std::string prefix = plan.regions.size() > 1 ? "r" + std::to_string(r) + "_" : "";
      if (plan.kind == PoolPlan::Kind::kGlobalAverage) {
        pool_detail::pixel(s, plan, region, prefix, x + Index(region.x_offset),
                           y + Index(region.y_offset));
        continue;
      }
      s.loop("row", region.rows, [&](const Index& row) {
        if (!region.function.empty()) {
          return pool_detail::row_in_assembly(s, plan, region,
                                              x + Index(region.x_offset) + row * region.x_row,
                                              y + Index(region.y_offset) + row * region.y_row);
        }
        s.loop("col", region.cols, [&](const Index& col) {
          pool_detail::pixel(s, plan, region, prefix,
                             x + Index(region.x_offset) + row * region.x_row + col * region.x_col,
                             y + Index(region.y_offset) + row * region.y_row + col * region.y_col);
        });
      });
    }
  });
}

}  // namespace etch
