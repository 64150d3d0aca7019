// See epilogue.h. Rounding: VCVT and VCVTR round to nearest even and VCVTR saturates; no sum
// follows a product, so nothing can be contracted.
#include "compiler/kernels/conv/dsp/epilogue.h"

#include "compiler/kernels/conv/dsp/joint.h"

namespace etch {
namespace {

using Result = DspEpilogue::Result;

std::string pair_of(const std::string& a, const std::string& b) { return cat(a, ", ", b); }

void write_float(Thumb& t, const std::vector<int>& acc, int channels) {
  constexpr int kScales = 8;  // s8 ...
  const auto count = static_cast<int>(acc.size());
  const auto reg = [&](int i) { return Thumb::r(acc[static_cast<std::size_t>(i)]); };
  t.op("vldmia", "r1!", cat("{s", kScales, "-s", kScales + channels - 1, "}"));
  for (int i = 0; i < count; i += 2)
    t.op("vmov", pair_of(Thumb::s(i), Thumb::s(i + 1)), pair_of(reg(i), reg(i + 1)));
  for (int i = 0; i < count; ++i) t.op("vcvt.f32.s32", Thumb::s(i), Thumb::s(i));
  for (int i = 0; i < count; ++i)
    t.op("vmul.f32", Thumb::s(i), Thumb::s(i), Thumb::s(kScales + i % channels));
  for (int i = 0; i < count; ++i) t.op("vcvtr.s32.f32", Thumb::s(i), Thumb::s(i));
  for (int i = 0; i < count; i += 2)
    t.op("vmov", pair_of(reg(i), reg(i + 1)), pair_of(Thumb::s(i), Thumb::s(i + 1)));
}

// m in r2, s in r3, and r into r12 and lr for every product.
void write_high(Thumb& t, const std::vector<int>& acc, int channels) {
  constexpr int kBytes = 16;  // of a channel's factors
  for (int c = 0; c < channels; ++c) {
    t.op("ldrd", "r2", "r3", Thumb::at("r1", kBytes * c));
    for (std::size_t i = static_cast<std::size_t>(c); i < acc.size();
         i += static_cast<std::size_t>(channels)) {
      const std::string reg = Thumb::r(acc[i]);
      t.op("ldrd", "r12", "lr", Thumb::at("r1", kBytes * c + 8));
      t.op("smlal", "r12", "lr", reg, "r2");
      t.op("asr", reg, "lr", "r3");
    }
  }
  t.op("add", "r1", "r1", Thumb::immediate(kBytes * channels));
}

std::string both_halves(int value) { return cat("#", value | value << 16); }

}  // namespace

std::string dsp_condition(const DspEpilogue& out) {
  return cat(kDspCondition, out.result == Result::kFloat ? " && defined(__ARM_FP)" : "");
}

std::string dsp_suffix(const DspEpilogue& out) {
  const std::string y = cat("_y", out.y_step);
  if (out.result == Result::kInt32) return cat(y, "_i32");
  const std::string limits =
      out.low == 0 && out.high == 255 ? "" : cat("_", out.low, "_", out.high);
  return cat(y, out.result == Result::kFloat ? "_f32" : "_high", out.narrow ? "" : "_ssat",
             out.zero_point ? "_zp" : "", limits);
}

std::string weights_suffix(int moved, bool joint, bool nibbles) {
  const std::string by = moved == 0 ? "" : moved < 0 ? cat("_wn", -moved) : cat("_w", moved);
  return cat(by, nibbles ? "_nibbles" : joint ? "_joint" : "");
}

std::string weights_text(int moved, bool joint, bool nibbles) {
  if (joint) return cat(", ", moved, ", true", nibbles ? ", true" : "");
  return moved == 0 ? "" : cat(", ", moved);
}

std::string dsp_store_text(const DspEpilogue& out) {
  const char* const result = out.result == Result::kInt32   ? "rt::kDspInt32"
                             : out.result == Result::kFloat ? "rt::kDspFloat"
                                                            : "rt::kDspHigh";
  return cat("{", result, ", ", out.low, ", ", out.high, ", ", out.y_step, "}");
}

void set_dsp_parameters(AssemblyFunction& function, const char* x_type, const DspEpilogue& out) {
  function.types = {x_type, "const int32_t*",
                    out.result == Result::kInt32 ? "int32_t*" : "uint8_t*", "int32_t"};
  function.names = {"x", "stream", "y", "zero_points"};
  function.condition = dsp_condition(out);
}

void write_first_nibbles(Thumb& thumb, const std::string& to, const std::string& both) {
  thumb.op("and", to, both, "#0x000f000f");
}

int moved_of_both(int moved) { return moved + kNibbleFactor * (moved + kNibbleMoved); }

void write_second_sums(Thumb& thumb, const DspEpilogue& out, const std::vector<int>& acc,
                       bool nibbles) {
  const int bits = nibbles ? 4 : 8;  // the factor of joint.h is 2 to that
  for (std::size_t i = 1; i < acc.size(); i += 2) {
    const std::string both = Thumb::r(acc[i]);
    thumb.op("sub", both, both, Thumb::r(acc[i - 1]));
  }
  for (std::size_t i = 1; i < acc.size() && out.result != Result::kFloat; i += 2)
    thumb.op("asr", Thumb::r(acc[i]), Thumb::r(acc[i]), Thumb::immediate(bits));
}

void write_rounding(Thumb& thumb, const DspEpilogue& out, const std::vector<int>& acc,
                    int channels) {
  if (out.result == Result::kInt32) return;
  if (out.result == Result::kFloat) {
    write_float(thumb, acc, channels);
  } else {
    write_high(thumb, acc, channels);
  }
  if (out.narrow) return;
  for (const int reg : acc) thumb.op("ssat", Thumb::r(reg), "#16", Thumb::r(reg));
}

void write_pair(Thumb& thumb, const DspEpilogue& out, int low, int high, int zero_points,
                int spare) {
  const std::string q = Thumb::r(low);
  const std::string limit = Thumb::r(spare);
  thumb.op("pkhbt", q, q, Thumb::r(high), "lsl #16");
  if (out.zero_point) thumb.op("qadd16", q, q, Thumb::r(zero_points));
  thumb.op("usat16", q, "#8", q);
  // USUB16 notes in which halves nothing is borrowed, SEL chooses by that.
  const std::string difference = Thumb::r(high);
  if (out.low > 0) {
    thumb.op("mov", limit, both_halves(out.low));
    thumb.op("usub16", difference, q, limit);
    thumb.op("sel", q, q, limit);
  }
  if (out.high < 255) {
    thumb.op("mov", limit, both_halves(out.high));
    thumb.op("usub16", difference, limit, q);
    thumb.op("sel", q, q, limit);
  }
}

namespace {

// UMLAL adds both products to the offset; the sum's upper word, or what a shift makes of both.
void write_wide_sum(Thumb& t, const DspResidual& residual, const std::string& q, std::int64_t at,
                    int offset) {
  t.op("ldrd", "r12", "lr", Thumb::at("sp", offset));
  t.op("umlal", "r12", "lr", q, "r2");
  t.op("ldrb", q, Thumb::at("r0", at));
  t.op("umlal", "r12", "lr", q, "r3");
  if (residual.bits == 32) return t.op("mov", q, "lr");
  t.op("lsl", q, "lr", Thumb::immediate(32 - residual.bits));
  t.op("orr", q, q, "r12", cat("lsr #", residual.bits));
}

}  // namespace

void write_sum(Thumb& thumb, const DspResidual& residual, int acc, std::int64_t at, int offset) {
  const std::string q = Thumb::r(acc);
  if (residual.form == rt::kWideSum) return write_wide_sum(thumb, residual, q, at, offset);
  thumb.op("mla", q, q, "r2", "r12");
  thumb.op("ldrb", "lr", Thumb::at("r0", at));
  thumb.op("mla", q, "lr", "r3", q);
  if (residual.form == rt::kSumToEven) {
    // Just less than a half, and the last bit of the quotient.
    const std::int64_t half = (std::int64_t{1} << (residual.bits - 1)) - 1;
    thumb.op("ubfx", "lr", q, Thumb::immediate(residual.bits), "#1");
    if (half > 0) thumb.op("add", "lr", "lr", Thumb::immediate(half));
    thumb.op("add", q, q, "lr");
  }
  thumb.op("asr", q, q, Thumb::immediate(residual.bits));
}

std::string sum_suffix(const DspResidual& residual) {
  if (residual.form == rt::kWideSum) return cat(32 - residual.bits);
  return cat(residual.form == rt::kNarrowSum ? "_n" : "_e", residual.bits);
}

std::string residual_text(const DspResidual& residual) {
  const char* const form = residual.form == rt::kWideSum     ? "rt::kWideSum"
                           : residual.form == rt::kNarrowSum ? "rt::kNarrowSum"
                                                             : "rt::kSumToEven";
  return cat(residual.step, ", ", residual.low, ", ", residual.high, ", ", residual.bits, ", ",
             form);
}

}  // namespace etch
