// The second matrix of a product as the tiles of products with constant weights want to have it,
// and what their sums start from: products of two matrices that arrive at run time.
//
// With a and b as bytes and their zero points za and zb moved to those, and b' = b - base,
//   sum (a - za) * (b - zb) = sum a * b' - za * sum b' + (base - zb) * (sum a - depth * za)
// where base is 128, so that b' is an int8, or zb, where weights are int16. pack_columns() writes
// b' and the second term, row_terms() the third. All sums wrap modulo 2^32. C++17, freestanding,
// no heap, no state; with and without vectors the same bits.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_convert.h"
#include "etch_elementwise.h"
#include "etch_float.h"
#include "etch_intrinsics.h"

namespace etch {
namespace rt {

// How bytes of K and columns of a block become weights:
//   kBytes: four of K, column after column;
//   kWords: int16, of every column bytes 0 and 2 of four of K, then of every column 1 and 3;
//   kSquares: eight of K, column after column.
enum class PackedForm { kBytes, kWords, kSquares };

// A block of columns of b, and the vectors of weights that it becomes.
struct PackedColumns {
  int32_t depth, cols;  // of b; the block has lanes * vectors columns, the rest is 0
  int32_t lanes, vectors;
  bool in_order;  // columns are lane after lane, else as narrow4 packs results
  PackedForm form;
  ptrdiff_t depth_step, col_step;  // elements of b
  Stored a, a_zero, b, b_zero;     // `a` as it is multiplied
};

// ---- four columns times four bytes of K ----

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && \
    (defined(__SSE2__) || defined(__aarch64__))
#define ETCH_QUAD_VECTORS 1
#endif

// Byte 4 * c + k is byte k of column c.
#if defined(ETCH_QUAD_VECTORS)
typedef uint8_t Quad __attribute__((vector_size(16)));
typedef uint16_t QuadWords __attribute__((vector_size(16)));
typedef uint32_t QuadInts __attribute__((vector_size(16)));

// Which byte of two vectors comes `i`-th when elements of `width` bytes of their halves alternate.
static constexpr int zipped_byte(int width, bool high, int i) {
  const int element = i / width;
  return element % 2 * 16 + (element / 2 + (high ? 8 / width : 0)) * width + i % width;
}

template <int width, bool high>
ETCH_INLINE Quad zip(Quad a, Quad b) {
#define ETCH_ZIPPED(i) zipped_byte(width, high, i)
#define ETCH_ZIPPED4(i) ETCH_ZIPPED(i), ETCH_ZIPPED(i + 1), ETCH_ZIPPED(i + 2), ETCH_ZIPPED(i + 3)
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(a, b, ETCH_ZIPPED4(0), ETCH_ZIPPED4(4), ETCH_ZIPPED4(8),
                                 ETCH_ZIPPED4(12));
#else
  return __builtin_shuffle(
      a, b, Quad{ETCH_ZIPPED4(0), ETCH_ZIPPED4(4), ETCH_ZIPPED4(8), ETCH_ZIPPED4(12)});
#endif
#undef ETCH_ZIPPED4
#undef ETCH_ZIPPED
}

ETCH_INLINE Quad load_quad(const uint8_t* p) {
  Quad out;
  ETCH_MEMCPY(&out, p, sizeof out);
  return out;
}

ETCH_INLINE Quad flipped(Quad x, int32_t flip) { return x ^ static_cast<uint8_t>(flip); }

// out[q]: columns 4q to 4q + 3 of four rows of 16 columns.
ETCH_INLINE void quads_of_rows(const Quad (&row)[4], Quad (&out)[4]) {
  const Quad low01 = zip<1, false>(row[0], row[1]), low23 = zip<1, false>(row[2], row[3]);
  const Quad high01 = zip<1, true>(row[0], row[1]), high23 = zip<1, true>(row[2], row[3]);
  out[0] = zip<2, false>(low01, low23);
  out[1] = zip<2, true>(low01, low23);
  out[2] = zip<2, false>(high01, high23);
  out[3] = zip<2, true>(high01, high23);
}

// out[g]: bytes 4g to 4g + 3 of four columns of 16 bytes.
ETCH_INLINE void quads_of_columns(const Quad (&col)[4], Quad (&out)[4]) {
  const Quad low01 = zip<4, false>(col[0], col[1]), low23 = zip<4, false>(col[2], col[3]);
  const Quad high01 = zip<4, true>(col[0], col[1]), high23 = zip<4, true>(col[2], col[3]);
  out[0] = zip<8, false>(low01, low23);
  out[1] = zip<8, true>(low01, low23);
  out[2] = zip<8, false>(high01, high23);
  out[3] = zip<8, true>(high01, high23);
}

// Of four rows of four columns.
ETCH_INLINE Quad quad_of_rows(Quad rows) {
  const Quad even_and_odd = zip<1, false>(rows, zip<8, true>(rows, rows));
  return zip<1, false>(even_and_odd, zip<8, true>(even_and_odd, even_and_odd));
}

// Eight bytes of each of four columns.
ETCH_INLINE void join_quads(Quad a, Quad b, Quad (&out)[2]) {
  out[0] = zip<4, false>(a, b);
  out[1] = zip<4, true>(a, b);
}

// Sums of bytes per column: of at most kMostPairs quads in 16 bits, then in 32.
struct QuadSums {
  QuadWords pairs;
  QuadInts columns;
};

ETCH_INLINE QuadSums no_sums() { return {QuadWords{}, QuadInts{}}; }

#if defined(__aarch64__)
ETCH_INLINE void add_quad(QuadSums& sums, Quad x) {
  sums.pairs = QuadWords(vpadalq_u8(uint16x8_t(sums.pairs), uint8x16_t(x)));
}

ETCH_INLINE void widen(QuadSums& sums) {
  sums.columns = QuadInts(vpadalq_u16(uint32x4_t(sums.columns), uint16x8_t(sums.pairs)));
  sums.pairs = QuadWords{};
}
#else
ETCH_INLINE void add_quad(QuadSums& sums, Quad x) {
  QuadWords words;
  ETCH_MEMCPY(&words, &x, sizeof words);
  sums.pairs += (words & static_cast<uint16_t>(255)) + (words >> 8);
}

ETCH_INLINE void widen(QuadSums& sums) {
  QuadInts pairs;
  ETCH_MEMCPY(&pairs, &sums.pairs, sizeof pairs);
  sums.columns += (pairs & 0xffffu) + (pairs >> 16);
  sums.pairs = QuadWords{};
}
#endif

ETCH_INLINE void get_sums(const QuadSums& sums, uint32_t (&out)[4]) {
  ETCH_MEMCPY(out, &sums.columns, sizeof out);
}

// The even bytes of every column minus `zero`, and the odd ones.
ETCH_INLINE void store_words(Quad x, int32_t zero, uint8_t* even, uint8_t* odd) {
  QuadWords words;
  ETCH_MEMCPY(&words, &x, sizeof words);
  const QuadWords first = (words & static_cast<uint16_t>(255)) - static_cast<uint16_t>(zero);
  const QuadWords second = (words >> 8) - static_cast<uint16_t>(zero);
  ETCH_MEMCPY(even, &first, sizeof first);
  ETCH_MEMCPY(odd, &second, sizeof second);
}
#else
struct Quad {
  uint8_t byte[16];
};

ETCH_INLINE Quad load_quad(const uint8_t* p) {
  Quad out;
  ETCH_MEMCPY(&out, p, sizeof out);
  return out;
}

ETCH_INLINE Quad flipped(Quad x, int32_t flip) {
  for (uint8_t& byte : x.byte) byte = static_cast<uint8_t>(byte ^ flip);
  return x;
}

ETCH_INLINE void quads_of_rows(const Quad (&row)[4], Quad (&out)[4]) {
  for (int q = 0; q < 4; ++q) {
    for (int i = 0; i < 16; ++i) out[q].byte[i] = row[i % 4].byte[4 * q + i / 4];
  }
}

ETCH_INLINE void quads_of_columns(const Quad (&col)[4], Quad (&out)[4]) {
  for (int g = 0; g < 4; ++g) {
    for (int i = 0; i < 16; ++i) out[g].byte[i] = col[i / 4].byte[4 * g + i % 4];
  }
}

ETCH_INLINE void join_quads(const Quad& a, const Quad& b, Quad (&out)[2]) {
  for (int i = 0; i < 32; ++i) out[i / 16].byte[i % 16] = (i & 4 ? b : a).byte[i / 8 * 4 + i % 4];
}

struct QuadSums {
  uint32_t column[4];
};

ETCH_INLINE QuadSums no_sums() { return {{0, 0, 0, 0}}; }

ETCH_INLINE void add_quad(QuadSums& sums, const Quad& x) {
  for (int i = 0; i < 16; ++i) sums.column[i / 4] += x.byte[i];
}

ETCH_INLINE void widen(QuadSums&) {}

ETCH_INLINE void get_sums(const QuadSums& sums, uint32_t (&out)[4]) {
  for (int c = 0; c < 4; ++c) out[c] = sums.column[c];
}

ETCH_INLINE void store_words(const Quad& x, int32_t zero, uint8_t* even, uint8_t* odd) {
  for (int i = 0; i < 16; ++i) {
    const int16_t word = static_cast<int16_t>(x.byte[i] - zero);
    ETCH_MEMCPY((i % 2 == 0 ? even : odd) + i / 2 * 2, &word, sizeof word);
  }
}
#endif

// add_quad() may be called so often between two calls of widen().
constexpr int32_t kMostPairs = 128;

// ---- packing ----

// Where four columns of a block go: lanes counted over its vectors.
static inline int32_t place_of_quad(const PackedColumns& s, int32_t quad) {
  if (s.in_order || s.lanes < 4) return 4 * quad;
  return quad % s.vectors * s.lanes + quad / s.vectors * 4;
}

// Where the quads of one place go, group after group.
struct QuadPlace {
  uint8_t* to;
  ptrdiff_t group, odd;  // bytes: from group to group, from even to odd words, between squares
  int32_t bytes;         // of a quad, less than 16 where a block has less than four lanes
};

template <PackedForm form>
ETCH_INLINE QuadPlace quad_place(const PackedColumns& s, int32_t place, uint8_t* packed) {
  const int32_t lanes = s.lanes * s.vectors;
  if constexpr (form == PackedForm::kSquares) {
    return {packed + static_cast<ptrdiff_t>(8) * place, static_cast<ptrdiff_t>(4) * lanes, 16, 16};
  } else if constexpr (form == PackedForm::kWords) {
    const ptrdiff_t vector = static_cast<ptrdiff_t>(place / s.lanes) * s.lanes * 8;
    return {packed + vector + place % s.lanes * 4, static_cast<ptrdiff_t>(8) * lanes,
            static_cast<ptrdiff_t>(4) * s.lanes, 16};
  } else {
    return {packed + static_cast<ptrdiff_t>(4) * place, static_cast<ptrdiff_t>(4) * lanes, 0,
            place + 4 <= lanes ? 16 : 4 * (lanes - place)};
  }
}

// All 16 bytes of a quad. Of squares the first one of two waits where both go.
template <PackedForm form>
ETCH_INLINE void store_quad(const QuadPlace& place, const Quad& x, int32_t zero, int32_t group) {
  uint8_t* const to = place.to + group * place.group;
  if constexpr (form == PackedForm::kWords) {
    store_words(x, zero, to, to + place.odd);
  } else if (form == PackedForm::kSquares && group % 2 != 0) {
    uint8_t* const both = to - place.group;
    Quad pair[2];
    join_quads(load_quad(both), flipped(x, 128), pair);
    ETCH_MEMCPY(both, &pair, sizeof pair);
  } else {
    const Quad centred = flipped(x, 128);
    ETCH_MEMCPY(to, &centred, sizeof centred);
  }
}

#if defined(ETCH_QUAD_VECTORS)
// Four columns from `first` on of one group, all in b, whose rows or columns are dense.
ETCH_INLINE Quad near_quad(const PackedColumns& s, const uint8_t* b, ptrdiff_t first,
                           int32_t group) {
  const bool by_rows = s.col_step == 1;
  const ptrdiff_t step = by_rows ? s.depth_step : s.col_step;
  const uint8_t* const from = b + 4 * group * s.depth_step + first * s.col_step;
  uint8_t bytes[16];
  for (int i = 0; i < 4; ++i) ETCH_MEMCPY(bytes + 4 * i, from + i * step, 4);
  const Quad all = flipped(load_quad(bytes), s.b.flip);
  return by_rows ? quad_of_rows(all) : all;
}
#endif

// Four columns from `first` on of one group; whatever is not in b is `rest`.
static inline Quad gathered_quad(const PackedColumns& s, const uint8_t* b, ptrdiff_t first,
                                 int32_t group, int32_t rest) {
  uint8_t bytes[16];
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rest);
  for (int32_t c = 0; c < 4 && first + c < s.cols; ++c) {
    const uint8_t* from = b + 4 * group * s.depth_step + (first + c) * s.col_step;
    for (int32_t k = 0; k < 4 && 4 * group + k < s.depth; ++k, from += s.depth_step)
      bytes[4 * c + k] = static_cast<uint8_t>(*from ^ s.b.flip);
  }
  return load_quad(bytes);
}

// What a packing of one block is told: zero points as those of bytes, and the byte that counts as
// 0.
struct Packing {
  int32_t a_zero, b_zero, base;
  uint8_t* packed;
  int32_t* start;
};

// What the sums of four columns start from: -za * sum b'.
ETCH_INLINE void store_start(const PackedColumns& s, const QuadSums& sums, const Packing& p,
                             int32_t place) {
  uint32_t sum[4];
  get_sums(sums, sum);
  const uint32_t all = static_cast<uint32_t>((s.depth + 3) / 4 * 4) * static_cast<uint32_t>(p.base);
  const uint32_t zero = static_cast<uint32_t>(p.a_zero);
  const int32_t four[4] = {wrap_s32((all - sum[0]) * zero), wrap_s32((all - sum[1]) * zero),
                           wrap_s32((all - sum[2]) * zero), wrap_s32((all - sum[3]) * zero)};
  if (place + 4 <= s.lanes * s.vectors) {
    ETCH_MEMCPY(p.start + place, four, sizeof four);
    return;
  }
  for (int32_t c = 0; place + c < s.lanes * s.vectors; ++c) p.start[place + c] = four[c];
}

// The groups from `group` on of four columns at any place of b, and their start.
template <PackedForm form>
static inline void pack_rest(const PackedColumns& s, const uint8_t* b, const Packing& p,
                             int32_t quad, int32_t group, QuadSums sums) {
  const int32_t place = place_of_quad(s, quad);
  const QuadPlace to = quad_place<form>(s, place, p.packed);
  const ptrdiff_t first = 4 * static_cast<ptrdiff_t>(quad);
#if defined(ETCH_QUAD_VECTORS)
  const bool dense = (s.col_step == 1 || s.depth_step == 1) && first + 4 <= s.cols;
#endif
  for (; 4 * group < s.depth; ++group) {
#if defined(ETCH_QUAD_VECTORS)
    const Quad x = dense && 4 * group + 4 <= s.depth ? near_quad(s, b, first, group)
                                                     : gathered_quad(s, b, first, group, p.base);
#else
    const Quad x = gathered_quad(s, b, first, group, p.base);
#endif
    add_quad(sums, x);
    widen(sums);
    if (to.bytes == 16) {
      store_quad<form>(to, x, p.b_zero, group);
    } else {
      const Quad centred = flipped(x, 128);
      uint8_t bytes[16];
      ETCH_MEMCPY(bytes, &centred, sizeof bytes);
      for (int32_t i = 0; i < to.bytes; ++i) to.to[group * to.group + i] = bytes[i];
    }
  }
  if constexpr (form == PackedForm::kSquares) {
    if (group % 2 != 0) store_quad<form>(to, gathered_quad(s, b, s.cols, 0, 128), 0, group);
  }
  store_start(s, sums, p, place);
}

// Four quads of 16 columns that are side by side in the rows of b. Spelled out, since compilers
// differ in when they unroll.
template <PackedForm form>
ETCH_INLINE void pack_16_columns(const PackedColumns& s, const uint8_t* b, const Packing& p,
                                 int32_t quad) {
  QuadSums sums[4] = {no_sums(), no_sums(), no_sums(), no_sums()};
  const QuadPlace to[4] = {quad_place<form>(s, place_of_quad(s, quad), p.packed),
                           quad_place<form>(s, place_of_quad(s, quad + 1), p.packed),
                           quad_place<form>(s, place_of_quad(s, quad + 2), p.packed),
                           quad_place<form>(s, place_of_quad(s, quad + 3), p.packed)};
  const int32_t groups = s.depth / 4;
  const uint8_t* from = b + 4 * quad;
  for (int32_t group = 0; group < groups;) {
    const int32_t stop = groups - group < kMostPairs ? groups : group + kMostPairs;
    for (; group < stop; ++group, from += 4 * s.depth_step) {
      const Quad row[4] = {flipped(load_quad(from), s.b.flip),
                           flipped(load_quad(from + s.depth_step), s.b.flip),
                           flipped(load_quad(from + 2 * s.depth_step), s.b.flip),
                           flipped(load_quad(from + 3 * s.depth_step), s.b.flip)};
      Quad x[4];
      quads_of_rows(row, x);
      add_quad(sums[0], x[0]);
      add_quad(sums[1], x[1]);
      add_quad(sums[2], x[2]);
      add_quad(sums[3], x[3]);
      store_quad<form>(to[0], x[0], p.b_zero, group);
      store_quad<form>(to[1], x[1], p.b_zero, group);
      store_quad<form>(to[2], x[2], p.b_zero, group);
      store_quad<form>(to[3], x[3], p.b_zero, group);
    }
    widen(sums[0]);
    widen(sums[1]);
    widen(sums[2]);
    widen(sums[3]);
  }
  pack_rest<form>(s, b, p, quad, groups, sums[0]);
  pack_rest<form>(s, b, p, quad + 1, groups, sums[1]);
  pack_rest<form>(s, b, p, quad + 2, groups, sums[2]);
  pack_rest<form>(s, b, p, quad + 3, groups, sums[3]);
}

// Four columns of b that are bytes side by side, four groups at a time.
template <PackedForm form>
ETCH_INLINE void pack_4_columns(const PackedColumns& s, const uint8_t* b, const Packing& p,
                                int32_t quad) {
  QuadSums sums = no_sums();
  const QuadPlace to = quad_place<form>(s, place_of_quad(s, quad), p.packed);
  const uint8_t* const from = b + 4 * quad * s.col_step;
  int32_t group = 0;
  for (; 4 * group + 16 <= s.depth; group += 4) {
    const uint8_t* const at = from + 4 * group;
    const Quad col[4] = {flipped(load_quad(at), s.b.flip),
                         flipped(load_quad(at + s.col_step), s.b.flip),
                         flipped(load_quad(at + 2 * s.col_step), s.b.flip),
                         flipped(load_quad(at + 3 * s.col_step), s.b.flip)};
    Quad x[4];
    quads_of_columns(col, x);
    add_quad(sums, x[0]);
    add_quad(sums, x[1]);
    add_quad(sums, x[2]);
    add_quad(sums, x[3]);
    widen(sums);
    store_quad<form>(to, x[0], p.b_zero, group);
    store_quad<form>(to, x[1], p.b_zero, group + 1);
    store_quad<form>(to, x[2], p.b_zero, group + 2);
    store_quad<form>(to, x[3], p.b_zero, group + 3);
  }
  pack_rest<form>(s, b, p, quad, group, sums);
}

template <PackedForm form>
static inline void pack_block(const PackedColumns& s, const uint8_t* b, const Packing& p) {
  const int32_t quads = (s.lanes * s.vectors + 3) / 4;
  const bool by_columns = s.depth_step == 1 && (s.col_step != 1 || s.cols < 4);
  int32_t quad = 0;
  if (by_columns) {
    for (; 4 * quad + 4 <= s.cols; ++quad) pack_4_columns<form>(s, b, p, quad);
  } else if (s.col_step == 1) {
    for (; 4 * quad + 16 <= s.cols; quad += 4) pack_16_columns<form>(s, b, p, quad);
  }
  for (; quad < quads; ++quad) pack_rest<form>(s, b, p, quad, 0, no_sums());
}

// Writes lanes * vectors * 4 bytes, or as many int16, per 4 bytes of K, and one start per lane.
static inline void pack_columns(const PackedColumns& s, const uint8_t* b, const uint8_t* b_zero,
                                const uint8_t* a_zero, uint8_t* packed, int32_t* start) {
  const int32_t za = value_of(*a_zero, s.a_zero) + s.a.offset;
  const int32_t zb = value_of(*b_zero, s.b_zero) + s.b.offset;
  if (s.form == PackedForm::kWords) {
    pack_block<PackedForm::kWords>(s, b, {za, zb, zb, packed, start});
  } else if (s.form == PackedForm::kSquares) {
    pack_block<PackedForm::kSquares>(s, b, {za, zb, 128, packed, start});
  } else {
    pack_block<PackedForm::kBytes>(s, b, {za, zb, 128, packed, start});
  }
}

// ---- rows of a ----

struct RowTerms {
  int32_t rows, depth, lanes;
  ptrdiff_t row_step;  // elements of a, whose rows are dense
  Stored a, a_zero, b, b_zero;
};

ETCH_INLINE uint32_t sum_of_bytes(const uint8_t* p, int32_t n) {
  QuadSums sums = no_sums();
  int32_t i = 0;
  for (; i + 16 <= n; i += 16) {
    add_quad(sums, load_quad(p + i));
    widen(sums);
  }
#if defined(ETCH_QUAD_VECTORS) && defined(__aarch64__)
  uint32_t sum = vaddvq_u32(uint32x4_t(sums.columns));
#else
  uint32_t part[4];
  get_sums(sums, part);
  uint32_t sum = part[0] + part[1] + part[2] + part[3];
#endif
  for (; i < n; ++i) sum += p[i];
  return sum;
}

// (128 - zb) * (sum a - depth * za) of every row, `lanes` times; a has no flipped bytes.
static inline void row_terms(const RowTerms& s, const uint8_t* a, const uint8_t* a_zero,
                             const uint8_t* b_zero, int32_t* terms) {
  const int32_t za = value_of(*a_zero, s.a_zero) + s.a.offset;
  const int32_t factor = 128 - value_of(*b_zero, s.b_zero) - s.b.offset;
  const uint32_t zeros = static_cast<uint32_t>(s.depth) * static_cast<uint32_t>(za);
  for (int32_t row = 0; row < s.rows; ++row) {
    const uint32_t sum = sum_of_bytes(a + row * s.row_step, s.depth) - zeros;
    const int32_t term = wrap_s32(sum * static_cast<uint32_t>(factor));
    const int32_t four[4] = {term, term, term, term};
    int32_t* const to = terms + static_cast<ptrdiff_t>(row) * s.lanes;
    int32_t lane = 0;
    for (; lane + 4 <= s.lanes; lane += 4) ETCH_MEMCPY(to + lane, four, sizeof four);
    for (; lane < s.lanes; ++lane) to[lane] = term;
  }
}

}  // namespace rt
}  // namespace etch
