// See mla.h.
#include "compiler/kernels/conv/dsp/mla.h"

#include <algorithm>

#include "compiler/kernels/conv/dsp/epilogue.h"

namespace etch {
namespace {

using Result = DspEpilogue::Result;

constexpr int kSavedBytes = 36;
constexpr int kMostUnrolled = 12;  // elements of K

// On the stack: what a block of channels needs once.
constexpr int kY = 0, kX = 4, kStreamEnd = 8, kZeroPoints = 12, kRunEnd = 16, kRuns = 20;
constexpr int kFrame = 28;

// What both functions have in common: the frame, accumulators from r4 on for pixel after pixel, and
// how they are stored.
class Function {
 public:
  Function(const DspEpilogue& out, int pixels, int together)
      : out_(out), pixels_(pixels), together_(together) {}

 protected:
  bool bytes() const { return out_.result != Result::kInt32; }
  std::string acc(int pixel, int channel) const {
    return Thumb::r(4 + together_ * pixel + channel);
  }
  std::vector<int> accumulators() const {
    std::vector<int> out;
    out.reserve(8);
    for (int i = 0; i < together_ * pixels_; ++i) out.push_back(4 + i);
    return out;
  }
  std::int64_t factor_bytes() const { return bytes() ? 16 * together_ : 0; }

  void begin(std::int64_t stream_bytes) {
    t_.comment("stack: y, x, end of the stream, zero points, end of a run, runs left");
    t_.op("push", "{r4-r11, lr}");
    t_.op("sub", "sp", "sp", Thumb::immediate(kFrame));
    t_.op("str", "r2", Thumb::at("sp", kY));
    t_.op("str", "r0", Thumb::at("sp", kX));
    t_.op("str", "r3", Thumb::at("sp", kZeroPoints));
    t_.add("r12", "r1", stream_bytes, "lr");
    t_.op("str", "r12", Thumb::at("sp", kStreamEnd));
    t_.comment(cat(counted(together_, "channel"), ": biases, then all of K"));
    t_.label(1);
  }

  void end() {
    t_.op("add", "sp", "sp", Thumb::immediate(kFrame));
    t_.op("pop", "{r4-r11, pc}");
  }

  void copy_biases() {
    for (int p = 1; p < pixels_; ++p) {
      for (int c = 0; c < together_; ++c) t_.op("mov", acc(p, c), acc(0, c));
    }
  }

  // Zero point, limits; r3 and r12 are changed.
  void finish_bytes() {
    if (bytes()) t_.comment("scale and round");
    write_rounding(t_, out_, accumulators(), together_);
    if (!bytes()) return;
    if (out_.zero_point) t_.op("ldrh", "r3", Thumb::at("sp", kZeroPoints));
    for (const int i : accumulators()) {
      const std::string q = Thumb::r(i);
      if (out_.zero_point) t_.op("add", q, q, "r3");
      t_.op("usat", q, "#8", q);
      limit(q, "lt", out_.low, out_.low > 0);
      limit(q, "gt", out_.high, out_.high < 255);
    }
  }

  void limit(const std::string& q, const std::string& when, int to, bool needed) {
    if (!needed) return;
    t_.op("cmp", q, Thumb::immediate(to));
    t_.op(cat("it ", when).c_str());
    t_.op(cat("mov", when).c_str(), q, Thumb::immediate(to));
  }

  // `channels` of each pixel at y in r2, which moves; leaves the flags as they are.
  void store_pixels(int channels) {
    const int size = bytes() ? 1 : 4;
    for (int p = 0; p < pixels_; ++p) {
      if (p > 0) t_.add("r2", "r2", out_.y_step * size, "r12");
      for (int c = 0; c < channels; ++c)
        t_.op(bytes() ? "strb" : "str", acc(p, c), Thumb::at("r2", size * c));
    }
  }

  // Moves y on and stores; the last block has `last` channels.
  void store(int last) {
    t_.comment("store at y in r2");
    t_.op("ldr", "r2", Thumb::at("sp", kY));
    t_.op("add", "r12", "r2", Thumb::immediate(together_ * (bytes() ? 1 : 4)));
    t_.op("str", "r12", Thumb::at("sp", kY));
    t_.op("ldr", "r12", Thumb::at("sp", kStreamEnd));
    t_.op("cmp", "r1", "r12");
    if (last != together_) t_.op("beq", "4f");
    store_pixels(together_);
    t_.op("bne", "1b");
    if (last == together_) return;
    t_.op("b", "5f");
    t_.label(4);
    store_pixels(last);
    t_.label(5);
  }

