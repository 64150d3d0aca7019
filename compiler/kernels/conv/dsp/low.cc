// See low.h. Every instruction has 16 bits, which is what distances of jumps are counted by.
#include "compiler/kernels/conv/dsp/low.h"

#include "compiler/kernels/conv/dsp/epilogue.h"

namespace etch {
namespace {

// Any Arm core with Thumb has these instructions from ARMv6 on: before, MOV needs a high register.
constexpr char kCondition[] =
    "defined(__ARM_ARCH) && __ARM_ARCH >= 6 && defined(__thumb__) && defined(__ARMEL__) && "
    "defined(__GNUC__)";
constexpr int kSavedBytes = 36;

// What both functions have in common: constants without MOVW, and the frame.
class Function {
 protected:
  // `to` = value; changes the flags.
  void load(const std::string& to, std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value < 0 ? -value : value);
    ETCH_CHECK(bits <= INT32_MAX);
    int shift = 24;
    while (shift > 0 && bits >> shift == 0) shift -= 8;
    t_.op("movs", to, byte_of(bits, shift));
    int pending = 0;
    for (shift -= 8; shift >= 0; shift -= 8) {
      pending += 8;
      if ((bits >> shift & 0xff) == 0 && shift > 0) continue;
      t_.op("lsls", to, to, Thumb::immediate(pending));
      pending = 0;
      if ((bits >> shift & 0xff) != 0) t_.op("adds", to, byte_of(bits, shift));
    }
    if (value < 0) t_.op("negs", to, to);
  }

  // `to` += value; changes the flags, and `spare` if the value has more than 8 bits.
  void add(const std::string& to, std::int64_t value, const std::string& spare) {
    if (value == 0) return;
    if (value >= -255 && value <= 255) {
      t_.op(value < 0 ? "subs" : "adds", to, Thumb::immediate(value < 0 ? -value : value));
      return;
    }
    load(spare, value);
    t_.op("adds", to, to, spare);
  }

  void begin(int frame) {
    t_.op(".syntax unified");  // gcc assumes another one for these cores
    t_.op("push", "{r4-r7, lr}");
    for (int i = 4; i < 8; ++i) t_.op("mov", Thumb::r(i), Thumb::r(i + 4));
    t_.op("push", "{r4-r7}");
    t_.op("sub", "sp", Thumb::immediate(frame));
  }

  void end(int frame) {
    t_.op("add", "sp", Thumb::immediate(frame));
    t_.op("pop", "{r4-r7}");
    for (int i = 4; i < 8; ++i) t_.op("mov", Thumb::r(i + 4), Thumb::r(i));
    t_.op("pop", "{r4-r7, pc}");
  }

  // Back to label `to` unless equal; a conditional jump reaches 256 bytes only. `done` is unused.
  void again_unless_equal(int to, int done) {
    t_.op(cat("beq ", done, "f").c_str());
    t_.op(cat("b ", to, "b").c_str());
    t_.label(done);
  }

  void multiply_add(const std::string& acc, const std::string& to, const std::string& by) {
    t_.op("muls", to, by, to);
    t_.op("add", acc, to);
  }

  Thumb t_;

 private:
  static std::string byte_of(std::uint64_t bits, int shift) {
    return Thumb::immediate(static_cast<std::int64_t>(bits >> shift & 0xff));
  }
};

class Tile : Function {
 public:
  explicit Tile(const MlaTile& tile) : tile_(tile) {}

  std::vector<std::string> lines() {
    t_.comment("r0, r1: ends of a run of two pixels; r2, r3: of the weights of two channels");
    t_.comment("r4: index to the ends; r5-r7: x, weights, products; r12: runs left; lr: run step");
    t_.comment("r8-r11: sums, two channels of a pixel after the other");
    t_.comment("stack: y, x, end of the stream, index of the start of a run");
    begin(kFrame);
    t_.op("str", "r2", Thumb::at("sp", kY));
    t_.op("str", "r0", Thumb::at("sp", kX));
    load("r4", (8 + weight_bytes()) * ((tile_.channels + 1) / 2));
    t_.op("adds", "r4", "r4", "r1");
    t_.op("str", "r4", Thumb::at("sp", kStreamEnd));
    load("r4", -tile_.run_bytes);
    t_.op("str", "r4", Thumb::at("sp", kStart));
    t_.comment("2 channels: biases, then all of K");
    t_.label(1);
    begin_block();
    multiply();
    t_.op("mov", "r1", "r3");
    add("r1", padding(), "r5");
    store();
    end(kFrame);
    return t_.take();
  }

