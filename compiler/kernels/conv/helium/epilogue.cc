// See epilogue.h.
#include "compiler/kernels/conv/helium/epilogue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace etch {

namespace {
std::string q(int number) { return cat("q", number); }
std::string d(int number) { return cat("d", number); }
}  // namespace

MveEpilogue::MveEpilogue(const MveConv& conv, bool y_in_register)
    : conv_(conv), y_in_register_(y_in_register) {
  sums_[0] = take();
  if (conv.tile.block == 4) sums_[1] = take();
  if (conv.tile.block != 8 || conv.out.is_int32) places_ = take();
  if (conv.add.is_there) {
    residual_places_ = take();
    return;
  }
  if (!conv.out.is_int32) take_limits();
}

MveEpilogue::MveEpilogue(const MveConv& conv, int rows, std::int64_t y_row, int record)
    : conv_(conv), y_in_register_(true), rows_(rows), y_row_(y_row), record_(record) {
  places_ = take();
  if (record > 0) records_ = take();
  if (!conv.out.is_int32) take_limits();
}

void MveEpilogue::take_limits() {
  if (conv_.out.low > 0 || conv_.out.high < 255) {
    low_ = take();
    high_ = take();
  }
  constexpr int kLeast = 3;  // for the products
  if (conv_.out.zero_point != 0 && free_ > kLeast) zero_point_ = take();
}

void MveEpilogue::describe(Thumb& t) const {
  constexpr std::size_t kMost = 70;  // of a line, before what comes next
  std::string line = cat("q0-q", free_ - 1, ": products, then results");
  const auto add = [&](int vector, const char* what) {
    if (vector < 0) return;
    if (line.size() > kMost) t.comment(std::exchange(line, ""));
    line += cat(line.empty() ? "q" : "; q", vector, ": ", what);
  };
  if (rows_ == 0) add(sums_[0], "sums of x");
  if (rows_ == 0) add(sums_[1], "those of the second pixel");
  add(places_, "places in y");
  add(residual_places_, "places in the residual");
  add(records_, "places in the stream");
  add(zero_point_, "zero point");
  add(low_, "lower limit");
  add(high_, "upper limit");
  t.comment(line);
}

// Constant vectors are between the instructions, which jump over them.
void MveEpilogue::load_constants(Thumb& t) const {
  const MveConv& conv = conv_;
  const auto value = [&](int lane, std::int64_t pixel, std::int64_t channel) -> std::int64_t {
    if (by_pixels()) return lane * pixel;
    return (conv.tile.block == 8 ? 2 : 1) * lane * channel;
  };
  std::vector<std::pair<int, std::array<std::uint32_t, 4>>> tables;
  if (places_ >= 0) {
    std::array<std::uint32_t, 4> words{};
    for (int lane = 0; lane < 4; ++lane) {
      auto& word = words[static_cast<std::size_t>(lane)];
      if (conv.out.is_int32) {
        word = static_cast<std::uint32_t>(4 * value(lane, conv.out.step, 1));
      } else if (rows_ == 1) {
        word = static_cast<std::uint32_t>(value(lane, conv.out.step, 1));
      } else {
        const auto even = static_cast<std::uint32_t>(value(lane, conv.out.step, 1));
        word = even | (even + static_cast<std::uint32_t>(vector_step(conv.out.step, 1))) << 16;
      }
    }
    tables.emplace_back(places_, words);
  }
  if (residual_places_ >= 0) {
    std::array<std::uint32_t, 4> words{};
    for (int lane = 0; lane < 4; ++lane) {
      const int there = by_pixels() ? std::min(lane, conv.tile.pixels - 1) : lane;
      words[static_cast<std::size_t>(lane)] =
          static_cast<std::uint32_t>(value(there, conv.add.step, 1));
    }
    tables.emplace_back(residual_places_, words);
  }
  if (records_ >= 0) {
    const auto record = static_cast<std::uint32_t>(record_);
    tables.push_back({records_, {0, record, 2 * record, 3 * record}});
  }
  if (!tables.empty()) {
    t.op("adr", "r0", "9f");
    for (std::size_t i = 0; i < tables.size(); ++i)
      t.op("vldrw.u32", q(tables[i].first), Thumb::at("r0", 16 * static_cast<std::int64_t>(i)));
    t.op("b", "8f");
    t.op(".p2align", 2);
    t.label(9);
    for (const auto& [vector, words] : tables)
      t.op(".word", words[0], words[1], words[2], words[3]);
    t.label(8);
  }
  const auto splat16 = [&](int vector, int word) {
    if (vector < 0) return;
    t.op("movw", "r0", Thumb::immediate(word));
    t.op("vdup.16", q(vector), "r0");
  };
  splat16(zero_point_, conv.out.zero_point);
  splat16(low_, conv.out.low);
  splat16(high_, conv.out.high);
  if (!conv.add.is_there) return;
  const std::pair<int, float> floats[] = {
      {kRatioA, conv.add.ratio_a}, {kRatioB, conv.add.ratio_b}, {kFixed, conv.add.fixed}};
  for (const auto& [place, number] : floats) {
    t.load("r0", std::bit_cast<std::uint32_t>(number));
    t.op("str", "r0", Thumb::at("sp", place));
  }
}

