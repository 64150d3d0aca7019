// One or two pixels times four channels of a depthwise convolution; see functions.h. A word of x
// holds four channels: widened to two words of two halfwords, each half is multiplied on its own by
// SMLABB or SMLATT. Per tap and two pixels: one load of weights, two of x, four widenings, eight
// products: 15 instructions for 8 products. Where code is to be small, one pixel, rows in a loop,
// and weights of a byte where they fit: 10 instructions for 4 products.
#include "compiler/kernels/conv/dsp/epilogue.h"

namespace etch {
namespace {

constexpr int kSavedBytes = 36;
constexpr int kY = 0, kStreamEnd = 4, kZeroPoints = 8, kFrame = 12;
constexpr std::int64_t kReach = kMostDepthwiseStep;
constexpr int kMostUnrolled = 4;  // columns of taps without a loop, where code is to be small

class Depthwise {
 public:
  explicit Depthwise(const DspDepthwise& tile) : tile_(tile) {}

  std::vector<std::string> lines() {
    t_.comment("r0: x; r1: stream; r2, r3: x of a tap, widened; r12, lr: its weights");
    t_.comment(
        cat("r4-r", 3 + 4 * tile_.pixels, ": sums, four channels of a pixel after the other"));
    if (tile_.compact) t_.comment("r8, r9: rows and columns of taps left");
    t_.comment("stack: y, end of the stream, zero points");
    t_.op("push", "{r4-r11, lr}");
    t_.op("sub", "sp", "sp", Thumb::immediate(kFrame));
    t_.op("str", "r2", Thumb::at("sp", kY));
    t_.op("str", "r3", Thumb::at("sp", kZeroPoints));
    t_.add("r12", "r1", stream_bytes(), "lr");
    t_.op("str", "r12", Thumb::at("sp", kStreamEnd));
    t_.comment("four channels: biases, then all taps");
    t_.label(1);
    t_.op("ldmia", "r1!", "{r4-r7}");
    if (tile_.pixels == 2) {
      for (int c = 0; c < 4; ++c) t_.op("mov", Thumb::r(8 + c), Thumb::r(4 + c));
    }
    if (tile_.compact) {
      multiply_in_loops();
    } else {
      multiply();
    }
    if (bytes()) t_.comment("scale and round");
    write_rounding(t_, tile_.out, accumulators(), 4);
    store();
    t_.op("add", "sp", "sp", Thumb::immediate(kFrame));
    t_.op("pop", "{r4-r11, pc}");
    return t_.take();
  }

 private:
  using Result = DspEpilogue::Result;
  bool bytes() const { return tile_.out.result != Result::kInt32; }
  std::vector<int> accumulators() const {
    std::vector<int> out;
    out.reserve(8);
    for (int i = 0; i < 4 * tile_.pixels; ++i) out.push_back(4 + i);
    return out;
  }

  std::int64_t stream_bytes() const {
    const int factors = !bytes() ? 0 : tile_.out.result == Result::kFloat ? 4 : 16;
    const int per_tap = tile_.bytes ? 1 : 2;
    return std::int64_t{4} * (4 + per_tap * tile_.rows * tile_.cols + factors) *
           (tile_.channels / 4);
  }

  // x in r0 moves only where offsets do not reach, and ends 4 bytes on.
  void multiply() {
    std::int64_t moved = 0;
    for (int row = 0; row < tile_.rows; ++row) {
      for (int col = 0; col < tile_.cols; ++col) {
        const std::int64_t at = row * tile_.row_step + col * tile_.col_step;
        const std::int64_t last = at + (tile_.pixels - 1) * tile_.x_step;
        if (last - moved > kReach) {
          t_.add("r0", "r0", at - moved, "r12");
          moved = at;
        }
        multiply_tap(at - moved);
      }
    }
    t_.add("r0", "r0", 4 - moved, "r12");
  }

  void multiply_in_loops() {
    const bool loops = tile_.cols > kMostUnrolled || (tile_.cols - 1) * tile_.col_step > kReach;
    const std::int64_t moved = loops ? tile_.cols * tile_.col_step : 0;
    if (tile_.rows > 1) {
      t_.load("r8", tile_.rows);
      t_.label(2);
    }
    for (int col = 0; col < tile_.cols && !loops; ++col) multiply_tap(col * tile_.col_step);
    if (loops) multiply_columns();
    if (tile_.rows > 1) {
      t_.add("r0", "r0", tile_.row_step - moved, "r12");
      t_.op("subs", "r8", "r8", "#1");
      t_.op("bne", "2b");
    }
    t_.add("r0", "r0", 4 - (tile_.rows > 1 ? tile_.rows * tile_.row_step : moved), "r12");
  }

