// One run through every verb on given data, the same for every instruction set and for the
// portable model of templates/native.h, so that results can be compared byte by byte.
//
// templates/isa/<isa>/vocab_check.cc instantiates it with that folder's vocab.h and is compiled
// with that instruction set's flags. So nothing here may have external linkage, or a function
// compiled for a better CPU could be linked into code for all: hence no standard library, and
// everything but the two plain structs is static or in an unnamed namespace.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace etch {
namespace vocab_check {

constexpr int kMostLanes = 16;
constexpr int kWindow = 4 * kMostLanes;  // bytes of the longest byte vector

struct Input {
  int lanes;
  int weight_bytes;
  const int32_t* integers;        // 5 vectors of kMostLanes, aligned to 64
  const int32_t* sums;            // 1 vector; sums[c] * scales[c] rounds to an int32
  const float* scales;            // 1 vector
  const float* reals;             // 3 vectors of anything
  const float* moderate;          // 1 vector of values that round to an int32
  const int32_t* factors;         // 5 kinds of `lanes`: what multiply_shift takes; shifts below 32
  const int32_t* corrections;     // 2 kinds of `lanes`; some values are those of integers
  const int32_t* scale_bits;      // 1 vector; some are 0
  float low, high;                // clamps, of magnitude below 2^31
  const uint8_t* bytes;           // 4 vectors of kWindow
  const uint8_t* weights;         // 4 packed vectors, aligned to 64
  const uint8_t* byte_weights;    // the same for load_byte_w4
  const uint8_t* moved_weights;   // 4 vectors as load_moved_w4 takes them, aligned to 64
  const uint8_t* sums16_weights;  // 4 vectors as dot_sums16 takes them
  const uint8_t* places;          // 4 int32, for repeat4_at: at most kWindow - 4
  const uint8_t* unit_weights;    // 4 packed vectors: vector k has weight 1 for byte k of each lane
  int zero_point;
  uint8_t* page_end;  // kWindow bytes before it may be used; nothing from it on
};

// What Input is made of: the same bytes on every machine with this byte order, so that one can be
// sent the data of another.
struct alignas(64) Data {
  alignas(64) int32_t integers[5 * kMostLanes];
  alignas(64) int32_t sums[kMostLanes];
  alignas(64) float scales[kMostLanes];
  alignas(64) float reals[3 * kMostLanes];
  alignas(64) float moderate[kMostLanes];
  alignas(64) uint8_t bytes[4 * kWindow];
  int32_t factors[5 * kMostLanes];
  int32_t corrections[2 * kMostLanes];
  int32_t scale_bits[kMostLanes];
  alignas(64) uint8_t weights[4 * 2 * kWindow];
  alignas(64) uint8_t byte_weights[4 * kWindow];
  alignas(64) uint8_t moved_weights[4 * 2 * kWindow];
  alignas(64) uint8_t sums16_weights[4 * kWindow];
  alignas(64) uint8_t unit_weights[4 * 2 * kWindow];
  int32_t places[4];
  int32_t lanes;
  int32_t weight_bytes;
  int32_t zero_point;
  float low, high;
};

struct Output {
  static constexpr int kMostResults = 8192;
  int results;
  const char* verb[kMostResults];
  int end[kMostResults];  // where each result ends in `data`
  uint8_t data[1 << 20];
};

namespace {  // NOLINT(google-build-namespaces): nothing may have external linkage

inline Input input_of(const Data& data, uint8_t* page_end) {
  return {data.lanes,
          data.weight_bytes,
          data.integers,
          data.sums,
          data.scales,
          data.reals,
          data.moderate,
          data.factors,
          data.corrections,
          data.scale_bits,
          data.low,
          data.high,
          data.bytes,
          data.weights,
          data.byte_weights,
          data.moved_weights,
          data.sums16_weights,
          reinterpret_cast<const uint8_t*>(data.places),
          data.unit_weights,
          data.zero_point,
          page_end};
}

// Gives up without a trace when full: the test then misses results.
inline void keep(Output& out, const char* verb, const void* from, int bytes) {
  const int begin = out.results == 0 ? 0 : out.end[out.results - 1];
  if (out.results == Output::kMostResults) return;
  if (begin + bytes > static_cast<int>(sizeof out.data)) return;
  memcpy(out.data + begin, from, static_cast<size_t>(bytes));
  out.verb[out.results] = verb;
  out.end[out.results] = begin + bytes;
  ++out.results;
}

template <class S>
class EveryVerb {
 public:
  EveryVerb(S& s, const Input& in, Output& out) : s_(s), in_(in), out_(out), lanes_(in.lanes) {}