 private:
  static constexpr int kY = 0, kX = 4, kStreamEnd = 8, kStart = 12;
  static constexpr int kMostUnrolled = 8;  // elements of K, for jumps of 256 bytes

  int elements() const { return tile_.run_bytes * tile_.runs; }
  int padding() const { return elements() % 2 == 0 ? 0 : 2; }
  std::int64_t weight_bytes() const { return 2 * elements() + padding(); }

  void begin_block() {
    t_.op("ldmia", "r1!", "{r5, r6}");
    for (int p = 0; p < tile_.pixels; ++p) {
      t_.op("mov", Thumb::r(8 + 2 * p), "r5");
      t_.op("mov", Thumb::r(9 + 2 * p), "r6");
    }
    t_.op("ldr", "r4", Thumb::at("sp", kStart));
    t_.op("subs", "r2", "r1", "r4");
    load("r3", elements());
    t_.op("adds", "r3", "r3", "r2");
    t_.op("ldr", "r0", Thumb::at("sp", kX));
    t_.op("subs", "r0", "r0", "r4");
    if (tile_.pixels == 2) {
      load("r1", tile_.x_step);
      t_.op("adds", "r1", "r1", "r0");
    }
    if (tile_.runs == 1) return;
    load("r5", tile_.run_step);
    t_.op("mov", "lr", "r5");
    load("r5", tile_.runs);
    t_.op("mov", "r12", "r5");
  }

  int unrolled() const {
    if (tile_.run_bytes <= kMostUnrolled) return tile_.run_bytes;
    int best = 5;
    for (int n = 6; n <= kMostUnrolled; ++n) {
      if (tile_.run_bytes % n <= tile_.run_bytes % best) best = n;
    }
    return best;
  }

  void multiply() {
    const int together = unrolled();
    if (tile_.runs > 1) t_.label(2);
    for (int i = 0; i < tile_.run_bytes % together; ++i) multiply_element();
    if (tile_.run_bytes > together) t_.label(3);
    for (int i = 0; i < together; ++i) multiply_element();
    if (tile_.run_bytes > together) t_.op("bne 3b");
    if (tile_.runs > 1) next_run();
  }

  // The weights of the next run follow; after the last one they go back.
  void next_run() {
    t_.op("add", "r0", "lr");
    if (tile_.pixels == 2) t_.op("add", "r1", "lr");
    t_.op("ldr", "r4", Thumb::at("sp", kStart));
    t_.op("subs", "r2", "r2", "r4");
    t_.op("subs", "r3", "r3", "r4");
    t_.op("mov", "r5", "r12");
    t_.op("subs", "r5", "#1");
    t_.op("mov", "r12", "r5");
    again_unless_equal(2, 4);
    t_.op("adds", "r3", "r3", "r4");
  }

  void multiply_element() {
    t_.op("ldrb", "r5", "[r0, r4]");
    t_.op("ldrsb", "r6", "[r2, r4]");
    if (tile_.pixels == 2) {
      t_.op("mov", "r7", "r5");
      multiply_add("r8", "r7", "r6");
      t_.op("ldrsb", "r7", "[r3, r4]");
      multiply_add("r9", "r5", "r7");
      t_.op("ldrb", "r5", "[r1, r4]");
      multiply_add("r10", "r6", "r5");
      multiply_add("r11", "r7", "r5");
    } else {
      multiply_add("r8", "r6", "r5");
      t_.op("ldrsb", "r7", "[r3, r4]");
      multiply_add("r9", "r7", "r5");
    }
    t_.op("adds", "r4", "#1");
  }