  void multiply_columns() {
    t_.load("r9", tile_.cols);
    t_.label(3);
    multiply_tap(0);
    t_.add("r0", "r0", tile_.col_step, "r12");
    t_.op("subs", "r9", "r9", "#1");
    t_.op("bne", "3b");
  }

  // Channels 0 and 2 to r12, 1 and 3 to lr.
  void load_weights() {
    if (!tile_.bytes) return t_.op("ldrd", "r12", "lr", Thumb::then_add("r1", 8));
    t_.op("ldr", "r12", Thumb::then_add("r1", 4));
    t_.op("sxtb16", "lr", "r12", "ror #8");
    t_.op("sxtb16", "r12", "r12");
  }

  void multiply_tap(std::int64_t offset) {
    load_weights();
    for (int p = 0; p < tile_.pixels; ++p) {
      const auto acc = [&](int c) { return Thumb::r(4 + 4 * p + c); };
      t_.op("ldr", "r2", Thumb::at("r0", offset + p * tile_.x_step));
      t_.op("uxtb16", "r3", "r2");
      t_.op("uxtb16", "r2", "r2", "ror #8");
      t_.op("smlabb", acc(0), "r3", "r12", acc(0));
      t_.op("smlatt", acc(2), "r3", "r12", acc(2));
      t_.op("smlabb", acc(1), "r2", "lr", acc(1));
      t_.op("smlatt", acc(3), "r2", "lr", acc(3));
    }
  }

  void store() {
    t_.comment("store at y in r2");
    t_.op("ldr", "r2", Thumb::at("sp", kY));
    if (bytes()) {
      if (tile_.out.zero_point) t_.op("ldr", "r3", Thumb::at("sp", kZeroPoints));
      for (int p = 0; p < tile_.pixels; ++p) {
        const int q = 4 + 4 * p;
        write_pair(t_, tile_.out, q, q + 2, 3, 12);
        write_pair(t_, tile_.out, q + 1, q + 3, 3, 12);
        t_.op("orr", Thumb::r(q), Thumb::r(q), Thumb::r(q + 1), "lsl #8");
      }
    }
    t_.op("add", "r12", "r2", Thumb::immediate(bytes() ? 4 : 16));
    t_.op("str", "r12", Thumb::at("sp", kY));
    store_pixels();
    t_.op("ldr", "r12", Thumb::at("sp", kStreamEnd));
    t_.op("cmp", "r1", "r12");
    t_.op("bne", "1b");
  }

  void store_pixels() {
    const std::int64_t step = tile_.out.y_step * (bytes() ? 1 : 4);
    for (int p = 0; p < tile_.pixels; ++p) {
      std::int64_t offset = p * step;
      if (!bytes() || offset > kReach) {
        if (p > 0) t_.add("r2", "r2", offset, "r12");
        offset = 0;
      }
      if (bytes()) {
        t_.op("str", Thumb::r(4 + 4 * p), Thumb::at("r2", offset));
      } else {
        t_.op("stmia", "r2", cat("{r", 4 + 4 * p, "-r", 7 + 4 * p, "}"));
      }
    }
  }

  const DspDepthwise& tile_;
  Thumb t_;
};

}  // namespace

AssemblyFunction dsp_depthwise(const DspDepthwise& tile) {
  ETCH_CHECK(tile.pixels >= 1 && tile.pixels <= 2 && tile.channels % 4 == 0);
  ETCH_CHECK((tile.pixels - 1) * tile.x_step <= kMostDepthwiseStep);
  ETCH_CHECK(tile.compact ? tile.pixels == 1 : !tile.bytes);
  AssemblyFunction out;
  out.name = cat("dsp_depthwise_", tile.pixels, "x4_", tile.rows, "x", tile.cols, "_r",
                 tile.row_step, "_c", tile.col_step, "_x", tile.x_step, "_m", tile.channels,
                 dsp_suffix(tile.out), tile.compact ? "_compact" : "", tile.bytes ? "_bytes" : "");
  out.summary = cat(counted(tile.pixels, "pixel"), ", ", tile.rows, "x", tile.cols, " ",
                    plural(tile.rows * tile.cols, "tap"), ", ", counted(tile.channels, "channel"),
                    ", four at a time.");
  set_dsp_parameters(out, "const uint8_t*", tile.out);
  out.lines = Depthwise(tile).lines();
  out.fallback =
      cat("rt::", tile.bytes ? "mla" : "dsp", "_depthwise(x, stream, y, zero_points, ", tile.pixels,
          ", ", tile.x_step, ", {", tile.rows, ", ", tile.cols, ", ", tile.row_step, ", ",
          tile.col_step, "}, ", tile.channels, ", ", dsp_store_text(tile.out), ");");
  out.stack = kSavedBytes + kFrame;
  return out;
}

}  // namespace etch