  void run() {
    integers();
    products();
    bytes();
    interleaving();
    narrowing();
    partial_bytes();
    slices();
    floats();
    rounding();
    partial_lanes();
    requantization();
  }

 private:
  using I32 = typename S::I32;
  using F32 = typename S::F32;
  using Bytes = typename S::Bytes;

  const int32_t* integer_vector(int i) const { return in_.integers + i * kMostLanes; }
  const float* real_vector(int i) const { return in_.reals + i * kMostLanes; }
  Bytes byte_vector(int i) { return s_.load_bytes("bytes", in_.bytes + i * kWindow); }

  void keep_i32(const char* verb, const I32& v) {
    int32_t lane[kMostLanes];
    s_.store_i32(lane, v);
    keep(out_, verb, lane, 4 * lanes_);
  }

  // All NaNs count as the same.
  void keep_f32(const char* verb, const F32& v) {
    float lane[kMostLanes];
    s_.store_f32(lane, v);
    for (int c = 0; c < lanes_; ++c) {
      uint32_t bits;
      memcpy(&bits, lane + c, sizeof bits);
      if ((bits & 0x7fffffffu) > 0x7f800000u) bits = 0x7fc00000u;
      memcpy(lane + c, &bits, sizeof bits);
    }
    keep(out_, verb, lane, 4 * lanes_);
  }

  void keep_bytes(const char* verb, const Bytes& v, int n) {
    uint8_t byte[kWindow];
    s_.store_bytes(byte, v);
    keep(out_, verb, byte, n);
  }

  template <class X>  // an X4, or a part of a QuadX
  void keep_x4(const char* verb, const X& x) {
    for (int k = 0; k < 4; ++k) {
      I32 sum = s_.zero_i32("sum");
      s_.dot4(sum, x, s_.load_w4("w", in_.unit_weights + k * in_.weight_bytes));
      keep_i32(verb, sum);
    }
  }

  void integers() {
    keep_i32("zero_i32", s_.zero_i32("v"));
    keep_i32("splat_i32", s_.splat_i32("v", in_.integers[0]));
    keep_i32("load_i32", s_.load_i32("v", integer_vector(0)));
    keep_i32("load_u8", s_.load_u8("v", in_.bytes + 1));
    for (int n = 0; n < lanes_; ++n) {
      keep_i32("load_u8_n", s_.load_u8_n("v", at_page_end(in_.bytes, n), n));
    }
    I32 sum = s_.load_i32("v", integer_vector(0));
    s_.add_i32(sum, s_.load_i32("v", integer_vector(1)));
    keep_i32("add_i32", sum);
    keep_i32("add_pairs", s_.add_pairs("v", s_.load_i32("v", integer_vector(0)),
                                       s_.load_i32("v", integer_vector(1))));
    keep_i32("sub_i32", s_.sub_i32("v", s_.load_i32("v", integer_vector(0)),
                                   s_.load_i32("v", integer_vector(1))));
    keep_i32("repeat_u8", s_.repeat_u8("v", at_page_end(in_.bytes, 1)));
    for (int n = 0; n <= lanes_; ++n) {
      keep_i32("load_i32_n", s_.load_i32_n("v", at_page_end(in_.integers, n), n));
    }
    int32_t lane[kMostLanes];
    s_.store_i32(lane, sum);
    keep(out_, "store_i32", lane, 4 * lanes_);
  }

