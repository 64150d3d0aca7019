// Tiles of 1 to 4 pixels times 2 channels; see functions.h. Per two elements of K and four pixels:
// one word of weights, two widenings, two doublewords of activations, eight SMLADs: 13 instructions
// for 16 products. Joint weights (joint.h) need one widening: 12 instructions.
#include <algorithm>

#include "compiler/kernels/conv/dsp/epilogue.h"

namespace etch {
namespace {

constexpr int kMostUnrolled = 20;  // pairs of elements of K without a loop
constexpr int kCompact = 4;        // about so many in an iteration where code is to be small
constexpr int kSavedBytes = 36;    // r4 to r11 and lr

// On the stack: what a block of channels needs once. kLine: factors and offset of a SumLine.
constexpr int kY = 0, kXEnd = 4, kX = 8, kStreamEnd = 12, kZeroPoints = 16, kFrame = 20;
constexpr int kResidual = 20, kLine = 24, kFrameWithResidual = 44;
constexpr int kMovedSums = 16;  // bytes after these: what moved weights leave out of each pixel,
                                // and 16 more for what weights of both channels do

class Tile {
 public:
  explicit Tile(const DspTile& tile) : tile_(tile) {}

  int frame() const {
    return moved_sums() + (moves() ? kMovedSums : 0) + (moves_both() ? kMovedSums : 0);
  }

  std::vector<std::string> lines() {
    t_.comment("r0: x, gathered; r1: stream; r2, r3: x of two pixels");
    t_.comment(tile_.joint ? "r12: weights of both channels; lr: those of the first, widened"
                           : "r12, lr: weights, widened");
    t_.comment(
        cat("r4-r", 3 + 2 * tile_.pixels, ": sums, two channels of a pixel after the other"));
    t_.comment(cat("stack: y, end of x, x, end of the stream, zero points",
                   tile_.residual ? ", residual, line of the sum" : "",
                   moves() ? cat(", ", tile_.moved, " times the sums of x") : "",
                   moves_both() ? cat(", ", moved_of_both(tile_.moved), " times") : ""));
    t_.op("push", "{r4-r11, lr}");
    t_.op("sub", "sp", "sp", Thumb::immediate(frame()));
    t_.op("str", "r2", Thumb::at("sp", kY));
    t_.op("str", "r0", Thumb::at("sp", kX));
    t_.op("str", "r3", Thumb::at("sp", kZeroPoints));
    t_.add("r12", "r0", 4 * tile_.pixels * tile_.pairs, "lr");
    t_.op("str", "r12", Thumb::at("sp", kXEnd));
    t_.add("r12", "r1", stream_bytes(), "lr");
    t_.op("str", "r12", Thumb::at("sp", kStreamEnd));
    if (tile_.residual) keep_residual();
    if (moves()) keep_moved_sums();
    t_.comment("two channels: biases, then all of K");
    t_.label(1);
    load_biases();
    multiply();
    if (tile_.joint) {
      t_.comment("sums of the second channel");
      write_second_sums(t_, tile_.out, accumulators(), tile_.nibbles);
    }
    if (tile_.out.result != Result::kInt32) t_.comment("scale and round");
    write_rounding(t_, tile_.out, accumulators(), 2);
    if (tile_.residual) add_residual();
    store();
    t_.op("add", "sp", "sp", Thumb::immediate(frame()));
    t_.op("pop", "{r4-r11, pc}");
    return t_.take();
  }

 private:
  using Result = DspEpilogue::Result;

  int moved_sums() const { return tile_.residual ? kFrameWithResidual : kFrame; }

  // Whether sums of x are added, and other multiples of them to the sums of both channels.
  bool moves() const { return tile_.moved != 0 || moves_both(); }
  bool moves_both() const { return tile_.nibbles && moved_of_both(tile_.moved) != tile_.moved; }

