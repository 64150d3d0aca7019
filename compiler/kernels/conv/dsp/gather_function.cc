// Placing activations where tiles read them: widened and interleaved by pixel, or rows copied
// between padding; see functions.h.
#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/dsp/epilogue.h"

namespace etch {
namespace {

std::string signed_suffix(std::int64_t value) { return value < 0 ? cat("n", -value) : cat(value); }

class Gather {
 public:
  explicit Gather(const DspGather& gather) : g_(gather) {}

  // Pixels in r0, r2, r3, r4; words in r5 to r8; r9 and r10 count words and runs.
  std::vector<std::string> lines() {
    t_.comment(g_.pixels == 1 ? "r0: x" : cat("r0, r2-r", g_.pixels, ": x of the pixels"));
    t_.comment(
        "r1: out; r5-r8: four channels of two pixels, widened; r9: words left; r10: runs left");
    t_.op("push", "{r4-r10, lr}");
    for (int p = 1; p < g_.pixels; ++p) t_.add(x(p), x(p - 1), g_.x_step, "r12");
    if (g_.runs > 1) t_.load("r10", g_.runs);
    if (g_.runs > 1) t_.label(1);
    const int together = unrolled();
    const bool loops = g_.words > together;
    if (loops) t_.load("r9", g_.words / together);
    if (loops) t_.label(2);
    for (int i = 0; i < together; ++i) word();
    if (loops) {
      t_.op("subs", "r9", "r9", "#1");
      t_.op("bne", "2b");
    }
    if (g_.runs > 1) {
      for (int p = 0; p < g_.pixels; ++p) t_.add(x(p), x(p), g_.run_step - 4 * g_.words, "r12");
      t_.op("subs", "r10", "r10", "#1");
      t_.op("bne", "1b");
    }
    t_.op("pop", "{r4-r10, pc}");
    return t_.take();
  }

 private:
  std::string x(int pixel) const { return Thumb::r(pixel == 0 ? 0 : pixel + 1); }

  int unrolled() const {
    if (g_.compact) return 1;
    if (g_.words <= 4) return g_.words;
    for (const int n : {4, 3, 2}) {
      if (g_.words % n == 0) return n;
    }
    return 1;
  }

  // Later pixels first, so that the last store moves `out` on.
  void word() {
    const int row = 4 * g_.pixels;  // bytes of one pair of K
    for (int p = (g_.pixels - 1) / 2 * 2; p >= 0; p -= 2) {
      const bool two = p + 1 < g_.pixels;
      t_.op("ldr", "r5", Thumb::then_add(x(p), 4));
      if (two) t_.op("ldr", "r6", Thumb::then_add(x(p + 1), 4));
      t_.op("uxtb16", "r7", "r5");
      if (two) t_.op("uxtb16", "r8", "r6");
      t_.op("uxtb16", "r5", "r5", "ror #8");
      if (two) t_.op("uxtb16", "r6", "r6", "ror #8");
      store(two, "r5", "r6", Thumb::at("r1", row + 4 * p));
      store(two, "r7", "r8", p == 0 ? Thumb::then_add("r1", 2 * row) : Thumb::at("r1", 4 * p));
    }
  }

  void store(bool two, const char* a, const char* b, const std::string& at) {
    if (two) {
      t_.op("strd", a, b, at);
    } else {
      t_.op("str", a, at);
    }
  }

  const DspGather& g_;
  Thumb t_;
};

}  // namespace

AssemblyFunction dsp_gather(const DspGather& gather) {
  const std::int64_t run_step = gather.runs > 1 ? gather.run_step : 0;  // one run: of no effect
  AssemblyFunction out;
  out.name =
      cat("dsp_gather_", gather.pixels, "_s", signed_suffix(gather.x_step), "_", gather.words, "w_",
          gather.runs, "r", signed_suffix(run_step), gather.compact ? "_compact" : "");
  out.summary = cat("widens ", counted(gather.runs, "run"), " of ", counted(gather.words, "word"),
                    " of ", counted(gather.pixels, "pixel"), ".");
  out.types = {"const uint8_t*", "int32_t*"};
  out.names = {"x", "out"};
  out.condition = dsp_condition({});
  out.lines = Gather(gather).lines();
  out.fallback = cat("rt::dsp_gather(x, out, ", gather.pixels, ", ", gather.x_step, ", ",
                     gather.words, ", ", gather.runs, ", ", run_step, ");");
  out.stack = 32;
  return out;
}

AssemblyFunction dsp_copy(const DspCopy& copy) {
  constexpr int kBlock = 32;  // bytes of eight registers
  AssemblyFunction out;
  out.name = cat("dsp_copy_", copy.bytes, copy.aligned ? "_aligned" : "");
  out.summary = cat("copies ", counted(copy.bytes, "byte"), copy.aligned ? " by words." : ".");
  out.types = {"const uint8_t*", "uint8_t*"};
  out.names = {"x", "y"};
  out.condition = kThumbCondition;
  Thumb t;
  t.comment("r0: x; r1: y; r2: blocks of 32 bytes left; r3-r9, r12: bytes");
  t.op("push", "{r4-r9, lr}");
  const std::int64_t blocks = copy.bytes / kBlock;
  if (blocks > 1) t.load("r2", blocks);
  if (blocks > 1) t.label(1);
  if (blocks > 0 && copy.aligned) {
    t.op("ldmia", "r0!", "{r3-r9, r12}");
    t.op("stmia", "r1!", "{r3-r9, r12}");
  } else if (blocks > 0) {
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < 4; ++i) t.op("ldr", Thumb::r(3 + i), Thumb::then_add("r0", 4));
      for (int i = 0; i < 4; ++i) t.op("str", Thumb::r(3 + i), Thumb::then_add("r1", 4));
    }
  }
  if (blocks > 1) {
    t.op("subs", "r2", "r2", "#1");
    t.op("bne", "1b");
  }
  for (std::int64_t left = copy.bytes % kBlock; left > 0;) {
    const int step = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    t.op(step == 4 ? "ldr" : step == 2 ? "ldrh" : "ldrb", "r3", Thumb::then_add("r0", step));
    t.op(step == 4 ? "str" : step == 2 ? "strh" : "strb", "r3", Thumb::then_add("r1", step));
    left -= step;
  }
  t.op("pop", "{r4-r9, pc}");
  out.lines = t.take();
  out.calls_runtime = false;
  out.fallback = cat("memcpy(y, x, ", copy.bytes, ");");
  out.stack = 28;
  return out;
}

}  // namespace etch
