// One pixel times four channels at a time, for matrix-vector products; see functions.h. Every
// weight is used once, so they are what counts: per 4 elements of K and four channels one load of
// four words, one of two activations, eight widenings and eight SMLADs: 18 instructions for 16
// products. Joint weights (joint.h) need four widenings, in place, so that one load takes eight
// activations: 13.5 instructions; of 4 bits four widenings and four ANDs, and two groups share a
// load of weights: 17.5. Few channels read bytes of x: a load and two widenings instead of
// a load of two words, and no widened copy of x.
#include <algorithm>

#include "compiler/kernels/conv/dsp/epilogue.h"

namespace etch {
namespace {

constexpr int kMostUnrolled = 8, kMostCompact = 2;  // groups of 4 elements of K
constexpr int kSavedBytes = 36;
constexpr int kY = 0, kX = 4, kStreamEnd = 8, kZeroPoints = 12, kMovedSum = 16, kFrame = 20;
constexpr int kXEnd = kMovedSum;  // joint weights are not moved, unless of 4 bits
constexpr int kMovedSumOfBoth = kFrame, kFrameOfBoth = kFrame + 4;

class Row {
 public:
  explicit Row(const DspRow& row) : row_(row) {}

  std::vector<std::string> lines() {
    t_.comment("r0: x; r1: stream; r2, r3: four elements of x; r4-r7: sums of four channels");
    t_.comment(pairs() ? "r8-r11: weights; r12, lr: four more elements of x"
               : row_.joint && !row_.nibbles
                   ? "r8-r11: weights; lr: end of x"
                   : "r8-r11: weights; r12: some of them, widened; lr: end of x");
    t_.comment(cat("stack: y, x, end of the stream, zero points", pairs() ? ", end of x" : "",
                   moves() ? cat(", ", row_.moved, " times the sum of x") : "",
                   moves_both() ? cat(", ", moved_of_both(row_.moved), " times") : ""));
    t_.op("push", "{r4-r11, lr}");
    t_.op("sub", "sp", "sp", Thumb::immediate(frame()));
    t_.op("str", "r2", Thumb::at("sp", kY));
    t_.op("str", "r0", Thumb::at("sp", kX));
    t_.op("str", "r3", Thumb::at("sp", kZeroPoints));
    t_.add("r12", "r1", stream_bytes(), "lr");
    t_.op("str", "r12", Thumb::at("sp", kStreamEnd));
    if (moves()) keep_moved_sum();
    if (pairs()) {
      t_.add("r12", "r0", x_bytes(), "lr");
      t_.op("str", "r12", Thumb::at("sp", kXEnd));
    }
    t_.comment("four channels: biases, then all of K");
    t_.label(1);
    t_.op("ldmia", "r1!", "{r4-r7}");
    if (moves()) add_moved_sums();
    multiply();
    if (row_.joint) {
      t_.comment("sums of every second channel");
      write_second_sums(t_, row_.out, {4, 5, 6, 7}, row_.nibbles);
    }
    if (bytes()) t_.comment("scale and round");
    write_rounding(t_, row_.out, {4, 5, 6, 7}, 4);
    store();
    t_.op("add", "sp", "sp", Thumb::immediate(frame()));
    t_.op("pop", "{r4-r11, pc}");
    return t_.take();
  }

  int frame() const { return moves_both() ? kFrameOfBoth : kFrame; }

 private:
  using Result = DspEpilogue::Result;

  // Whether sums of x are added, and another multiple of them to the sums of both channels.
  bool moves() const { return row_.moved != 0 || moves_both(); }
  bool moves_both() const { return row_.nibbles && moved_of_both(row_.moved) != row_.moved; }

  bool bytes() const { return row_.out.result != Result::kInt32; }

  // Whether two groups of elements are loaded at once.
  bool pairs() const { return row_.joint && !row_.nibbles && !row_.bytes; }

  std::int64_t x_bytes() const { return std::int64_t{row_.bytes ? 4 : 8} * row_.groups; }