  // Sums of all x of each pixel, by products with ones.
  void keep_moved_sums() {
    t_.comment(cat(tile_.moved, " times the sum of x: sums in r4-r", 3 + tile_.pixels));
    t_.op("ldr", "lr", Thumb::at("sp", kXEnd));
    t_.op("mov", "r12", "#0x10001");
    for (int p = 0; p < tile_.pixels; ++p) t_.op("mov", Thumb::r(4 + p), "#0");
    t_.label(5);
    for (int p = 0; p < tile_.pixels; p += 2) {
      load_x(p);
      for (int q = p; q < std::min(p + 2, tile_.pixels); ++q)
        t_.op("smlad", Thumb::r(4 + q), q == p ? "r2" : "r3", "r12", Thumb::r(4 + q));
    }
    t_.op("cmp", "r0", "lr");
    t_.op("bne", "5b");
    if (moves_both()) keep_products(moved_of_both(tile_.moved), "r2", kMovedSums);
    keep_products(tile_.moved, "", 0);
    t_.op("ldr", "r0", Thumb::at("sp", kX));
  }

  // Of the sums of x, in `spare` registers if these are needed again.
  void keep_products(int factor, const std::string& spare, int after) {
    t_.load("r12", factor);
    for (int p = 0; p < tile_.pixels; ++p) {
      const std::string to = spare.empty() ? Thumb::r(4 + p) : spare;
      t_.op("mul", to, Thumb::r(4 + p), "r12");
      t_.op("str", to, Thumb::at("sp", moved_sums() + after + 4 * p));
    }
  }

  // Of this pixel to r2 and, where there is one, of the next to r3.
  void load_x(int pixel) {
    if (pixel + 1 < tile_.pixels) {
      t_.op("ldrd", "r2", "r3", Thumb::then_add("r0", 8));
    } else {
      t_.op("ldr", "r2", Thumb::then_add("r0", 4));
    }
  }

  int acc(int pixel, int channel) const { return 4 + 2 * pixel + channel; }
  std::vector<int> accumulators() const {
    std::vector<int> out;
    out.reserve(8);
    for (int i = 0; i < 2 * tile_.pixels; ++i) out.push_back(4 + i);
    return out;
  }

  std::int64_t stream_bytes() const {
    const int factors = tile_.out.result == Result::kInt32   ? 0
                        : tile_.out.result == Result::kFloat ? 2
                                                             : 8;
    const int weights = tile_.nibbles ? tile_.pairs / 2 : tile_.pairs;
    return std::int64_t{4} * (2 + weights + factors) * ((tile_.channels + 1) / 2);
  }

  // The last two arguments are the caller's on the stack.
  void keep_residual() {
    t_.op("ldr", "r12", Thumb::at("sp", frame() + kSavedBytes));
    t_.op("str", "r12", Thumb::at("sp", kResidual));
    t_.op("ldr", "r12", Thumb::at("sp", frame() + kSavedBytes + 4));
    t_.op("ldmia", "r12", "{r4-r7}");
    t_.op("add", "r12", "sp", Thumb::immediate(kLine));
    t_.op("stmia", "r12", "{r4-r7}");
  }

  // Each result becomes a byte, and then the upper word of the line's sum.
  void add_residual() {
    t_.comment(tile_.residual->form == rt::kWideSum
                   ? "add the residual at r0: line in r2, r3, sum in r12, lr"
                   : "add the residual at r0: line in r2, r3, r12");
    if (tile_.out.zero_point) t_.op("ldrh", "r3", Thumb::at("sp", kZeroPoints));
    for (const int i : accumulators()) {
      if (tile_.out.zero_point) t_.op("add", Thumb::r(i), Thumb::r(i), "r3");
      t_.op("usat", Thumb::r(i), "#8", Thumb::r(i));
    }
    t_.op("ldr", "r0", Thumb::at("sp", kResidual));
    t_.op("ldrd", "r2", "r3", Thumb::at("sp", kLine));
    if (tile_.residual->form != rt::kWideSum) t_.op("ldr", "r12", Thumb::at("sp", kLine + 8));
    for (int p = 0; p < tile_.pixels; ++p) {
      for (int c = 0; c < 2; ++c) {
        write_sum(t_, *tile_.residual, acc(p, c), p * tile_.residual->step + c, kLine + 8);
      }
    }
    t_.op("add", "r0", "r0", "#2");
    t_.op("str", "r0", Thumb::at("sp", kResidual));
    t_.op("ldr", "r0", Thumb::at("sp", kX));
  }