  void store() {
    t_.comment("store at y in r5");
    t_.op("ldr", "r5", Thumb::at("sp", kY));
    t_.op("mov", "r6", "r5");
    t_.op("adds", "r6", "#8");
    t_.op("str", "r6", Thumb::at("sp", kY));
    t_.op("ldr", "r7", Thumb::at("sp", kStreamEnd));
    for (int p = 0; p < tile_.pixels; ++p) {
      if (p > 0) add("r5", 4 * tile_.out.y_step, "r6");
      t_.op("mov", "r4", Thumb::r(8 + 2 * p));
      t_.op("str", "r4", Thumb::at("r5", 0));
      t_.op("mov", "r4", Thumb::r(9 + 2 * p));
      if (tile_.channels % 2 != 0) {
        t_.op("cmp", "r1", "r7");
        t_.op(cat("beq ", 5 + p, "f").c_str());
      }
      t_.op("str", "r4", Thumb::at("r5", 4));
      if (tile_.channels % 2 != 0) t_.label(5 + p);
    }
    t_.op("cmp", "r1", "r7");
    again_unless_equal(1, 7);
  }

  const MlaTile& tile_;

 public:
  static constexpr int kFrame = 16;
};

constexpr int kMostTaps = 16;     // one after the other
constexpr int kMostColumns = 40;  // of a loop's body, for jumps of 2 kB

class Depthwise : Function {
 public:
  explicit Depthwise(const DspDepthwise& tile) : tile_(tile) {
    if (!loops() || tile.rows > 1) return;
    tile_.rows = tile.cols;
    tile_.row_step = tile.col_step;
    tile_.cols = 1;
  }

  std::vector<std::string> lines() {
    t_.comment("r0: x; r1: stream; r2, r3: a weight and x; r4-r7: 0 to 3; r12: y; lr: rows left");
    t_.comment("r8-r11: sums of four channels; stack: end of the stream");
    begin(kFrame);
    t_.op("mov", "r12", "r2");
    load("r4", (16 + 4 * tile_.rows * tile_.cols) * (tile_.channels / 4));
    t_.op("adds", "r4", "r4", "r1");
    t_.op("str", "r4", "[sp]");
    t_.comment("4 channels: biases, then all taps");
    t_.label(1);
    t_.op("ldmia", "r1!", "{r4-r7}");
    for (int c = 0; c < 4; ++c) t_.op("mov", Thumb::r(8 + c), Thumb::r(4 + c));
    for (int c = 0; c < 4; ++c) t_.op("movs", Thumb::r(4 + c), Thumb::immediate(c));
    multiply();
    store();
    end(kFrame);
    return t_.take();
  }

 private:
  bool loops() const { return tile_.rows * tile_.cols > kMostTaps; }

  // x in r0 ends 4 bytes on.
  void multiply() {
    const int rows = loops() ? 1 : tile_.rows;
    if (loops()) {
      load("r2", tile_.rows);
      t_.op("mov", "lr", "r2");
      t_.label(2);
    }
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < tile_.cols; ++col)
        multiply_tap(row * tile_.row_step + col * tile_.col_step);
    }
    if (!loops()) {
      move_to(4);
    } else {
      move_to(tile_.row_step);
      t_.op("mov", "r2", "lr");
      t_.op("subs", "r2", "#1");
      t_.op("mov", "lr", "r2");
      again_unless_equal(2, 3);
      add("r0", 4 - tile_.rows * tile_.row_step, "r2");
    }
    moved_ = 0;
  }

  void move_to(std::int64_t at) {
    add("r0", at - moved_, "r2");
    moved_ = at;
  }

  void multiply_tap(std::int64_t at) {
    constexpr std::int64_t kReach = 31;
    if (at < moved_ || at + 3 - moved_ > kReach) move_to(at);
    for (int c = 0; c < 4; ++c) {
      t_.op("ldrsb", "r2", cat("[r1, r", 4 + c, "]"));
      t_.op("ldrb", "r3", Thumb::at("r0", at - moved_ + c));
      multiply_add(Thumb::r(8 + c), "r3", "r2");
    }
    t_.op("adds", "r1", "#4");
  }

  void store() {
    t_.op("mov", "r2", "r12");
    for (int c = 0; c < 4; ++c) t_.op("mov", Thumb::r(4 + c), Thumb::r(8 + c));
    t_.op("stmia", "r2!", "{r4-r7}");
    t_.op("mov", "r12", "r2");
    t_.op("ldr", "r3", "[sp]");
    t_.op("cmp", "r1", "r3");
    again_unless_equal(1, 4);
  }

  DspDepthwise tile_;
  std::int64_t moved_ = 0;  // of x in r0

 public:
  static constexpr int kFrame = 8;
};

