// The epilogue shared by all kernels that end in int32 accumulators: scale, round to nearest
// even, add the zero point, saturate, clamp, store (docs/spec/requantization.md section 3.1), or
// store the int32.
//
// Accumulators come as [pixel][vector]. Four vectors at a time are packed to bytes; how pixels
// and vectors share those four depends on the number of vectors per pixel:
//   4: one pixel   3: one pixel and padding   2: two pixels   1: four pixels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "templates/kernels/rows/sum.h"
#include "templates/stage.h"

namespace etch {

// What the lanes of a step need together when they are requantized without floats, and so which
// verbs run and how the constant "requantize" is laid out: for each vector the parameters of the
// verb of `line`, of every correct_where, of float_product.
struct IntegerLayout {
  enum class Line { kHigh, kToEven, kGeneral };  // multiply_high, shift_to_even, multiply_shift
  Line line = Line::kHigh;
  int exceptions = 0;     // the most of any lane
  bool emulated = false;  // some lane needs float_product

  int line_words() const {  // int32 per lane
    return line == Line::kHigh ? 4 : line == Line::kToEven ? 2 : 5;
  }
  int words() const { return line_words() + 2 * exceptions + (emulated ? 1 : 0); }
};

struct Requantize {
  enum class Kind {
    kInt32,       // the accumulator itself, lanes in natural order
    kFloat,       // |acc * scale| < 2^31 is proved: packs saturate
    kFloatClamp,  // clamped in float before rounding
    kInteger,     // without floats, as `integer` says
  };
  Kind kind = Kind::kFloat;
  IntegerLayout integer;
  int zero_point = 0;  // as stored (uint8)
  int low = 0;         // as stored; a fused activation raises or lowers these
  int high = 255;
};

// A quantized tensor of the same shape, the residual, that is added to the result before it is
// stored; `factors.y_stored` and the limits are those of the sum.
struct AddResidual {
  SumFactors factors;
  bool residual_is_a = false;  // which side of the sum it is
  int low = 0, high = 255;     // as stored
};

// Output pixel of a tile: its row and column in the tile and where it is (elements of y, and
// bytes of the residual).
struct PixelPlace {
  int row = 0, col = 0;
  std::int64_t offset = 0;
  std::int64_t residual = 0;
  int run = 0;                // if not 0, its channels are several runs of so many of them
  std::int64_t run_step = 0;  // elements of y from one run to the next
};

// The residual of a tile's first channel and pixel; no plan: nothing is added.
template <class S>
struct Residual {
  const AddResidual* plan = nullptr;
  typename S::template Ptr<const std::uint8_t> p{};
};

// Where the constants of a tile's first lane are: "scale" for the float kinds, "requantize" for
// kInteger, nothing for kInt32.
template <class S>
struct Factors {
  typename S::template Ptr<const float> scale{};
  typename S::template Ptr<const std::int32_t> integer{};
};

// Calls body(parameter name, pointer, make) for the constants at `lane`; make(pointer) gives the
// Factors. Not for kInt32.
template <class S, class Body>
void with_factors(S& s, const Requantize& out, const typename S::Index& lane, Body body) {
  if (out.kind == Requantize::Kind::kInteger) {
    body("requantize",
         s.template constant<const std::int32_t>("requantize") + lane * out.integer.words(),
         [](const auto& p) {
           return Factors<S>{{}, p};
         });
  } else {
    body("scale", s.template constant<const float>("scale") + lane, [](const auto& p) {
      return Factors<S>{p, {}};
    });
  }
}

namespace requantize_detail {

template <class S>
typename S::I32 on_line(S& s, IntegerLayout::Line line, const Name& name,
                        const typename S::I32& acc,
                        const typename S::template Ptr<const std::int32_t>& p) {
  if (line == IntegerLayout::Line::kHigh) return s.multiply_high(name, acc, p);
  if (line == IntegerLayout::Line::kToEven) return s.shift_to_even(name, acc, p);
  return s.multiply_shift(name, acc, p);
}

template <class S>
typename S::I32 without_floats(S& s, const IntegerLayout& layout, const Name& name,
                               const typename S::I32& acc,
                               const typename S::template Ptr<const std::int32_t>& p) {
  const int lanes = s.isa().lanes;
  auto q = on_line(s, layout.line, name, acc, p);
  int at = layout.line_words() * lanes;
  for (int e = 0; e < layout.exceptions; ++e, at += 2 * lanes) s.correct_where(q, acc, p + at);
  if (layout.emulated) s.float_product(q, acc, p + at);
  return q;
}

template <class S>
typename S::I32 to_integer(S& s, const Requantize& out, const Name& name,
                           const typename S::I32& acc, const typename S::F32& scale) {
  if (out.kind == Requantize::Kind::kFloat) return s.scale_round(name, acc, scale);
  return s.scale_clamp_round(name, acc, scale, static_cast<float>(-out.zero_point),
                             static_cast<float>(255 - out.zero_point));
}

template <class S>
typename S::Bytes clamped(S& s, int low, int high, const Name& name, typename S::Bytes bytes) {
  if (low > 0)
    bytes = s.max_bytes(Name(name).at("lo", 0), bytes, s.splat_bytes(Name(name).at("low", 0), low));
  if (high < 255)
    bytes =
        s.min_bytes(Name(name).at("hi", 0), bytes, s.splat_bytes(Name(name).at("high", 0), high));
  return bytes;
}

// The bytes of the residual at pixels [first, end), `width` of each, one after the other.
template <class S>
typename S::Bytes load_pixels(S& s, const typename S::template Ptr<const std::uint8_t>& p,
                              const std::vector<PixelPlace>& pixels, int first, int end,
                              int width) {
  const auto offset = [&](int i) { return pixels[static_cast<std::size_t>(i)].residual; };
  const Name name = Name("r").at("p", first);
  bool adjacent = (end - first) * width == 4 * s.isa().lanes;
  for (int i = first; i < end; ++i)
    adjacent = adjacent && offset(i) == offset(first) + (i - first) * width;
  if (adjacent) return s.load_bytes(name, p + offset(first));
  auto bytes = s.load_bytes_n(name, p + offset(first), width);
  for (int i = first + 1; i < end; ++i)
    s.insert_bytes(bytes, p + offset(i), (i - first) * width, width);
  return bytes;
}

template <class S>
typename S::Bytes with_residual(S& s, const AddResidual& plan, int first,
                                const typename S::Bytes& bytes, const typename S::Bytes& residual) {
  const auto& a = plan.residual_is_a ? residual : bytes;
  const auto& b = plan.residual_is_a ? bytes : residual;
  return clamped(s, plan.low, plan.high, Name("result").at("p", first),
                 sum_of_bytes(s, plan.factors, "p", first, a, b));
}

// Bytes of up to four vectors, each pixel's channels one after the other.
template <class S>
typename S::Bytes arranged(S& s, int vectors, const Name& name, const typename S::Bytes& bytes) {
  if (vectors == 1) return s.arrange1(name, bytes);
  if (vectors == 2) return s.arrange2(name, bytes);
  if (vectors == 3) return s.arrange3(name, bytes);
  return bytes;
}

template <class S>
void store_int32(S& s, int vectors, int channels, const std::vector<PixelPlace>& pixels,
                 const std::vector<typename S::I32>& acc,
                 const typename S::template Ptr<std::int32_t>& y) {
  const int lanes = s.isa().lanes;
  for (std::size_t p = 0; p < pixels.size(); ++p) {
    for (int v = 0; v < vectors && v * lanes < channels; ++v) {
      const auto at = y + (pixels[p].offset + v * lanes);
      const auto& value = acc[p * static_cast<std::size_t>(vectors) + static_cast<std::size_t>(v)];
      const int n = std::min(lanes, channels - v * lanes);
      if (n == lanes) {
        s.store_i32(at, value);
      } else {
        s.store_i32_n(at, value, n);
      }
    }
  }
}

// Bytes first .. first + channels - 1 of `bytes` to one pixel.
template <class S>
void store_pixel(S& s, const typename S::Bytes& bytes, int first, int channels,
                 const PixelPlace& pixel, const typename S::template Ptr<std::uint8_t>& y) {
  const int run = pixel.run == 0 ? channels : pixel.run;
  for (int at = 0; at < channels; at += run)
    s.store_slice(y + (pixel.offset + at / run * pixel.run_step), bytes, first + at, run);
}

}  // namespace requantize_detail

// Stores a tile. `acc` is [pixel][vector]; `factors` hold vectors * lanes lanes in order; the first
// `channels` channels of each pixel are stored at y + offset. Of a residual, vectors * lanes bytes
// are read for each pixel.
template <class S>
void store_tile(S& s, const Requantize& out, int vectors, int channels,
                const std::vector<PixelPlace>& pixels, const std::vector<typename S::I32>& acc,
                const Factors<S>& factors, const typename S::template Ptr<std::uint8_t>& y,
                const Residual<S>& residual = {}) {
  using namespace requantize_detail;
  const int lanes = s.isa().lanes;
  const int count = static_cast<int>(pixels.size());
  const int together = std::min(vectors >= 3 ? 1 : 4 / vectors, 4);
  const bool integer = out.kind == Requantize::Kind::kInteger;
  std::vector<typename S::F32> scales;
  for (int v = 0; v < vectors && !integer; ++v)
    scales.push_back(s.load_f32(Name("scale").at("v", v), factors.scale + v * lanes));
  for (int p0 = 0; p0 < count; p0 += together) {
    std::vector<typename S::I32> q;
    const int here = std::min(together, count - p0);
    for (int p = p0; p < p0 + here; ++p) {
      for (int v = 0; v < vectors; ++v) {
        const Name name = Name("q").at("p", p).at("v", v);
        const int at = p * vectors + v;
        const auto& sum = acc[static_cast<std::size_t>(at)];
        q.push_back(integer ? without_floats(s, out.integer, name, sum,
                                             factors.integer + v * lanes * out.integer.words())
                            : to_integer(s, out, name, sum, scales[static_cast<std::size_t>(v)]));
      }
    }
    while (q.size() < 4) q.push_back(q.back());
    const auto packed =
        s.narrow4(Name("packed").at("p", p0), q[0], q[1], q[2], q[3], out.zero_point);
    auto bytes = arranged(s, vectors, Name("bytes").at("p", p0),
                          clamped(s, out.low, out.high, Name("clamped").at("p", p0), packed));
    const int width = vectors * lanes;
    if (residual.plan != nullptr) {
      const auto r = load_pixels(s, residual.p, pixels, p0, p0 + here, width);
      bytes = with_residual(s, *residual.plan, p0, bytes, r);
    }
    bool adjacent = channels == width && here == together && here * width == 4 * lanes &&
                    pixels[static_cast<std::size_t>(p0)].run == 0;
    for (int p = p0; p < p0 + here; ++p) {
      adjacent = adjacent && pixels[static_cast<std::size_t>(p)].offset ==
                                 pixels[static_cast<std::size_t>(p0)].offset + (p - p0) * width;
    }
    if (adjacent) {
      s.store_bytes(y + pixels[static_cast<std::size_t>(p0)].offset, bytes);
      continue;
    }
    for (int p = p0; p < p0 + here; ++p)
      store_pixel(s, bytes, (p - p0) * width, channels, pixels[static_cast<std::size_t>(p)], y);
  }
}

template <class S>
void store_tile(S& s, const Requantize&, int vectors, int channels,
                const std::vector<PixelPlace>& pixels, const std::vector<typename S::I32>& acc,
                const Factors<S>&, const typename S::template Ptr<std::int32_t>& y,
                const Residual<S>& = {}) {
  requantize_detail::store_int32(s, vectors, channels, pixels, acc, y);
}

}  // namespace etch