  void products() {
    keep_x4("broadcast4", s_.broadcast4("x", in_.bytes + 3));
    keep_x4("broadcast8", s_.broadcast8("x", at_page_end(in_.bytes, 8)));
    I32 sum = s_.load_i32("v", integer_vector(2));
    for (int i = 0; i < 4; ++i) {
      const auto w = s_.load_w4("w", in_.weights + i * in_.weight_bytes);
      s_.dot4(sum, s_.broadcast4("x", in_.bytes + 4 * i), w);
      keep_i32(i == 0 ? "load_w4" : "dot4", sum);
    }
    for (int i = 0; i < 4; ++i) {
      const auto w = s_.load_byte_w4("w", in_.byte_weights + i * 4 * lanes_);
      s_.dot4(sum, s_.broadcast4("x", in_.bytes + 4 * i), w);
      keep_i32("load_byte_w4", sum);
    }
    for (int i = 0; i < 4; ++i) moved_products(s_.load_i32("v", integer_vector(i)), i);
    I32 squares = s_.load_i32("v", integer_vector(3));
    s_.dot_squares(squares, byte_vector(0), byte_vector(1));
    keep_i32("dot_squares", squares);
    for (int i = 0; i < 4; ++i) sums16(s_.load_i32("v", integer_vector(i)), i);
    const I32 a = s_.load_i32("v", integer_vector(0));
    const I32 b = s_.load_i32("v", integer_vector(1));
    keep_i32("low_halves", s_.low_halves("v", a, b));
    keep_i32("high_halves", s_.high_halves("v", a, b));
  }

  void sums16(I32 sum, int i) {
    const Bytes x = s_.repeat4("x", at_page_end(in_.bytes + 4 * i, 4));
    keep_bytes("repeat4", x, 4 * lanes_);
    const Bytes there = s_.repeat4_at("x", in_.bytes, in_.places + 4 * i, kWindow);
    keep_bytes("repeat4_at", there, 4 * lanes_);
    const Bytes w = s_.load_bytes("w", in_.sums16_weights + i * kWindow);
    s_.dot_sums16(sum, i % 2 == 0 ? x : there, w);
    s_.dot_sums16(sum, s_.splat_bytes("x", 255), w);
    keep_i32("dot_sums16", sum);
  }

  void moved_products(I32 sum, int i) {
    const auto w = s_.load_moved_w4("w", in_.moved_weights + i * in_.weight_bytes);
    s_.dot4_moved(sum, s_.broadcast4("x", in_.bytes + 4 * i), w);
    keep_i32("load_moved_w4", sum);
    const auto mixed =
        s_.interleave4("v", byte_vector(0), byte_vector(1), byte_vector(2), byte_vector(3));
    s_.dot4_moved(sum, s_.part(mixed, i), w);
    keep_i32("dot4_moved", sum);
    for (int group = 0; group < lanes_; ++group) {
      s_.dot4_lane(sum, byte_vector(i), group, w);
      keep_i32("dot4_lane", sum);
    }
  }

  void bytes() {
    keep_bytes("load_bytes", byte_vector(0), 4 * lanes_);
    keep_bytes("splat_bytes", s_.splat_bytes("v", in_.bytes[0]), 4 * lanes_);
    keep_bytes("broadcast_bytes", s_.broadcast_bytes("v", in_.bytes + 1), 4 * lanes_);
    keep_bytes("max_bytes", s_.max_bytes("v", byte_vector(0), byte_vector(1)), 4 * lanes_);
    keep_bytes("min_bytes", s_.min_bytes("v", byte_vector(0), byte_vector(1)), 4 * lanes_);
    keep_bytes("xor_bytes", s_.xor_bytes("v", byte_vector(0), byte_vector(1)), 4 * lanes_);
    Bytes most = byte_vector(2);
    s_.max_into(most, byte_vector(3));
    keep_bytes("max_into", most, 4 * lanes_);
    for (int n = 2 * lanes_; n > 0 && 2 * n >= lanes_; n /= 2)
      keep_bytes("every_second", s_.every_second("v", byte_vector(0), byte_vector(1), n),
                 4 * lanes_);
    keep_bytes("unzip", s_.unzip("v", byte_vector(0)), 4 * lanes_);
    uint8_t byte[kWindow];
    s_.store_bytes(byte, byte_vector(1));
    keep(out_, "store_bytes", byte, 4 * lanes_);
  }

  void interleaving() {
    const auto mixed =
        s_.interleave4("v", byte_vector(0), byte_vector(1), byte_vector(2), byte_vector(3));
    const auto wide = s_.widen4("v", byte_vector(2));
    const auto load = [&](int i) { return s_.load_i32("v", integer_vector(i)); };
    const auto natural = s_.natural4("v", load(0), load(1), load(2), load(3));
    for (int i = 0; i < 4; ++i) {
      keep_i32("natural4", s_.part(natural, i));
      keep_x4("interleave4", s_.part(mixed, i));
      keep_i32("widen4", s_.part(wide, i));
    }
  }