void MveEpilogue::keep_pixel_sums(Thumb& t) const {
  const auto pixel = [&](int p) { return Thumb::r(2 * std::min(p, conv_.tile.pixels - 1)); };
  if (by_pixels()) {
    t.op("vmov", d(2 * sums_[0]), pixel(0), pixel(1));
    t.op("vmov", d(2 * sums_[0] + 1), pixel(2), pixel(3));
  }
  for (int v = 0; v < 2 && sums_[v] >= 0; ++v) {
    if (!by_pixels()) t.op("vdup.32", q(sums_[v]), pixel(v));
    if (conv_.tile.offset == 128) {
      t.op("vshl.i32", q(sums_[v]), q(sums_[v]), "#7");
    } else {
      t.op("mov", "r8", Thumb::immediate(conv_.tile.offset));
      t.op("vmul.i32", q(sums_[v]), q(sums_[v]), "r8");
    }
  }
}

// Elements from vector 0 to vector 1.
int MveEpilogue::vector_step(std::int64_t pixel, std::int64_t channel) const {
  if (rows_ > 0) return static_cast<int>(y_row_);
  return static_cast<int>(conv_.tile.block == 4 ? pixel : channel);
}

void MveEpilogue::gather_lanes(Thumb& t, int n, int vector) const {
  const auto sum = [&](int lane) {
    int pixel = 0, channel = 0;
    if (record_ > 0) {
      pixel = 4 * vector + lane;
    } else if (rows_ > 0) {
      pixel = vector * conv_.tile.pixels + std::min(lane, conv_.tile.pixels - 1);
    } else if (by_pixels()) {
      pixel = std::min(lane, conv_.tile.pixels - 1);
      channel = vector;
    } else if (conv_.tile.block == 4) {
      pixel = std::min(vector, conv_.tile.pixels - 1);
      channel = std::min(lane, n - 1);
    } else {
      channel = std::min(2 * lane + vector, n - 1);
    }
    return Thumb::r(2 * (pixel * (rows_ > 0 ? 1 : n) + channel));
  };
  t.op("vmov", d(2 * vector), sum(0), sum(1));
  t.op("vmov", d(2 * vector + 1), sum(2), sum(3));
}

// After this, factors of channels are in r0, r2, ... (bias, scale of each) if lanes are pixels.
void MveEpilogue::add_bias(Thumb& t, int n) const {
  const bool scales = !conv_.out.is_int32;
  for (int v = 0; v < vectors(n); ++v) gather_lanes(t, n, v);
  if (by_pixels()) {
    std::string list;
    for (int i = 0; i < n * (scales ? 2 : 1); ++i) list += cat(i == 0 ? "" : ", ", Thumb::r(2 * i));
    t.op("ldm", "r3!", cat("{", list, "}"));
  }
  for (int v = 0; v < vectors(n); ++v) {
    if (rows_ == 0) t.op("vsub.i32", q(v), q(v), q(sums_[conv_.tile.block == 4 ? v : 0]));
    if (by_pixels()) {
      t.op("vadd.i32", q(v), q(v), Thumb::r(rows_ > 0 ? 0 : 2 * v * (scales ? 2 : 1)));
      continue;
    }
    load_factors(t, v);
    t.op("vadd.i32", q(v), q(v), "q2");
  }
}

