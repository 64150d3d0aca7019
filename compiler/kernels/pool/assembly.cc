// See assembly.h.
#include "compiler/kernels/pool/assembly.h"

#include <bit>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/reciprocals.h"
#include "compiler/kernels/conv/thumb.h"

namespace etch {

namespace {

constexpr int kMostTaps = 64;  // that are spelled out
constexpr int kWord = 4;       // channels

// In the order of the window, from the first one.
std::vector<std::int64_t> taps_of(const rt::PoolRow& row) {
  std::vector<std::int64_t> out;
  for (int d = 0; d < row.count[0]; ++d) {
    for (int h = 0; h < row.count[1]; ++h) {
      for (int w = 0; w < row.count[2]; ++w)
        out.push_back(d * row.step[0] + h * row.step[1] + w * row.step[2]);
    }
  }
  return out;
}

// `channels`: the least that a function is worth.
bool fits(const rt::PoolRow& row, int channels) {
  constexpr std::int64_t kFar = std::int64_t{1} << 28;
  const std::int64_t taps = std::int64_t{row.count[0]} * row.count[1] * row.count[2];
  if (taps < 1 || taps > kMostTaps || row.channels < channels) return false;
  return taps_of(row).back() < kFar && row.x_step < kFar && row.y_step < kFar;
}

// The loop over pixels: r0 and r1 are x and y of one, r2 and r3 those of the channels at hand.
class RowWriter {
 public:
  RowWriter(const rt::PoolRow& row, int reach) : row_(row), taps_(taps_of(row)), reach_(reach) {}

 protected:
  template <class Channels>
  void pixels(Channels channels) {
    if (row_.pixels > 1) t_.load("r6", row_.pixels);
    t_.comment("a pixel");
    t_.label(1);
    t_.op("mov", "r2", "r0");
    t_.op("mov", "r3", "r1");
    channels();
    if (row_.pixels > 1) {
      t_.add("r0", "r0", row_.x_step, "r4");
      t_.add("r1", "r1", row_.y_step, "r4");
      t_.op("subs", "r6", "r6", "#1");
      t_.op("bne.w", "1b");
    }
  }

  // load(register, address) for each tap, then use(): what the tap is taken for.
  template <class Load>
  void each_tap(Load load) {
    std::int64_t at = 0;
    std::string base = "r2";
    for (std::size_t i = 0; i < taps_.size(); ++i) {
      if (taps_[i] - at > reach_) {
        t_.add("r5", base, taps_[i] - at, "r12");
        base = "r5";
        at = taps_[i];
      }
      load(i == 0, Thumb::at(base, taps_[i] - at));
    }
  }

  const rt::PoolRow& row_;
  std::vector<std::int64_t> taps_;
  int reach_;  // of offsets in loads
  Thumb t_;
};

class MveMaximum : RowWriter {
 public:
  explicit MveMaximum(const rt::PoolRow& row) : RowWriter(row, 127) {}
  static constexpr int kStack = 16;

  std::vector<std::string> lines() {
    t_.comment(
        "r0: x, r1: y; r2, r3: of 16 channels; r5: of a tap; r6: pixels left; r4, r12: work");
    t_.op("push", "{r4-r6, lr}");
    pixels([&] {
      t_.load("r4", row_.channels);
      t_.op("dlstp.8", "lr", "r4");
      t_.label(2);
      each_tap([&](bool first, const std::string& from) {
        t_.op("vldrb.u8", first ? "q0" : "q1", from);
        if (!first) t_.op("vmax.u8", "q0", "q0", "q1");
      });
      t_.op("add", "r2", "r2", "#16");
      t_.op("vstrb.8", "q0", Thumb::then_add("r3", 16));
      t_.op("letp", "lr", "2b");
    });
    t_.op("pop", "{r4-r6, pc}");
    return t_.take();
  }
};

// Words of four channels; where they do not come out even, the last one goes over some again.
class DspMaximum : RowWriter {
 public:
  explicit DspMaximum(const rt::PoolRow& row) : RowWriter(row, 4095) {}
  static constexpr int kStack = 24;