  // The sum of all x: by products with ones, or of bytes by their differences from zeros.
  void keep_moved_sum() {
    t_.add("lr", "r0", x_bytes(), "lr");
    t_.op("mov", "r12", row_.bytes ? "#0" : "#0x10001");
    t_.op("mov", "r4", "#0");
    t_.label(5);
    if (row_.bytes) {
      t_.op("ldr", "r2", Thumb::then_add("r0", 4));
      t_.op("usada8", "r4", "r2", "r12", "r4");
    } else {
      t_.op("ldrd", "r2", "r3", Thumb::then_add("r0", 8));
      t_.op("smlad", "r4", "r2", "r12", "r4");
      t_.op("smlad", "r4", "r3", "r12", "r4");
    }
    t_.op("cmp", "r0", "lr");
    t_.op("bne", "5b");
    if (moves_both()) {
      t_.load("r12", moved_of_both(row_.moved));
      t_.op("mul", "r2", "r4", "r12");
      t_.op("str", "r2", Thumb::at("sp", kMovedSumOfBoth));
    }
    t_.load("r12", row_.moved);
    t_.op("mul", "r4", "r4", "r12");
    t_.op("str", "r4", Thumb::at("sp", kMovedSum));
    t_.op("ldr", "r0", Thumb::at("sp", kX));
  }

  void add_moved_sums() {
    t_.op("ldr", "r12", Thumb::at("sp", kMovedSum));
    if (moves_both()) t_.op("ldr", "r2", Thumb::at("sp", kMovedSumOfBoth));
    for (int c = 0; c < 4; ++c)
      t_.op("add", Thumb::r(4 + c), c % 2 == 1 && moves_both() ? "r2" : "r12");
  }

  std::int64_t stream_bytes() const {
    const int factors = !bytes() ? 0 : row_.out.result == Result::kFloat ? 4 : 16;
    const int weights = (row_.nibbles ? 2 : 4) * row_.groups;
    return std::int64_t{4} * (4 + weights + factors) * ((row_.channels + 3) / 4);
  }

  void multiply() {
    const int most = row_.compact ? kMostCompact : kMostUnrolled;
    const bool loops = row_.groups > most;
    const int rest = loops ? row_.groups % most : row_.groups;
    if (loops && !pairs()) t_.add("lr", "r0", x_bytes(), "lr");
    multiply_groups(rest);
    if (loops) {
      t_.label(2);
      multiply_groups(most);
      if (pairs()) t_.op("ldr", "r2", Thumb::at("sp", kXEnd));
      t_.op("cmp", "r0", pairs() ? "r2" : "lr");
      t_.op("bne", "2b");
    }
    t_.op("ldr", "r0", Thumb::at("sp", kX));
  }

  void multiply_groups(int count) {
    int i = 0;
    for (; pairs() && i + 2 <= count; i += 2) {
      t_.op("ldmia", "r0!", "{r2, r3, r12, lr}");
      t_.op("ldmia", "r1!", "{r8-r11}");
      multiply_joint("r2", "r3");
      t_.op("ldmia", "r1!", "{r8-r11}");
      multiply_joint("r12", "lr");
    }
    for (; row_.nibbles && i + 2 <= count; i += 2) {
      load_group("{r8-r11}");
      multiply_nibbles(8);
      load_group("");
      multiply_nibbles(10);
    }
    for (; i < count; ++i) multiply_group();
  }

  // Four elements of x to r2 and r3, and weights, if there are registers for them.
  void load_group(const std::string& weights) {
    if (row_.bytes) {
      t_.op("ldr", "r3", Thumb::then_add("r0", 4));
    } else {
      t_.op("ldrd", "r2", "r3", Thumb::then_add("r0", 8));
    }
    if (!weights.empty()) t_.op("ldmia", "r1!", weights);
    if (!row_.bytes) return;
    t_.op("uxtb16", "r2", "r3");
    t_.op("uxtb16", "r3", "r3", "ror #8");
  }

  void multiply_group() {
    load_group(row_.nibbles ? "{r8, r9}" : "{r8-r11}");
    if (row_.nibbles) return multiply_nibbles(8);
    if (row_.joint) return multiply_joint("r2", "r3");
    for (int c = 0; c < 4; ++c) {
      const std::string acc = Thumb::r(4 + c);
      const std::string w = Thumb::r(8 + c);
      t_.op("sxtb16", "r12", w);
      t_.op("smlad", acc, "r2", "r12", acc);
      t_.op("sxtb16", w, w, "ror #8");
      t_.op("smlad", acc, "r3", w, acc);
    }
  }