// The next factors for `vector` to q2, if they are not there. Of records, r3 is at the bias of the
// first one, then at its scale, and finally after it.
void MveEpilogue::load_factors(Thumb& t, int vector) const {
  if (record_ > 0 && vector == 0) {
    t.op("vldrw.u32", "q2", cat("[r3, ", q(records_), "]"));
    t.op("add", "r3", "r3", "#4");
  } else if (record_ == 0 && (vector == 0 || conv_.tile.block == 8)) {
    t.op("vldrw.u32", "q2", Thumb::then_add("r3", 16));
  }
}

void MveEpilogue::scale(Thumb& t, int n) const {
  for (int v = 0; v < vectors(n); ++v) t.op("vcvt.f32.s32", q(v), q(v));
  for (int v = 0; v < vectors(n); ++v) {
    if (by_pixels()) {
      t.op("vmul.f32", q(v), q(v), Thumb::r(rows_ > 0 ? 2 : 4 * v + 2));
      continue;
    }
    load_factors(t, v);
    t.op("vmul.f32", q(v), q(v), "q2");
  }
  for (int v = 0; v < vectors(n); ++v) t.op("vcvtn.s32.f32", q(v), q(v));
}

// A vector with `value` in all halfwords: the one that is kept, or `spare`.
std::string MveEpilogue::splat(Thumb& t, int value, int kept, const char* spare) const {
  if (kept >= 0) return q(kept);
  t.op("movw", "r8", Thumb::immediate(value));
  t.op("vdup.16", spare, "r8");
  return spare;
}

// q0 and q1 to halfwords side by side in q0, clamped to [low, high].
void MveEpilogue::narrow(Thumb& t, int zero_point, int low, int high, bool second,
                         bool widens) const {
  const bool adds = conv_.add.is_there;
  t.op("vqmovnb.s32", "q0", "q0");
  if (second) t.op("vqmovnt.s32", "q0", "q1");
  if (zero_point != 0 && zero_point_ >= 0) {
    t.op("vqadd.s16", "q0", "q0", q(zero_point_));
  } else if (zero_point != 0) {
    t.op("movw", "r8", Thumb::immediate(zero_point));
    t.op("vqadd.s16", "q0", "q0", "r8");
  }
  if (low <= 0 && high >= 255) {
    t.op("vqmovunb.s16", "q0", "q0");
    if (widens) t.op("vmovlb.u8", "q0", "q0");
    return;
  }
  t.op("vmax.s16", "q0", "q0", splat(t, low, adds ? -1 : low_, "q2"));
  t.op("vmin.s16", "q0", "q0", splat(t, high, adds ? -1 : high_, "q2"));
}

// The sum of the bytes in q0 and the residual.
void MveEpilogue::add_residual(Thumb& t, int n) const {
  t.comment("add the residual at r0: its ratios in r2 and r4, the constant in r6");
  const rt::MveAdd& add = conv_.add;
  const bool second = vectors(n) == 2;
  const int result_stored = add.residual_is_a ? add.b_stored : add.a_stored;
  const int residual_stored = add.residual_is_a ? add.a_stored : add.b_stored;
  const auto subtract = [&](const char* type, const char* vector, int value) {
    if (value == 0) return;
    t.op("movw", "r8", Thumb::immediate(value));
    t.op(type, vector, vector, "r8");
  };
  subtract("vsub.i16", "q0", result_stored);
  if (second) t.op("vmovlt.s16", "q1", "q0");
  t.op("vmovlb.s16", "q0", "q0");
  t.op("ldr", "r0", Thumb::at("sp", kResidual));
  t.op("ldrd", "r2", "r4", Thumb::at("sp", kRatioA));
  t.op("ldr", "r6", Thumb::at("sp", kFixed));
  for (int v = 0; v < vectors(n); ++v) {
    std::string from = "r0";
    if (v == 1) {
      t.add("r10", "r0", vector_step(add.step, 1), "r12");
      from = "r10";
    }
    t.op("vldrb.u32", "q2", cat("[", from, ", ", q(residual_places_), "]"));
    subtract("vsub.i32", "q2", residual_stored);
    t.op("vcvt.f32.s32", "q2", "q2");
    t.op("vcvt.f32.s32", q(v), q(v));
    const std::string a = add.residual_is_a ? "q2" : q(v);
    const std::string b = add.residual_is_a ? q(v) : "q2";
    t.op("vdup.32", "q3", "r6");
    t.op("vfma.f32", "q3", b, "r4");
    t.op("vfma.f32", "q3", a, "r2");
    t.op("vcvtn.s32.f32", q(v), "q3");
  }
  t.add("r0", "r0", n, "r12");
  t.op("str", "r0", Thumb::at("sp", kResidual));
}