  void narrowing() {
    const auto load = [&](int i) { return s_.load_i32("v", integer_vector(i)); };
    keep_bytes("narrow4", s_.narrow4("v", load(0), load(1), load(2), load(3), in_.zero_point),
               4 * lanes_);
    keep_bytes("narrow4", s_.narrow4("v", load(4), load(1), load(4), load(2), in_.zero_point),
               4 * lanes_);
    keep_bytes("arrange1", s_.arrange1("v", byte_vector(0)), 4 * lanes_);
    keep_bytes("arrange2", s_.arrange2("v", byte_vector(0)), 4 * lanes_);
    keep_bytes("arrange3", s_.arrange3("v", byte_vector(0)), 3 * lanes_);
    for (int n = 2; n <= 4; ++n)
      keep_bytes("interleave", s_.interleave("v", byte_vector(0), n), n * lanes_);
  }

  // A copy of n bytes that ends where memory ends.
  template <class T>
  const T* at_page_end(const T* from, int n) {
    uint8_t* const to = in_.page_end - n * static_cast<int>(sizeof(T));
    memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    const void* const copy = to;
    return static_cast<const T*>(copy);
  }

  // n elements that end where memory ends, after bytes that must not change.
  template <class T>
  T* blank_page_end(int n) {
    memset(in_.page_end - kWindow, 0xA5, kWindow);
    void* const to = in_.page_end - n * static_cast<int>(sizeof(T));
    return static_cast<T*>(to);
  }
  void keep_page_end(const char* verb) { keep(out_, verb, in_.page_end - kWindow, kWindow); }

  void partial_bytes() {
    for (int n = 0; n < 4 * lanes_; ++n) {
      const Bytes v = s_.load_bytes_n("v", at_page_end(in_.bytes + kWindow, n), n);
      keep_bytes("load_bytes_n", v, 4 * lanes_);
    }
    for (int n = 1; n <= 4 * lanes_; ++n) {
      for (int first = 0; first + n <= 4 * lanes_; first += first < 20 ? 1 : 5) {
        Bytes v = byte_vector(2);
        s_.insert_bytes(v, at_page_end(in_.bytes + kWindow, n), first, n);
        keep_bytes("insert_bytes", v, 4 * lanes_);
      }
    }
    for (int stride = 1; stride < 20; stride += 9) {
      for (int n = 1; n <= 4 * lanes_; n += n < 3 ? 1 : 7) spread(stride, n);
    }
  }

  void spread(int stride, int n) {
    uint8_t byte[20 * kWindow];
    memset(byte, 0xA5, sizeof byte);
    s_.store_spread(byte, byte_vector(3), stride, n);
    keep(out_, "store_spread", byte, stride * n + 1);
  }

  void slices() {
    const Bytes v = byte_vector(1);
    for (int first = 0; first < 4 * lanes_; ++first) {
      for (int n = 0; first + n <= 4 * lanes_; ++n) {
        s_.store_slice(blank_page_end<uint8_t>(n), v, first, n);
        keep_page_end("store_slice");
      }
    }
  }