  // How pairs are packed: sums have their zero point in the line's offset.
  DspEpilogue packing() const {
    DspEpilogue out = tile_.out;
    if (!tile_.residual) return out;
    out.zero_point = false;
    out.low = tile_.residual->low;
    out.high = tile_.residual->high;
    return out;
  }

  void load_biases() {
    t_.op("ldrd", "r4", "r5", Thumb::then_add("r1", 8));
    for (int p = 1; p < tile_.pixels; ++p) {
      for (int c = 0; c < 2; ++c) t_.op("mov", Thumb::r(acc(p, c)), Thumb::r(acc(0, c)));
    }
    for (int p = 0; p < tile_.pixels && moves(); ++p) {
      t_.op("ldr", "r12", Thumb::at("sp", moved_sums() + 4 * p));
      for (int c = 0; c < 2; ++c) {
        if (c == 1 && moves_both())
          t_.op("ldr", "r12", Thumb::at("sp", moved_sums() + kMovedSums + 4 * p));
        t_.op("add", Thumb::r(acc(p, c)), "r12");
      }
    }
  }

  // How many pairs of K an iteration has: all, or a number that leaves few or none over, an even
  // one for weights of 4 bits.
  int unrolled() const {
    if (tile_.compact) return unrolled_of_little();
    if (tile_.pairs <= kMostUnrolled) return tile_.pairs;
    int best = 8;
    for (int n = 8; n <= 16; n += tile_.nibbles ? 2 : 1) {
      if (tile_.pairs % n < tile_.pairs % best || (tile_.pairs % n == tile_.pairs % best)) best = n;
    }
    return best;
  }

  // Nothing is left over: the number of pairs is even.
  int unrolled_of_little() const {
    if (tile_.pairs <= kCompact) return tile_.pairs;
    for (const int n : {kCompact, kCompact + 2}) {
      if (tile_.pairs % n == 0) return n;
    }
    return 2;
  }

  void multiply() {
    const int together = unrolled();
    multiply_pairs(tile_.pairs % together);
    const bool loops = tile_.pairs > together;
    if (loops) t_.label(2);
    multiply_pairs(together);
    if (loops) {
      t_.op("ldr", "r12", Thumb::at("sp", kXEnd));
      t_.op("cmp", "r0", "r12");
      t_.op("bne", "2b");
    }
    t_.op("ldr", "r0", Thumb::at("sp", kX));
  }

  bool alternates() const { return tile_.starts_two && tile_.pixels == 4; }

  void multiply_pairs(int count) {
    if (alternates() && count > 0) return multiply_alternating(count);
    for (int i = 0; i < count; ++i) {
      if (tile_.nibbles) {
        load_nibbles(i % 2 == 1);
      } else {
        load_bytes();
      }
      multiply_pair();
    }
  }

