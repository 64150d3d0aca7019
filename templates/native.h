// The verbs of verbs.def in portable C++, for any vector of 1 to 16 lanes and either form of
// weights: what an instruction set would compute, one lane after the other. The Native stage runs
// kernels with them, and the tests hold every templates/isa/<isa>/vocab.h against them. They are
// written from the meaning of each verb and share no code with the headers they judge.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compiler/base/check.h"
#include "templates/isa/traits.h"
#include "templates/native_products.h"
#include "templates/native_values.h"
#include "templates/stage.h"

namespace etch {

class NativeVerbs : public NativeProducts {
 public:
  using F32 = native::F32;
  using QuadX = native::QuadX;
  using QuadI = native::QuadI;

  // isa.lanes is 1, 2, 4, 8 or 16.
  explicit NativeVerbs(const IsaTraits& isa) : NativeProducts(isa) {
    ETCH_CHECK(isa.lanes == 1 || isa.lanes == 2 || isa.lanes == 4 || isa.lanes == 8 ||
               isa.lanes == 16);
  }

  X4 part(const QuadX& quad, int i) const { return quad.part[index(i)]; }
  I32 part(const QuadI& quad, int i) const { return quad.part[index(i)]; }

  // ---- integers and products ----

  I32 zero_i32(const Name&) const { return {}; }

  I32 splat_i32(const Name&, int v) const {
    return make<I32>([&](std::size_t) { return v; });
  }

  I32 load_i32(const Name&, const std::int32_t* p) const {
    ETCH_CHECK(native::is_aligned(p, 4 * isa_.lanes));
    return make<I32>([&](std::size_t c) { return p[c]; });
  }

  I32 load_u8(const Name& name, const std::uint8_t* p) const {
    return load_u8_n(name, p, isa_.lanes);
  }

  I32 load_u8_n(const Name&, const std::uint8_t* p, int n) const {
    return make<I32>([&](std::size_t c) { return c < index(n) ? std::int32_t{p[c]} : 0; });
  }

  I32 load_i32_n(const Name&, const std::int32_t* p, int n) const {
    ETCH_CHECK(n <= isa_.lanes);
    return make<I32>([&](std::size_t c) { return c < index(n) ? p[c] : 0; });
  }

  I32 repeat_u8(const Name&, const std::uint8_t* p) const {
    return make<I32>([&](std::size_t) { return std::int32_t{*p}; });
  }

  X4 broadcast4(const Name&, const std::uint8_t* x) const {
    return make<X4>([&](std::size_t) {
      return std::array<std::uint8_t, 4>{x[0], x[1], x[2], x[3]};
    });
  }

  X4 broadcast8(const Name&, const std::uint8_t* x) const {
    return make<X4>([&](std::size_t c) {
      const std::uint8_t* const from = x + c % 2 * 4;
      return std::array<std::uint8_t, 4>{from[0], from[1], from[2], from[3]};
    });
  }

  void add_i32(I32& acc, const I32& v) const {
    for (std::size_t c = 0; c < lanes(); ++c) {
      acc.lane[c] = native::wrapping_add(acc.lane[c], v.lane[c]);
    }
  }