  const DspEpilogue& out_;
  int pixels_, together_;
  Thumb t_;
};

class Tile : Function {
 public:
  explicit Tile(const MlaTile& tile) : Function(tile.out, tile.pixels, 2), tile_(tile) {}

  std::vector<std::string> lines() {
    const std::int64_t block = 8 + weight_bytes() + factor_bytes();
    t_.comment("r0: x; r1: stream; r2, r3: weights of two channels; r12, lr: x of a pixel");
    t_.comment(cat("r4-r", 3 + 2 * pixels_, ": sums, two channels of a pixel after the other"));
    begin(block * ((tile_.channels + 1) / 2));
    t_.op("ldrd", "r4", "r5", Thumb::then_add("r1", 8));
    copy_biases();
    multiply();
    if (padding() != 0) t_.op("add", "r1", "r1", Thumb::immediate(padding()));
    finish_bytes();
    t_.op("ldr", "r0", Thumb::at("sp", kX));
    store(tile_.channels % 2 == 0 ? 2 : 1);
    end();
    return t_.take();
  }

 private:
  int elements() const { return tile_.run_bytes * tile_.runs; }
  int padding() const { return elements() % 2 == 0 ? 0 : 2; }
  std::int64_t weight_bytes() const { return 2 * elements() + padding(); }

  int unrolled() const {
    if (tile_.run_bytes <= kMostUnrolled) return tile_.run_bytes;
    int best = 6;
    for (int n = 6; n <= kMostUnrolled; ++n) {
      if (tile_.run_bytes % n <= tile_.run_bytes % best) best = n;
    }
    return best;
  }

  void multiply() {
    const int together = unrolled();
    const int rest = tile_.run_bytes % together;
    const bool loops = tile_.run_bytes > together;
    if (tile_.runs > 1) {
      t_.load("r12", tile_.runs);
      t_.op("str", "r12", Thumb::at("sp", kRuns));
      t_.label(2);
    }
    if (loops) {
      t_.add("r12", "r0", tile_.run_bytes, "lr");
      t_.op("str", "r12", Thumb::at("sp", kRunEnd));
    }
    for (int i = 0; i < rest; ++i) multiply_element();
    if (loops) t_.label(3);
    for (int i = 0; i < together; ++i) multiply_element();
    if (loops) {
      t_.op("ldr", "r12", Thumb::at("sp", kRunEnd));
      t_.op("cmp", "r0", "r12");
      t_.op("bne", "3b");
    }
    if (tile_.runs > 1) next_run();
  }

  void next_run() {
    t_.add("r0", "r0", tile_.run_step - tile_.run_bytes, "r12");
    t_.op("ldr", "r12", Thumb::at("sp", kRuns));
    t_.op("subs", "r12", "r12", "#1");
    t_.op("str", "r12", Thumb::at("sp", kRuns));
    t_.op("bne", "2b");
  }

  // Pixel 0 last: its load moves x on.
  void multiply_element() {
    t_.op("ldrsb", "r2", Thumb::then_add("r1", 1));
    t_.op("ldrsb", "r3", Thumb::then_add("r1", 1));
    for (int p = tile_.pixels - 1; p >= 0; --p) {
      const char* const x = p % 2 == 0 ? "r12" : "lr";
      t_.op("ldrb", x, p == 0 ? Thumb::then_add("r0", 1) : Thumb::at("r0", p * tile_.x_step));
      t_.op("mla", acc(p, 0), x, "r2", acc(p, 0));
      t_.op("mla", acc(p, 1), x, "r3", acc(p, 1));
    }
  }

  const MlaTile& tile_;
};

class Depthwise : Function {
 public:
  explicit Depthwise(const DspDepthwise& tile) : Function(tile.out, tile.pixels, 4), tile_(tile) {}

