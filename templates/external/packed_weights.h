// Descriptors of the functions of runtime/etch_packed_weights.h and etch_packed_integers.h; see
// templates/external.h.
#pragma once

#include "runtime/etch_packed_integers.h"
#include "runtime/etch_packed_weights.h"
#include "templates/external.h"
#include "templates/external/float_steps.h"

namespace etch {

// How generated code names bits and type of zero points of a product.
template <int bits, class Zero>
const std::string& packed_product_name() {
  static const std::string kName = std::string("packed_product<") + std::to_string(bits) + ", " +
                                   std::string(RuntimeName<Zero>::kText) + ">";
  return kName;
}

template <int bits, int columns>
const std::string& packed_integers_name() {
  static const std::string kName =
      std::string("packed_integers<") + std::to_string(bits) + ", " + std::to_string(columns) + ">";
  return kName;
}

template <int bits, class Index>
const std::string& gather_packed_name() {
  static const std::string kName = std::string("gather_packed<") + std::to_string(bits) + ", " +
                                   std::string(RuntimeName<Index>::kText) + ">";
  return kName;
}

namespace external {

// Bytes of the packed values of one column.
inline std::int64_t packed_bytes(std::int64_t depth, std::int64_t block, int bits) {
  const std::int64_t per_byte = 8 / bits;
  const std::int64_t last = (depth - 1) % block + 1;
  return (depth - 1) / block * ((block - 1) / per_byte + 1) + (last - 1) / per_byte + 1;
}

template <int bits, class Zero>
struct PackedProduct : ProductFunction<PackedProduct<bits, Zero>> {
  PackedProduct()
      : ProductFunction<PackedProduct>(packed_product_name<bits, Zero>(), "etch_packed_weights.h") {
  }
  void operator()(const rt::PackedProduct& s, const float* a, const std::uint8_t* w,
                  const float* scales, const Zero* zeros, const float* bias, float* widened,
                  float* y) const {
    this->in_steps([&](auto steps) {
      rt::packed_product<bits, Zero, decltype(steps)>(s, a, w, scales, zeros, bias, widened, y);
    });
  }
  auto spans(const rt::PackedProduct& s, const float* a, const std::uint8_t* w, const float* scales,
             const Zero* zeros, const float* bias, float* widened, float* y) const {
    const std::int64_t entries = std::int64_t{rt::blocks_of(s.depth, s.block)} * s.cols;
    const std::int64_t width = s.cols < s.panel ? s.cols : s.panel;
    const std::int64_t part = s.depth < s.part ? s.depth : s.part;
    return spans_of(span(a, {}, std::int64_t{s.rows} * s.depth),
                    span(w, {}, packed_bytes(s.depth, s.block, bits) * s.cols),
                    span(scales, {}, entries), span(zeros, {{entries, s.zero_step}}),
                    span(bias, {{s.cols, s.bias_step}}), span(widened, {}, part * width),
                    span(y, {}, std::int64_t{s.rows} * s.cols));
  }
};

// `word`: values of the depth in one word of the weights.
struct QuantizeBlocks : RuntimeFunction {
  QuantizeBlocks()
      : RuntimeFunction("quantize_blocks", "etch_packed_integers.h", FloatUse::kUsed) {}
  void operator()(int rows, int depth, int block, int word, const float* x, std::int8_t* q,
                  std::int32_t* sums, float* scales) const {
    rt::quantize_blocks(rows, depth, block, word, x, q, sums, scales);
  }
  auto spans(int rows, int depth, int block, int word, const float* x, std::int8_t* q,
             std::int32_t* sums, float* scales) const {
    const std::int64_t blocks = std::int64_t{rows} * rt::blocks_of(depth, block);
    const std::int64_t values =
        std::int64_t{rows} * word * rt::words_of_depth(depth, block, 32 / word);
    return spans_of(span(x, {}, std::int64_t{rows} * depth), span(q, {}, values),
                    span(sums, {}, blocks), span(scales, {}, blocks));
  }
};

template <int bits, int columns>
struct PackedIntegers : RuntimeFunction {
  PackedIntegers()
      : RuntimeFunction(packed_integers_name<bits, columns>(), "etch_packed_integers.h",
                        FloatUse::kUsed) {}
  void operator()(const rt::PackedIntegers& s, const std::int8_t* a, const std::int32_t* a_sums,
                  const float* a_scales, const std::uint8_t* w, const float* scales,
                  const std::uint8_t* zeros, const float* bias, float* y) const {
    rt::packed_integers<bits, columns>(s, a, a_sums, a_scales, w, scales, zeros, bias, y);
  }
  auto spans(const rt::PackedIntegers& s, const std::int8_t* a, const std::int32_t* a_sums,
             const float* a_scales, const std::uint8_t* w, const float* scales,
             const std::uint8_t* zeros, const float* bias, float* y) const {
    const std::int64_t blocks = rt::blocks_of(s.depth, s.block);
    const std::int64_t words = rt::words_of_depth(s.depth, s.block, bits);
    const std::int64_t whole = (std::int64_t{s.cols} + columns - 1) / columns * columns;
    return spans_of(
        span(a, {}, s.rows * words * rt::values_of_word(bits)), span(a_sums, {}, s.rows * blocks),
        span(a_scales, {}, s.rows * blocks), span(w, {}, 4 * words * whole),
        span(scales, {}, blocks * whole), span(zeros, {{blocks * whole, s.zero_step}}),
        span(bias, {{s.cols, s.bias_step}}), span(y, {}, std::int64_t{s.rows} * s.cols));
  }
};

template <int bits, class Index>
struct GatherPacked : RuntimeFunction {
  GatherPacked()
      : RuntimeFunction(gather_packed_name<bits, Index>(), "etch_packed_weights.h",
                        FloatUse::kUsed) {}
  void operator()(const rt::PackedTable& s, const std::uint8_t* x, const float* scales,
                  const std::uint8_t* zeros, const Index* indices, float* y, int count) const {
    rt::gather_packed<bits>(s, x, scales, zeros, indices, y, count);
  }
  auto spans(const rt::PackedTable& s, const std::uint8_t* x, const float* scales,
             const std::uint8_t* zeros, const Index* indices, float* y, int count) const {
    const std::int64_t entries = std::int64_t{s.size} * s.row_scales;
    return spans_of(span(x, {}, std::int64_t{s.size} * s.row_bytes), span(scales, {}, entries),
                    span(zeros, {{entries, s.zero_step}}), span(indices, {}, count),
                    span(y, {}, std::int64_t{count} * s.inner));
  }
};

}  // namespace external
}  // namespace etch