  // Of four elements of K, a word from register `first` on has two channels, the next one two more.
  void multiply_nibbles(int first) {
    for (int i = 0; i < 2; ++i) {
      const std::string own = Thumb::r(4 + 2 * i), both = Thumb::r(5 + 2 * i);
      const std::string w = Thumb::r(first + i);
      t_.op("sxtb16", "r12", w);
      t_.op("smlad", both, "r2", "r12", both);
      write_first_nibbles(t_, "r12", "r12");
      t_.op("smlad", own, "r2", "r12", own);
      t_.op("sxtb16", w, w, "ror #8");
      t_.op("smlad", both, "r3", w, both);
      write_first_nibbles(t_, w, w);
      t_.op("smlad", own, "r3", w, own);
    }
  }

  // Two words hold two elements of two channels each, the next two the other elements.
  void multiply_joint(const char* x01, const char* x23) {
    for (int i = 0; i < 4; ++i) {
      const std::string first = Thumb::r(4 + i % 2 * 2), both = Thumb::r(5 + i % 2 * 2);
      const std::string w = Thumb::r(8 + i);
      const char* const x = i < 2 ? x01 : x23;
      t_.op("smlad", both, x, w, both);
      t_.op("sxtb16", w, w);
      t_.op("smlad", first, x, w, first);
    }
  }

  void store() {
    t_.comment("store at y in r2");
    t_.op("ldr", "r2", Thumb::at("sp", kY));
    if (bytes()) {
      if (row_.out.zero_point) t_.op("ldr", "r3", Thumb::at("sp", kZeroPoints));
      write_pair(t_, row_.out, 4, 6, 3, 12);
      write_pair(t_, row_.out, 5, 7, 3, 12);
      t_.op("orr", "r4", "r4", "r5", "lsl #8");
    }
    const int rest = row_.channels % 4;
    t_.op("ldr", "r12", Thumb::at("sp", kStreamEnd));
    t_.op("cmp", "r1", "r12");
    if (rest != 0) t_.op("beq", "3f");
    if (bytes()) {
      t_.op("str", "r4", Thumb::then_add("r2", 4));
    } else {
      t_.op("stmia", "r2!", "{r4-r7}");
    }
    t_.op("str", "r2", Thumb::at("sp", kY));
    t_.op("bne", "1b");
    if (rest == 0) return;
    t_.op("b", "4f");
    t_.label(3);
    for (int c = 0; c < rest; ++c) store_one(c);
    t_.label(4);
  }

  void store_one(int c) {
    if (!bytes()) {
      t_.op("str", Thumb::r(4 + c), Thumb::at("r2", 4 * c));
      return;
    }
    t_.op("strb", "r4", Thumb::at("r2", c));
    t_.op("lsr", "r4", "r4", "#8");
  }

  const DspRow& row_;
  Thumb t_;
};

}  // namespace

AssemblyFunction dsp_row(const DspRow& row) {
  ETCH_CHECK(row.nibbles ? row.joint : !row.joint || row.moved == 0);
  AssemblyFunction out;
  out.name = cat("dsp_row_k", 4 * row.groups, "_m", row.channels,
                 weights_suffix(row.moved, row.joint, row.nibbles), dsp_suffix(row.out),
                 row.bytes ? "_bytes" : "", row.compact ? "_compact" : "");
  out.summary = cat("1 pixel, ", counted(4 * row.groups, "element"), " of K, ",
                    counted(row.channels, "channel"), ", four at a time.");
  set_dsp_parameters(out, row.bytes ? "const uint8_t*" : "const int32_t*", row.out);
  Row function(row);
  out.lines = function.lines();
  out.fallback =
      cat("rt::dsp_row(x, stream, y, zero_points, ", row.groups, ", ", row.channels, ", ",
          dsp_store_text(row.out), weights_text(row.moved, row.joint, row.nibbles), ");");
  out.stack = kSavedBytes + function.frame();
  return out;
}

}  // namespace etch