  // For cores that start a load and a SMLAD in one cycle: the load first, of what is needed some
  // SMLADs later, without moving its base. Per pair 15 instructions and 10 cycles instead of 13 and
  // 13 in LLVM's model of Cortex-M7. Weights are in lr first, whose last use the next load follows:
  // the first channel's, or, joint, those of both. A word with weights of 4 bits is loaded twice.
  void multiply_alternating(int pairs) {
    const auto load_x = [&](const char* to, int pair, int pixel) {
      t_.op("ldr", to, Thumb::at("r0", 16 * pair + 4 * pixel));
    };
    const auto word_of = [&](int pair) { return tile_.nibbles ? pair / 2 : pair; };
    const auto load_weights = [&](int pair) {
      t_.op("ldr", "lr", Thumb::at("r1", 4 * word_of(pair)));
    };
    const auto widen = [&](int pair) {
      if (tile_.nibbles) return widen_nibbles("lr", pair % 2 == 1);
      if (tile_.joint) return t_.op("sxtb16", "r12", "lr");
      t_.op("sxtb16", "r12", "lr", "ror #8");
      t_.op("sxtb16", "lr", "lr");
    };
    const int in_lr = tile_.joint && !tile_.nibbles ? 1 : 0;
    const auto smlad = [&](int pixel, int channel) {
      const std::string sum = Thumb::r(acc(pixel, channel));
      t_.op("smlad", sum, pixel % 2 == 0 ? "r2" : "r3", channel == in_lr ? "lr" : "r12", sum);
    };
    load_weights(0);
    load_x("r2", 0, 0);
    widen(0);
    for (int i = 0; i < pairs; ++i) {
      const bool next = i + 1 < pairs;
      for (int p = 0; p < 4; ++p) {
        if (p < 3) load_x(p % 2 == 0 ? "r3" : "r2", i, p + 1);
        if (p == 3 && next) load_x("r2", i + 1, 0);
        smlad(p, in_lr);
        if (p == 3 && next) load_weights(i + 1);
        smlad(p, 1 - in_lr);
      }
      if (next) widen(i + 1);
    }
    t_.add("r0", "r0", 16 * pairs, "r12");
    t_.add("r1", "r1", 4 * word_of(pairs), "r12");
  }

  // Of the word in `word`, weights of both channels to r12 and of the first one to lr.
  void widen_nibbles(const std::string& word, bool second_pair) {
    if (second_pair) {
      t_.op("sxtb16", "r12", word, "ror #8");
    } else {
      t_.op("sxtb16", "r12", word);
    }
    write_first_nibbles(t_, "lr", "r12");
  }

  // Loads follow each other, so that they overlap and nothing waits for the weights. Of 4 bits,
  // a word serves two pairs of K and is loaded for both.
  void load_nibbles(bool second_pair) {
    t_.op("ldr", "r12", second_pair ? "[r1, #-4]" : Thumb::then_add("r1", 4));
    load_x(0);
    widen_nibbles("r12", second_pair);
  }
  void load_bytes() {
    t_.op("ldr", "r12", Thumb::then_add("r1", 4));
    load_x(0);
    t_.op("sxtb16", "lr", "r12");
    if (!tile_.joint) t_.op("sxtb16", "r12", "r12", "ror #8");
  }

  // The weights are in lr and r12, x of the first two pixels in r2 and r3.
  void multiply_pair() {
    for (int p = 0; p < tile_.pixels; p += 2) {
      if (p > 0) load_x(p);
      for (int q = p; q < std::min(p + 2, tile_.pixels); ++q) {
        const char* const x = q == p ? "r2" : "r3";
        t_.op("smlad", Thumb::r(acc(q, 0)), x, "lr", Thumb::r(acc(q, 0)));
        t_.op("smlad", Thumb::r(acc(q, 1)), x, "r12", Thumb::r(acc(q, 1)));
      }
    }
  }