std::string MveEpilogue::y(Thumb& t) const {
  if (y_in_register_) return kYRegister;
  t.op("ldr", "r14", Thumb::at("sp", kY));
  return "r14";
}

void MveEpilogue::predicate(Thumb& t, unsigned lanes, int bits) const {
  unsigned mask = 0;
  for (int lane = 0; lane * bits < 16; ++lane) {
    if ((lanes >> lane & 1U) != 0) mask |= ((1U << bits) - 1U) << (lane * bits);
  }
  t.op("movw", "r8", Thumb::immediate(mask));
  t.op("vmsr", "p0", "r8");
  t.op("vpst");
}

void MveEpilogue::store_bytes(Thumb& t, int n) const {
  if (rows_ == 1) {  // bytes of words
    const bool all = conv_.tile.pixels == 4 || record_ > 0;
    if (!all) predicate(t, (1U << conv_.tile.pixels) - 1U, 4);
    t.op(all ? "vstrb.32" : "vstrbt.32", "q0", cat("[", kYRegister, ", ", q(places_), "]"));
    t.add(kYRegister, kYRegister, n, "r8");
    return;
  }
  unsigned lanes = 0;  // halfwords: bit 2l + v
  for (int lane = 0; lane < 4; ++lane) {
    for (int v = 0; v < 2; ++v) {
      bool there = false;
      if (by_pixels()) there = lane < conv_.tile.pixels && v < vectors(n);
      if (record_ > 0) there = v < rows_;
      if (conv_.tile.block == 4) there = v < conv_.tile.pixels && lane < n;
      if (conv_.tile.block == 8) there = 2 * lane + v < n;
      if (there) lanes |= 1U << (2 * lane + v);
    }
  }
  const std::string to = y(t);
  const bool all = lanes == 0xff;
  if (places_ < 0) t.op("mov", "r0", to);  // such stores want one of the lower registers
  if (!all) predicate(t, lanes, 2);
  t.op(all ? "vstrb.16" : "vstrbt.16", "q0",
       places_ >= 0 ? cat("[", to, ", ", q(places_), "]") : std::string("[r0]"));
  t.add(to, to, n, "r8");
  if (!y_in_register_) t.op("str", to, Thumb::at("sp", kY));
}

void MveEpilogue::store_int32(Thumb& t, int n) const {
  const std::string to = y(t);
  const std::int64_t step = std::int64_t{4} * vector_step(conv_.out.step, 1);
  for (int v = 0; v < vectors(n); ++v) {
    unsigned lanes = 0;
    for (int lane = 0; lane < 4; ++lane) {
      bool there = false;
      if (by_pixels()) there = lane < conv_.tile.pixels;
      if (record_ > 0) there = true;
      if (conv_.tile.block == 4) there = v < conv_.tile.pixels && lane < n;
      if (conv_.tile.block == 8) there = 2 * lane + v < n;
      if (there) lanes |= 1U << lane;
    }
    if (lanes == 0) continue;
    if (v == 1) t.add("r10", to, step, "r12");
    if (lanes != 0xf) predicate(t, lanes, 4);
    t.op(lanes == 0xf ? "vstrw.32" : "vstrwt.32", q(v),
         cat("[", v == 1 ? "r10" : to, ", ", q(places_), "]"));
  }
  t.add(to, to, std::int64_t{4} * n, "r8");
  if (!y_in_register_) t.op("str", to, Thumb::at("sp", kY));
}

void MveEpilogue::finish(Thumb& t, int n) const {
  t.comment(conv_.out.is_int32 ? "bias and store" : "bias, scale, round and store");
  add_bias(t, n);
  if (conv_.out.is_int32) {
    store_int32(t, n);
    return;
  }
  const bool second = vectors(n) == 2;
  scale(t, n);
  narrow(t, conv_.out.zero_point, conv_.out.low, conv_.out.high, second, conv_.add.is_there);
  if (conv_.add.is_there) {
    add_residual(t, n);
    const rt::MveAdd& add = conv_.add;
    narrow(t, add.y_stored, add.low, add.high, second, false);
  }
  store_bytes(t, n);
}

}  // namespace etch