  std::vector<std::string> lines() {
    const std::int64_t block = 16 + 4 * tile_.rows * tile_.cols + factor_bytes();
    t_.comment("r0: x; r1: stream; r2: a weight; r12, r3: x of the two pixels");
    t_.comment(cat("r4-r", 3 + 4 * pixels_, ": sums, four channels of a pixel after the other"));
    begin(block * (tile_.channels / 4));
    t_.op("ldmia", "r1!", "{r4-r7}");
    copy_biases();
    std::int64_t moved = 0;
    for (int row = 0; row < tile_.rows; ++row) {
      for (int col = 0; col < tile_.cols; ++col) {
        const std::int64_t at = row * tile_.row_step + col * tile_.col_step;
        const std::int64_t last = at + (tile_.pixels - 1) * tile_.x_step + 3;
        if (last - moved > kMostMlaReach) {
          t_.add("r0", "r0", at - moved, "r12");
          moved = at;
        }
        multiply_tap(at - moved);
      }
    }
    t_.add("r0", "r0", 4 - moved, "r12");
    finish_bytes();
    store(4);
    end();
    return t_.take();
  }

 private:
  void multiply_tap(std::int64_t offset) {
    for (int c = 0; c < 4; ++c) {
      t_.op("ldrsb", "r2", Thumb::then_add("r1", 1));
      for (int p = 0; p < tile_.pixels; ++p) {
        const char* const x = p == 0 ? "r12" : "r3";
        t_.op("ldrb", x, Thumb::at("r0", offset + p * tile_.x_step + c));
        t_.op("mla", acc(p, c), x, "r2", acc(p, c));
      }
    }
  }

  const DspDepthwise& tile_;
};

}  // namespace

AssemblyFunction mla_tile(const MlaTile& tile) {
  ETCH_CHECK(tile.pixels >= 1 && tile.pixels <= 4 && tile.out.result != Result::kFloat);
  ETCH_CHECK((tile.pixels - 1) * tile.x_step <= kMostMlaReach);
  AssemblyFunction out;
  // One run has no step, whatever the layer has: equal names mean equal functions.
  const std::int64_t run_step = tile.runs > 1 ? tile.run_step : 0;
  out.name = cat("mla_tile_", tile.pixels, "x2_s", tile.x_step, "_", tile.run_bytes, "b_",
                 tile.runs, "r", run_step, "_m", tile.channels, dsp_suffix(tile.out));
  out.summary = cat(counted(tile.pixels, "pixel"), ", ", counted(tile.runs, "run"), " of ",
                    counted(tile.run_bytes, "element"), " of K, ",
                    counted(tile.channels, "channel"), ", two at a time.");
  set_dsp_parameters(out, "const uint8_t*", tile.out);
  out.condition = kThumbCondition;
  out.lines = Tile(tile).lines();
  out.fallback =
      cat("rt::mla_tile(x, stream, y, zero_points, ", tile.pixels, ", ", tile.x_step, ", {",
          tile.run_bytes, ", ", tile.runs, ", ", run_step, tile.planar ? ", true" : "", "}, ",
          tile.channels, ", ", dsp_store_text(tile.out), ");");
  out.stack = kSavedBytes + kFrame;
  return out;
}

AssemblyFunction mla_depthwise(const DspDepthwise& tile) {
  ETCH_CHECK(tile.pixels >= 1 && tile.pixels <= 2 && tile.channels % 4 == 0 &&
             tile.out.result != Result::kFloat);
  AssemblyFunction out;
  out.name =
      cat("mla_depthwise_", tile.pixels, "x4_", tile.rows, "x", tile.cols, "_r", tile.row_step,
          "_c", tile.col_step, "_x", tile.x_step, "_m", tile.channels, dsp_suffix(tile.out));
  out.summary = cat(counted(tile.pixels, "pixel"), ", ", tile.rows, "x", tile.cols, " ",
                    plural(tile.rows * tile.cols, "tap"), ", ", counted(tile.channels, "channel"),
                    ", four at a time.");
  set_dsp_parameters(out, "const uint8_t*", tile.out);
  out.condition = kThumbCondition;
  out.lines = Depthwise(tile).lines();
  out.fallback = cat("rt::mla_depthwise(x, stream, y, zero_points, ", tile.pixels, ", ",
                     tile.x_step, ", {", tile.rows, ", ", tile.cols, ", ", tile.row_step, ", ",
                     tile.col_step, "}, ", tile.channels, ", ", dsp_store_text(tile.out), ");");
  out.stack = kSavedBytes + kFrame;
  return out;
}

}  // namespace etch
