// See mve.h. With r = fl(1 / scale): q = fl(x * r), e = fma(-q, scale, x), q' = fma(e, r, q). Of
// the exact quotient, q' is less than two units in the last place away, so it can round to another
// integer only for floats next to scale * (k + 1/2), and these are few: each is tried.
#include "compiler/kernels/quantize/mve.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/thumb.h"

namespace etch {

namespace {

// Neither remainders nor reciprocals are subnormal, which Helium takes for zero, unless the
// quotient is far below 1/2.
bool stays_normal(float scale) { return scale >= 0x1p-60F && scale <= 0x1p60F; }

float limit(float scale, int q) { return static_cast<float>(q) * scale; }

float clamped(float value, int low, int high) {
  return std::clamp(std::nearbyint(value), static_cast<float>(low), static_cast<float>(high));
}

bool is_right(float x, float scale, int low, int high) {
  return clamped(x / scale, low, high) == std::nearbyint(quotient_by_products(x, scale, low, high));
}

// Of the floats from eight before x to eight after it.
bool is_right_around(float x, float scale, int low, int high) {
  constexpr int kFloats = 8;
  float at = x;
  for (int i = 0; i < kFloats; ++i) at = std::nextafter(at, -INFINITY);
  for (int i = 0; i <= 2 * kFloats; ++i, at = std::nextafter(at, INFINITY)) {
    if (!is_right(at, scale, low, high)) return false;
  }
  return true;
}

class Quantize {
 public:
  explicit Quantize(const MveQuantize& quantize) : q_(quantize) {}

  std::vector<std::string> lines() {
    t_.comment("r0: x; r1: y; r2: -scale; r3: 1/scale; r12: zero point; lr: elements left");
    t_.comment(cat("q0: x, then what is left of it; q1: quotients; q2, q3: limits of x",
                   is_spread() ? "; q4: offsets" : ""));
    t_.op("push", "{r4, lr}");
    if (is_spread()) t_.op("vpush", "{d8-d9}");
    splat("q2", limit(q_.scale, q_.low));
    splat("q3", limit(q_.scale, q_.high));
    t_.load("r2", std::bit_cast<std::uint32_t>(-q_.scale));
    t_.load("r3", std::bit_cast<std::uint32_t>(1.0F / q_.scale));
    t_.load("r12", q_.zero_point);
    if (is_spread()) {
      t_.op("mov", "r4", "#0");
      t_.op("vidup.u32", "q4", "r4", "#1");
      t_.load("r4", q_.step);
      t_.op("vmul.i32", "q4", "q4", "r4");
    }
    t_.load("r4", q_.elements);
    t_.op("dlstp.32", "lr", "r4");
    t_.label(1);
    four();
    t_.op("letp", "lr", "1b");
    if (is_spread()) t_.op("vpop", "{d8-d9}");
    t_.op("pop", "{r4, pc}");
    return t_.take();
  }

  int stack() const { return is_spread() ? 24 : 8; }

 private:
  bool is_spread() const { return q_.step != 1; }

  void splat(const char* vector, float value) {
    t_.load("r4", std::bit_cast<std::uint32_t>(value));
    t_.op("vdup.32", vector, "r4");
  }

  // The first maximum makes a quiet NaN of a signalling one, the second takes the limit instead.
  void four() {
    t_.op("vldrw.u32", "q0", Thumb::then_add("r0", 16));
    t_.op("vmaxnm.f32", "q0", "q0", "q2");
    t_.op("vmaxnm.f32", "q0", "q0", "q2");
    t_.op("vminnm.f32", "q0", "q0", "q3");
    t_.op("vmul.f32", "q1", "q0", "r3");
    t_.op("vfma.f32", "q0", "q1", "r2");
    t_.op("vfma.f32", "q1", "q0", "r3");
    t_.op("vcvtn.s32.f32", "q1", "q1");
    t_.op("vadd.i32", "q1", "q1", "r12");
    t_.op("vstrb.32", "q1", is_spread() ? "[r1, q4]" : Thumb::then_add("r1", 4));
    if (is_spread()) t_.add("r1", "r1", 4 * q_.step, "r4");
  }

  MveQuantize q_;
  Thumb t_;
};

}  // namespace

// std::max in this order takes the limit for NaN.
float quotient_by_products(float x, float scale, int low, int high) {
  const float inside = std::min(std::max(limit(scale, low), x), limit(scale, high));
  const float reciprocal = 1.0F / scale;
  const float q = inside * reciprocal;
  return std::fma(std::fma(-q, scale, inside), reciprocal, q);
}

bool divides_by_products(float scale, int low, int high) {
  if (!stays_normal(scale)) return false;
  for (int k = low - 1; k <= high; ++k) {
    if (!is_right_around(static_cast<float>((k + 0.5) * scale), scale, low, high)) return false;
  }
  return is_right(limit(scale, low), scale, low, high) &&
         is_right(limit(scale, high), scale, low, high);
}

std::optional<AssemblyFunction> mve_quantize(const MveQuantize& q) {
  constexpr std::int64_t kMostStep = std::int64_t{1} << 28;
  if (q.step > kMostStep || !divides_by_products(q.scale, q.low, q.high)) return std::nullopt;
  AssemblyFunction out;
  out.name =
      cat("mve_quantize_n", q.elements, "_y", q.step, "_s", std::bit_cast<std::uint32_t>(q.scale),
          "_l", q.low + q.zero_point, "_h", q.high + q.zero_point, "_z", q.zero_point);
  out.summary = cat("quantizes ", counted(q.elements, "float"));
  out.condition = kHeliumCondition;
  out.types = {"const float*", "uint8_t*"};
  out.names = {"x", "y"};
  Quantize function(q);
  out.lines = function.lines();
  out.fallback = cat("rt::mve_quantize(x, y, {", q.elements, ", ", q.step, ", ", hex_float(q.scale),
                     ", ", q.low, ", ", q.high, ", ", q.zero_point, "});");
  out.stack = function.stack();
  return out;
}

}  // namespace etch