  std::vector<std::string> lines() {
    t_.comment("r0: x, r1: y; r2, r3: of four channels; r5: of a tap; r6: pixels left");
    t_.comment("r4: words left; r7: maxima; r12, lr: work");
    t_.op("push", "{r3-r7, lr}");
    const int words = row_.channels / kWord, rest = row_.channels % kWord;
    pixels([&] {
      if (words > 1) {
        t_.load("r4", words);
        t_.label(2);
      }
      one_word();
      if (words > 1) {
        t_.op("subs", "r4", "r4", "#1");
        t_.op("bne.w", "2b");
      }
      if (rest == 0) return;
      t_.op("sub", "r2", "r2", Thumb::immediate(kWord - rest));
      t_.op("sub", "r3", "r3", Thumb::immediate(kWord - rest));
      one_word();
    });
    t_.op("pop", "{r3-r7, pc}");
    return t_.take();
  }

 private:
  void one_word() {
    each_tap([&](bool first, const std::string& from) {
      t_.op("ldr", first ? "r7" : "r12", from);
      if (first) return;
      t_.op("usub8", "lr", "r7", "r12");
      t_.op("sel", "r7", "r7", "r12");
    });
    t_.op("add", "r2", "r2", "#4");
    t_.op("str", "r7", Thumb::then_add("r3", kWord));
  }
};

// Four channels at a time. Division is that of the scalar unit, lane by lane.
class MveMean : RowWriter {
 public:
  MveMean(const rt::PoolRow& row, const rt::PoolMean& mean) : RowWriter(row, 127), mean_(mean) {}
  static constexpr int kStack = 36;

  std::vector<std::string> lines() {
    t_.comment(
        "r0: x, r1: y; r2, r3: of four channels; r5: of a tap; r6: pixels left; r4, r12: work");
    t_.comment("r7: zero point of x, r8: its scale; r9: zero point of y, r10: as stored");
    t_.comment("r11: 1 / divisor, or s8: divisor; s9: scale of y; q0: sums; q1: a tap");
    t_.op("push", "{r4-r11, lr}");
    t_.load("r7", mean_.x_zero_point);
    number("r8", mean_.x_scale);
    number("r9", mean_.y_zero);
    t_.load("r10", mean_.y_stored);
    number("r11", multiplies() ? 1 / mean_.divisor : mean_.divisor);
    if (!multiplies()) t_.op("vmov", "s8", "r11");
    number("r4", mean_.y_scale);
    t_.op("vmov", "s9", "r4");
    pixels([&] {
      t_.load("r4", row_.channels);
      t_.op("dlstp.32", "lr", "r4");
      t_.label(2);
      add_up();
      finish();
      t_.op("letp", "lr", "2b");
    });
    t_.op("pop", "{r4-r11, pc}");
    return t_.take();
  }

 private:
  bool multiplies() const { return is_power_of_two(mean_.divisor); }

  void number(const char* to, float value) { t_.load(to, std::bit_cast<std::uint32_t>(value)); }

  void add_up() {
    each_tap([&](bool first, const std::string& from) {
      const char* const tap = first ? "q0" : "q1";
      t_.op("vldrb.u32", tap, from);
      if (mean_.x_zero_point != 0) t_.op("vsub.i32", tap, tap, "r7");
      t_.op("vcvt.f32.s32", tap, tap);
      t_.op("vmul.f32", tap, tap, "r8");
      if (!first) t_.op("vadd.f32", "q0", "q0", "q1");
    });
    t_.op("add", "r2", "r2", "#4");
  }

  void divide(const char* by) {
    for (int lane = 0; lane < 4; ++lane) t_.op("vdiv.f32", Thumb::s(lane), Thumb::s(lane), by);
  }