  void floats() {
    const F32 a = s_.load_f32("v", real_vector(0));
    const F32 b = s_.load_f32("v", real_vector(1));
    const F32 c = s_.load_f32("v", real_vector(2));
    keep_f32("load_f32", a);
    keep_f32("splat_f32", s_.splat_f32("v", in_.reals[1]));
    keep_f32("to_f32", s_.to_f32("v", s_.load_i32("v", integer_vector(3))));
    keep_f32("mul_f32", s_.mul_f32("v", a, b));
    keep_f32("add_f32", s_.add_f32("v", a, b));
    keep_f32("div_f32", s_.div_f32("v", a, b));
    keep_f32("sub_f32", s_.sub_f32("v", a, b));
    keep_f32("sub_f32", s_.sub_f32("v", s_.mul_f32("v", a, c), b));
    keep_f32("fma_f32", s_.fma_f32("v", a, b, c));
    keep_f32("clamp_f32", s_.clamp_f32("v", a, in_.low, in_.high));
    // Two roundings, whatever the compiler may fuse; each product has this one use.
    keep_f32("add_f32", s_.add_f32("v", s_.mul_f32("v", a, c), b));
    F32 sum = a;
    s_.add_into(sum, s_.mul_f32("v", b, c));
    keep_f32("add_into", sum);
    float lane[kMostLanes];
    s_.store_f32(lane, a);
    keep(out_, "store_f32", lane, 4 * lanes_);
    keep_f32("repeat_f32", s_.repeat_f32("v", at_page_end(in_.reals, 1)));
    keep_f32("abs_f32", s_.abs_f32("v", a));
    keep_f32("neg_f32", s_.neg_f32("v", a));
    comparisons(a, b);
    comparisons(b, a);
    comparisons(a, a);
    comparisons(c, s_.splat_f32("v", 0.0F));
    comparisons(s_.splat_f32("v", -0.0F), s_.splat_f32("v", 0.0F));
    comparisons(s_.splat_f32("v", 0.0F), s_.splat_f32("v", -0.0F));
  }

  void comparisons(const F32& a, const F32& b) {
    keep_f32("at_least_f32", s_.at_least_f32("v", a, b));
    keep_f32("at_most_f32", s_.at_most_f32("v", a, b));
    keep_f32("max_f32", s_.max_f32("v", a, b));
    keep_f32("min_f32", s_.min_f32("v", a, b));
    keep_f32("unless_negative", s_.unless_negative("v", a, b));
    F32 low = a;
    s_.fall_to(low, b);
    keep_f32("fall_to", low);
    F32 high = a;
    s_.rise_to(high, b);
    keep_f32("rise_to", high);
  }

  void rounding() {
    const I32 sums = s_.load_i32("v", in_.sums);
    const F32 scales = s_.load_f32("v", in_.scales);
    keep_i32("round_i32", s_.round_i32("v", s_.load_f32("v", in_.moderate)));
    keep_i32("round_away_i32", s_.round_away_i32("v", s_.load_f32("v", in_.moderate)));
    keep_i32("trunc_i32", s_.trunc_i32("v", s_.load_f32("v", in_.moderate)));
    keep_i32("scale_round", s_.scale_round("v", sums, scales));
    keep_i32("scale_clamp_round", s_.scale_clamp_round("v", sums, scales, in_.low, in_.high));
    const F32 large = s_.splat_f32("v", 3e9F);
    keep_i32("scale_clamp_round", s_.scale_clamp_round("v", sums, large, in_.low, in_.high));
  }

  void partial_lanes() {
    const I32 integers = s_.load_i32("v", integer_vector(0));
    const F32 reals = s_.load_f32("v", in_.scales);
    for (int n = 0; n < lanes_; ++n) {
      keep_f32("load_f32_n", s_.load_f32_n("v", at_page_end(in_.scales, n), n));
      s_.store_f32_n(blank_page_end<float>(n), reals, n);
      keep_page_end("store_f32_n");
      s_.store_i32_n(blank_page_end<int32_t>(n), integers, n);
      keep_page_end("store_i32_n");
    }
  }

  // All parameters end where memory ends, one verb after the other.
  void requantization() {
    for (int i = 0; i < 5; ++i) {
      const I32 acc = s_.load_i32("v", integer_vector(i));
      const int32_t* const p = in_.factors;
      keep_i32("multiply_high", s_.multiply_high("v", acc, at_page_end(p, 4 * lanes_)));
      keep_i32("multiply_shift", s_.multiply_shift("v", acc, at_page_end(p, 5 * lanes_)));
      keep_i32("shift_to_even",
               s_.shift_to_even("v", acc, at_page_end(p + 2 * lanes_, 2 * lanes_)));
      I32 q = s_.load_i32("v", integer_vector(0));
      s_.correct_where(q, acc, at_page_end(in_.corrections, 2 * lanes_));
      keep_i32("correct_where", q);
      s_.float_product(q, acc, at_page_end(in_.scale_bits, lanes_));
      keep_i32("float_product", q);
    }
  }

  S& s_;
  const Input& in_;
  Output& out_;
  int lanes_;
};

}  // namespace
}  // namespace vocab_check
}  // namespace etch