  // r2 is y from here on, and moves to the next pixel where immediates do not reach it.
  void store() {
    const bool bytes = tile_.out.result != Result::kInt32;
    t_.comment("store at y in r2");
    t_.op("ldr", "r2", Thumb::at("sp", kY));
    if (bytes) {
      const DspEpilogue out = packing();
      if (out.zero_point) t_.op("ldr", "r3", Thumb::at("sp", kZeroPoints));
      for (int p = 0; p < tile_.pixels; ++p) {
        const std::string q = Thumb::r(acc(p, 0));
        write_pair(t_, out, acc(p, 0), acc(p, 1), 3, 12);
        t_.op("orr", q, q, q, "lsr #8");
      }
    }
    t_.op("add", "r12", "r2", Thumb::immediate(bytes ? 2 : 8));
    t_.op("str", "r12", Thumb::at("sp", kY));
    t_.op("ldr", "r12", Thumb::at("sp", kStreamEnd));
    t_.op("cmp", "r1", "r12");
    const bool odd = tile_.channels % 2 != 0;
    if (odd) t_.op("beq", "3f");
    store_pixels(2);
    t_.op("bne", "1b");
    if (!odd) return;
    t_.op("b", "4f");
    t_.label(3);
    store_pixels(1);
    t_.label(4);
  }

  // Leaves the flags as they are.
  void store_pixels(int channels) {
    const bool bytes = tile_.out.result != Result::kInt32;
    const std::int64_t step = tile_.out.y_step * (bytes ? 1 : 4);
    const std::int64_t reach = bytes || channels == 1 ? 4095 : 1020;
    std::int64_t moved = 0;
    for (int p = 0; p < tile_.pixels; ++p) {
      if (p * step - moved > reach) {
        t_.add("r2", "r2", p * step - moved, "r12");
        moved = p * step;
      }
      const std::string at = Thumb::at("r2", p * step - moved);
      const std::string q = Thumb::r(acc(p, 0));
      if (bytes) {
        t_.op(channels == 2 ? "strh" : "strb", q, at);
      } else if (channels == 2) {
        t_.op("strd", q, Thumb::r(acc(p, 1)), at);
      } else {
        t_.op("str", q, at);
      }
    }
  }

  const DspTile& tile_;
  Thumb t_;
};

}  // namespace

AssemblyFunction dsp_tile(const DspTile& tile) {
  ETCH_CHECK(tile.pixels >= 1 && tile.pixels <= 4 && tile.pairs % 2 == 0);
  ETCH_CHECK(tile.nibbles ? tile.joint : !tile.joint || tile.moved == 0);
  AssemblyFunction out;
  out.name = cat("dsp_tile_", tile.pixels, "x2_k", 2 * tile.pairs, "_m", tile.channels,
                 weights_suffix(tile.moved, tile.joint, tile.nibbles), dsp_suffix(tile.out),
                 tile.starts_two ? "_two" : "", tile.compact ? "_compact" : "");
  out.summary = cat(counted(tile.pixels, "pixel"), ", ", counted(2 * tile.pairs, "element"),
                    " of K, ", counted(tile.channels, "channel"), ", two at a time.");
  set_dsp_parameters(out, "const int32_t*", tile.out);
  Tile function(tile);
  out.stack = kSavedBytes + function.frame();
  const std::string sizes =
      cat(tile.pixels, ", ", tile.pairs, ", ", tile.channels, ", ", dsp_store_text(tile.out));
  const std::string moved = weights_text(tile.moved, tile.joint, tile.nibbles);
  out.fallback = cat("rt::dsp_tile(x, stream, y, zero_points, ", sizes, moved, ");");
  if (tile.residual) {
    const DspResidual& r = *tile.residual;
    ETCH_CHECK(tile.out.low == 0 && tile.out.high == 255 && 3 * r.step + 1 <= 4095);
    out.name += cat("_add", sum_suffix(r), "_r", r.step,
                    r.low == 0 && r.high == 255 ? "" : cat("_", r.low, "_", r.high));
    out.types.insert(out.types.end(), {"const uint8_t*", "const int32_t*"});
    out.names.insert(out.names.end(), {"residual", "line"});
    out.fallback = cat("rt::dsp_tile_add(x, stream, y, zero_points, residual, line, ", sizes, ", {",
                       residual_text(r), "}", moved, ");");
  }
  out.lines = function.lines();
  return out;
}

}  // namespace etch