  void finish() {
    if (multiplies()) {
      t_.op("vmul.f32", "q0", "q0", "r11");
    } else {
      divide("s8");
    }
    divide("s9");
    t_.op("vadd.f32", "q0", "q0", "r9");
    t_.op("vcvtn.s32.f32", "q0", "q0");
    t_.op("vqmovnb.s32", "q0", "q0");
    if (mean_.y_stored != 0) t_.op("vqadd.s16", "q0", "q0", "r10");
    t_.op("vqmovunb.s16", "q0", "q0");
    t_.op("vstrb.32", "q0", Thumb::then_add("r3", kWord));
  }

  const rt::PoolMean& mean_;
};

std::string text_of(const rt::PoolRow& r) {
  return cat("{", r.pixels, ", ", r.x_step, ", ", r.y_step, ", ", r.channels, ", {", r.count[0],
             ", ", r.count[1], ", ", r.count[2], "}, {", r.step[0], ", ", r.step[1], ", ",
             r.step[2], "}}");
}

std::string name_of(const rt::PoolRow& r) {
  std::string out = cat("_n", r.pixels, "_x", r.x_step, "_y", r.y_step, "_c", r.channels);
  for (int i = 0; i < 3; ++i) {
    if (r.count[i] > 1) out += cat("_", "dhw"[i], r.count[i], "_s", r.step[i]);
  }
  return out;
}

AssemblyFunction function_of(const char* kind, const rt::PoolRow& row) {
  AssemblyFunction out;
  out.name = cat(kind, name_of(row));
  out.summary = cat(counted(row.pixels, "pixel"), " of ", counted(row.channels, "channel"),
                    ", windows of ", taps_of(row).size());
  out.types = {"const uint8_t*", "uint8_t*"};
  out.names = {"x", "y"};
  return out;
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// Products of differences of bytes, and sums of them, are then zero or normal.
bool stays_normal(float scale) { return scale >= 0x1p-60F && scale <= 0x1p60F; }

}  // namespace

std::optional<AssemblyFunction> pool_maximum_function(const rt::PoolRow& row,
                                                      const IsaTraits& isa) {
  const bool mve = isa.assembly == Assembly::kMve;
  if (!(mve || isa.assembly == Assembly::kDsp) || !fits(row, mve ? 2 : kWord)) return std::nullopt;
  AssemblyFunction out = function_of(mve ? "mve_maximum" : "dsp_maximum", row);
  out.condition = mve ? kHeliumCondition : kDspCondition;
  out.lines = mve ? MveMaximum(row).lines() : DspMaximum(row).lines();
  out.stack = mve ? MveMaximum::kStack : DspMaximum::kStack;
  out.fallback = cat("rt::pool_maximum(x, y, ", text_of(row), ");");
  return out;
}

std::optional<AssemblyFunction> pool_mean_function(const rt::PoolRow& row, const rt::PoolMean& mean,
                                                   const IsaTraits& isa) {
  if (isa.assembly != Assembly::kMve || !fits(row, 2) || !stays_normal(mean.x_scale))
    return std::nullopt;
  AssemblyFunction out = function_of("mve_mean", row);
  out.name += cat("_s", bits(mean.x_scale), "_z", mean.x_zero_point, "_n", bits(mean.divisor), "_s",
                  bits(mean.y_scale), "_z", bits(mean.y_zero), "_", mean.y_stored);
  out.condition = kHeliumCondition;
  out.lines = MveMean(row, mean).lines();
  out.stack = MveMean::kStack;
  out.fallback =
      cat("rt::pool_mean(x, y, ", text_of(row), ", {", hex_float(mean.x_scale), ", ",
          mean.x_zero_point, ", ", hex_float(mean.divisor), ", ", hex_float(mean.y_scale), ", ",
          hex_float(mean.y_zero), ", ", mean.y_stored, "});");
  return out;
}

}  // namespace etch