// Bytes that are not aligned go one by one: a load of a word at them would be a fault.
class Copy : Function {
 public:
  explicit Copy(const DspCopy& copy) : copy_(copy) {}

  std::vector<std::string> lines() {
    t_.comment("r0: x; r1: y; r2: blocks of 16 bytes left; r3-r6: bytes");
    t_.op(".syntax unified");
    t_.op("push", "{r4-r6, lr}");
    const std::int64_t blocks = copy_.bytes / kBlock;
    if (blocks > 1) load("r2", blocks);
    if (blocks > 1) t_.label(1);
    if (blocks > 0) block();
    if (blocks > 1) {
      t_.op("subs", "r2", "#1");
      t_.op("bne", "1b");
    }
    rest();
    t_.op("pop", "{r4-r6, pc}");
    return t_.take();
  }

 private:
  void block() {
    if (copy_.aligned) {
      t_.op("ldmia", "r0!", "{r3-r6}");
      t_.op("stmia", "r1!", "{r3-r6}");
      return;
    }
    for (int i = 0; i < kBlock; ++i) move("ldrb", "strb", i);
    t_.op("adds", "r0", Thumb::immediate(kBlock));
    t_.op("adds", "r1", Thumb::immediate(kBlock));
  }

  void rest() {
    const std::int64_t left = copy_.bytes % kBlock;
    std::int64_t done = 0;
    for (; copy_.aligned && left - done >= 4; done += 4) move("ldr", "str", done);
    for (; copy_.aligned && left - done >= 2; done += 2) move("ldrh", "strh", done);
    for (; done < left; ++done) move("ldrb", "strb", done);
  }

  void move(const char* load, const char* store, std::int64_t offset) {
    t_.op(load, "r3", Thumb::at("r0", offset));
    t_.op(store, "r3", Thumb::at("r1", offset));
  }

  static constexpr int kBlock = 16;
  DspCopy copy_;
};

}  // namespace

bool low_depthwise_serves(std::int64_t rows, std::int64_t cols) {
  return rows == 1 || cols <= kMostColumns;
}

AssemblyFunction low_tile(const MlaTile& tile) {
  ETCH_CHECK(tile.pixels >= 1 && tile.pixels <= 2 &&
             tile.out.result == DspEpilogue::Result::kInt32);
  MlaTile planar = tile;
  planar.planar = true;
  AssemblyFunction out = mla_tile(planar);
  out.name.replace(0, 3, "low");
  out.condition = kCondition;
  out.lines = Tile(tile).lines();
  out.stack = kSavedBytes + Tile::kFrame;
  return out;
}

AssemblyFunction low_depthwise(const DspDepthwise& tile) {
  ETCH_CHECK(tile.pixels == 1 && tile.out.result == DspEpilogue::Result::kInt32);
  ETCH_CHECK(low_depthwise_serves(tile.rows, tile.cols));
  AssemblyFunction out = mla_depthwise(tile);
  out.name.replace(0, 3, "low");
  out.condition = kCondition;
  out.lines = Depthwise(tile).lines();
  out.stack = kSavedBytes + Depthwise::kFrame;
  return out;
}

AssemblyFunction low_copy(const DspCopy& copy) {
  AssemblyFunction out = dsp_copy(copy);
  out.name.replace(0, 3, "low");
  out.condition = kCondition;
  out.lines = Copy(copy).lines();
  out.stack = 16;
  return out;
}

}  // namespace etch