  I32 sub_i32(const Name&, const I32& a, const I32& b) const {
    return make<I32>([&](std::size_t c) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.lane[c]) -
                                       static_cast<std::uint32_t>(b.lane[c]));
    });
  }

  I32 add_pairs(const Name&, const I32& a, const I32& b) const {
    return make<I32>([&](std::size_t c) {  // the lane after the only one is zero
      const I32& from = c % 2 == 0 ? a : b;
      return native::wrapping_add(from.lane[c / 2 * 2], from.lane[c / 2 * 2 + 1]);
    });
  }

  // ---- bytes ----

  Bytes load_bytes(const Name& name, const std::uint8_t* p) const {
    return load_bytes_n(name, p, isa_.byte_lanes());
  }

  Bytes load_bytes_n(const Name&, const std::uint8_t* p, int n) const {
    return make_bytes([&](std::size_t b) { return b < index(n) ? p[b] : std::uint8_t{0}; });
  }

  void insert_bytes(Bytes& acc, const std::uint8_t* p, int first, int n) const {
    ETCH_CHECK(first >= 0 && n > 0 && first + n <= isa_.byte_lanes());
    for (std::size_t i = 0; i < index(n); ++i) acc.at[index(first) + i] = p[i];
  }

  Bytes broadcast_bytes(const Name&, const std::uint8_t* p) const {
    return make_bytes([&](std::size_t) { return p[0]; });
  }

  Bytes splat_bytes(const Name&, int v) const {
    return make_bytes([&](std::size_t) { return static_cast<std::uint8_t>(v); });
  }

  Bytes max_bytes(const Name&, const Bytes& x, const Bytes& y) const {
    return make_bytes([&](std::size_t b) { return x.at[b] > y.at[b] ? x.at[b] : y.at[b]; });
  }

  void max_into(Bytes& acc, const Bytes& v) const { acc = max_bytes("max", acc, v); }

  Bytes min_bytes(const Name&, const Bytes& x, const Bytes& y) const {
    return make_bytes([&](std::size_t b) { return x.at[b] < y.at[b] ? x.at[b] : y.at[b]; });
  }

  Bytes xor_bytes(const Name&, const Bytes& x, const Bytes& y) const {
    return make_bytes([&](std::size_t b) { return static_cast<std::uint8_t>(x.at[b] ^ y.at[b]); });
  }

  Bytes every_second(const Name&, const Bytes& a, const Bytes& b, int n) const {
    ETCH_CHECK(n > 0 && (n == 2 * isa_.lanes || n == isa_.lanes || 2 * n == isa_.lanes));
    return make_bytes([&](std::size_t to) {
      const std::size_t from = to / index(n) * 2 * index(n) + to % index(n);
      return from < byte_lanes() ? a.at[from] : b.at[from - byte_lanes()];
    });
  }

  QuadX interleave4(const Name&, const Bytes& r0, const Bytes& r1, const Bytes& r2,
                    const Bytes& r3) const {
    QuadX quad;
    for (std::size_t b = 0; b < byte_lanes(); ++b) {
      const InLane at = in_lane(b);
      quad.part[at.vector].lane[at.lane] = {r0.at[b], r1.at[b], r2.at[b], r3.at[b]};
    }
    return quad;
  }

  QuadI widen4(const Name&, const Bytes& bytes) const {
    QuadI quad;
    for (std::size_t b = 0; b < byte_lanes(); ++b) {
      const InLane at = in_lane(b);
      quad.part[at.vector].lane[at.lane] = bytes.at[b];
    }
    return quad;
  }

  Bytes narrow4(const Name&, const I32& v0, const I32& v1, const I32& v2, const I32& v3,
                int zp) const {
    const std::array<const I32*, 4> vectors = {&v0, &v1, &v2, &v3};
    return make_bytes([&](std::size_t b) {
      const InLane at = in_lane(b);
      const int word = native::clamp(vectors[at.vector]->lane[at.lane], -32768, 32767);
      const int moved = native::clamp(word + zp, -32768, 32767);
      return static_cast<std::uint8_t>(native::clamp(moved, 0, 255));
    });
  }

  Bytes arrange1(const Name&, const Bytes& bytes) const {
    Bytes out;
    for (std::size_t b = 0; b < byte_lanes(); ++b) {
      const InLane at = in_lane(b);
      out.at[at.vector * lanes() + at.lane] = bytes.at[b];
    }
    return out;
  }

  Bytes arrange2(const Name&, const Bytes& bytes) const {
    Bytes out;
    for (std::size_t b = 0; b < byte_lanes(); ++b) {
      const InLane at = in_lane(b);
      const std::size_t pixel = at.vector / 2;
      out.at[pixel * 2 * lanes() + channel(2, at.vector % 2, at.lane)] = bytes.at[b];
    }
    return out;
  }

  Bytes arrange3(const Name&, const Bytes& bytes) const {
    Bytes out;
    for (std::size_t b = 0; b < byte_lanes(); ++b) {
      const InLane at = in_lane(b);
      if (at.vector < 3) out.at[channel(3, at.vector, at.lane)] = bytes.at[b];
    }
    return out;
  }

  Bytes interleave(const Name&, const Bytes& bytes, int n) const {
    Bytes out;
    for (std::size_t b = 0; b < byte_lanes(); ++b) {
      const InLane at = in_lane(b);
      if (at.vector < index(n)) out.at[at.lane * index(n) + at.vector] = bytes.at[b];
    }
    return out;
  }

  QuadI natural4(const Name&, const I32& v0, const I32& v1, const I32& v2, const I32& v3) const {
    const std::array<const I32*, 4> vectors = {&v0, &v1, &v2, &v3};
    QuadI quad;
    for (std::size_t b = 0; b < byte_lanes(); ++b) {
      const InLane at = in_lane(b);
      quad.part[b / lanes()].lane[b % lanes()] = vectors[at.vector]->lane[at.lane];
    }
    return quad;
  }

  Bytes unzip(const Name&, const Bytes& bytes) const {
    return make_bytes([&](std::size_t to) {
      const std::size_t even = (lanes() + 1) / 2;
      const std::size_t i = to % lanes();
      return bytes.at[to - i + (i < even ? 2 * i : 2 * (i - even) + 1)];
    });
  }

  void store_bytes(std::uint8_t* p, const Bytes& bytes) const {
    store_slice(p, bytes, 0, isa_.byte_lanes());
  }

  void store_slice(std::uint8_t* p, const Bytes& bytes, int first, int n) const {
    ETCH_CHECK(first >= 0 && n >= 0 && first + n <= isa_.byte_lanes());
    for (std::size_t i = 0; i < index(n); ++i) p[i] = bytes.at[index(first) + i];
  }

  void store_spread(std::uint8_t* p, const Bytes& bytes, int stride, int n) const {
    for (std::ptrdiff_t i = 0; i < n; ++i) p[i * stride] = bytes.at[static_cast<std::size_t>(i)];
  }

  // ---- floats ----

  F32 splat_f32(const Name&, float v) const {
    return make<F32>([&](std::size_t) { return v; });
  }

  F32 repeat_f32(const Name&, const float* p) const {
    return make<F32>([&](std::size_t) { return at(p, 0); });
  }

  F32 load_f32(const Name& name, const float* p) const { return load_f32_n(name, p, isa_.lanes); }

  F32 load_f32_n(const Name&, const float* p, int n) const {
    return make<F32>([&](std::size_t c) { return c < index(n) ? at(p, c) : 0.0F; });
  }

  F32 to_f32(const Name&, const I32& v) const {
    return make<F32>([&](std::size_t c) { return static_cast<float>(v.lane[c]); });
  }

  F32 mul_f32(const Name&, const F32& x, const F32& y) const {
    return make<F32>([&](std::size_t c) { return x.lane[c] * y.lane[c]; });
  }

  F32 add_f32(const Name&, const F32& x, const F32& y) const {
    return make<F32>([&](std::size_t c) { return x.lane[c] + y.lane[c]; });
  }

  void add_into(F32& acc, const F32& v) const { acc = add_f32("sum", acc, v); }

  F32 div_f32(const Name&, const F32& x, const F32& y) const {
    return make<F32>([&](std::size_t c) { return x.lane[c] / y.lane[c]; });
  }

  F32 sub_f32(const Name&, const F32& x, const F32& y) const {
    return make<F32>([&](std::size_t c) { return x.lane[c] - y.lane[c]; });
  }

  F32 abs_f32(const Name&, const F32& v) const {
    return make<F32>([&](std::size_t c) { return std::copysign(v.lane[c], 1.0F); });
  }

  F32 neg_f32(const Name&, const F32& v) const {
    return make<F32>([&](std::size_t c) { return -v.lane[c]; });
  }

  F32 at_least_f32(const Name&, const F32& v, const F32& low) const {
    return make<F32>([&](std::size_t c) { return std::max(v.lane[c], low.lane[c]); });
  }

  F32 at_most_f32(const Name&, const F32& v, const F32& high) const {
    return make<F32>([&](std::size_t c) { return std::min(v.lane[c], high.lane[c]); });
  }

  F32 max_f32(const Name&, const F32& a, const F32& b) const {
    return make<F32>([&](std::size_t c) {
      return std::isnan(a.lane[c]) || a.lane[c] > b.lane[c] ? a.lane[c] : b.lane[c];
    });
  }

  F32 min_f32(const Name&, const F32& a, const F32& b) const {
    return make<F32>([&](std::size_t c) {
      return std::isnan(a.lane[c]) || a.lane[c] < b.lane[c] ? a.lane[c] : b.lane[c];
    });
  }

  F32 unless_negative(const Name&, const F32& v, const F32& other) const {
    return make<F32>([&](std::size_t c) { return v.lane[c] >= 0 ? v.lane[c] : other.lane[c]; });
  }

  void fall_to(F32& acc, const F32& v) const {
    for (std::size_t c = 0; c < lanes(); ++c) acc.lane[c] = std::min(acc.lane[c], v.lane[c]);
  }

  void rise_to(F32& acc, const F32& v) const {
    for (std::size_t c = 0; c < lanes(); ++c) acc.lane[c] = std::max(acc.lane[c], v.lane[c]);
  }

  F32 fma_f32(const Name&, const F32& x, const F32& y, const F32& z) const {
    return make<F32>([&](std::size_t c) { return std::fma(x.lane[c], y.lane[c], z.lane[c]); });
  }

  F32 clamp_f32(const Name&, const F32& v, float lo, float hi) const {
    return make<F32>([&](std::size_t c) {
      const float above = v.lane[c] > lo ? v.lane[c] : lo;  // NaN compares false
      return above < hi ? above : hi;
    });
  }

  I32 round_i32(const Name&, const F32& v) const {
    return make<I32>([&](std::size_t c) { return native::nearest_even(v.lane[c]); });
  }

  I32 round_away_i32(const Name&, const F32& v) const {
    return make<I32>([&](std::size_t c) { return native::nearest_away(v.lane[c]); });
  }

  I32 trunc_i32(const Name&, const F32& v) const {
    return make<I32>([&](std::size_t c) { return native::towards_zero(v.lane[c]); });
  }

  I32 scale_round(const Name& name, const I32& acc, const F32& s) const {
    return round_i32(name, mul_f32(name, to_f32(name, acc), s));
  }

  I32 scale_clamp_round(const Name& name, const I32& acc, const F32& s, float lo, float hi) const {
    return round_i32(name, clamp_f32(name, mul_f32(name, to_f32(name, acc), s), lo, hi));
  }

  // ---- requantization without floats ----

  I32 multiply_high(const Name&, const I32& acc, const std::int32_t* p) const {
    return make<I32>([&](std::size_t c) {
      const std::int64_t sum = std::int64_t{acc.lane[c]} * kind(p, 0, c) + offset(p, c);
      return wrapped(floor_shift(sum, 32 + kind(p, 3, c)));
    });
  }

  I32 multiply_shift(const Name&, const I32& acc, const std::int32_t* p) const {
    return make<I32>([&](std::size_t c) {
      const std::int64_t product = std::int64_t{acc.lane[c]} * kind(p, 0, c);
      const std::int32_t shift = kind(p, 3, c);
      const std::int64_t parity = floor_shift(product, shift) % 2 == 0 ? 0 : 1;
      return wrapped(floor_shift(product + offset(p, c) + kind(p, 4, c) * parity, shift));
    });
  }

  I32 shift_to_even(const Name&, const I32& acc, const std::int32_t* p) const {
    return make<I32>([&](std::size_t c) {
      const std::int32_t v = acc.lane[c], shift = kind(p, 1, c);
      const std::int32_t odd = floor_shift(v, shift) % 2 == 0 ? 0 : 1;
      const std::int32_t more = native::wrapping_add(kind(p, 0, c), odd);
      return wrapped(floor_shift(native::wrapping_add(v, more), shift));
    });
  }

  void correct_where(I32& q, const I32& acc, const std::int32_t* p) const {
    for (std::size_t c = 0; c < lanes(); ++c) {
      if (acc.lane[c] == kind(p, 0, c)) q.lane[c] = native::wrapping_add(q.lane[c], kind(p, 1, c));
    }
  }

  void float_product(I32& q, const I32& acc, const std::int32_t* p) const {
    for (std::size_t c = 0; c < lanes(); ++c) {
      float scale = 0;
      std::memcpy(&scale, p + c, sizeof scale);
      if (scale == 0) continue;
      const float product = static_cast<float>(acc.lane[c]) * scale;
      q.lane[c] = native::nearest_even(std::fmin(std::fmax(product, -0x1p23F), 0x1p23F));
    }
  }

  void store_i32(std::int32_t* p, const I32& v) const { store_i32_n(p, v, isa_.lanes); }
  void store_i32_n(std::int32_t* p, const I32& v, int n) const {
    std::memcpy(p, v.lane.data(), 4 * index(n));
  }
  void store_f32(float* p, const F32& v) const { store_f32_n(p, v, isa_.lanes); }
  void store_f32_n(float* p, const F32& v, int n) const {
    std::memcpy(p, v.lane.data(), 4 * index(n));
  }

 private:
  struct InLane {
    std::size_t vector = 0;
    std::size_t lane = 0;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  std::size_t lanes() const { return index(isa_.lanes); }
  std::size_t byte_lanes() const { return index(isa_.byte_lanes()); }

  // Parameter c of the kind'th vector of parameters.
  std::int32_t kind(const std::int32_t* p, std::size_t kind, std::size_t c) const {
    return p[kind * lanes() + c];
  }
  std::int64_t offset(const std::int32_t* p, std::size_t c) const {
    const auto low = static_cast<std::uint32_t>(kind(p, 1, c));
    return std::int64_t{kind(p, 2, c)} * (std::int64_t{1} << 32) + low;
  }
  // floor(v / 2^shift), shift < 63.
  static std::int64_t floor_shift(std::int64_t v, std::int32_t shift) {
    const std::int64_t divisor = std::int64_t{1} << shift;
    return v / divisor - (v % divisor < 0 ? 1 : 0);
  }
  static std::int32_t wrapped(std::int64_t v) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(v)));
  }

  static float at(const float* p, std::size_t c) {
    float value = 0;
    std::memcpy(&value, p + c, sizeof value);
    return value;
  }

  template <class Vector, class Lane>
  Vector make(Lane lane) const {
    Vector out;
    for (std::size_t c = 0; c < lanes(); ++c) out.lane[c] = lane(c);
    return out;
  }

  template <class Byte>
  Bytes make_bytes(Byte byte) const {
    Bytes out;
    for (std::size_t b = 0; b < byte_lanes(); ++b) out.at[b] = byte(b);
    return out;
  }

  // Which lane of which of four vectors byte b is in "in-lane order".
  InLane in_lane(std::size_t b) const {
    const std::size_t run = index(isa_.run_in_lane());
    return {b / run % 4, b / (4 * run) * run + b % run};
  }

  std::size_t channel(int vectors, std::size_t vector, std::size_t lane) const {
    return index(channel_of(isa_, vectors, static_cast<int>(vector), static_cast<int>(lane)));
  }
};

}  // namespace etch
