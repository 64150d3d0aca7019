// 3x3 convolutions by Winograd; see dsp_winograd.h. Per two input channels, four tiles and two
// output channels: two words of weights, four of activations and eight SMLADs, 11 instructions for
// 16 products, which are worth 36 of a direct convolution. Sums go where the loop already points
// to, between the activations of two positions.
#include "compiler/kernels/conv/winograd/functions.h"

#include "compiler/kernels/conv/dsp/epilogue.h"

namespace etch {
namespace {

std::int64_t position_bytes(int channels) { return std::int64_t{8} * channels + 32; }

// x in r0; v in r1, its upper half in r2; columns 1 and 2 of x in r3 to r10.
class Input {
 public:
  explicit Input(const WinogradInput& input) : in_(input) {}

  std::vector<std::string> lines() {
    t_.comment("r0: x; r1: v, r2: its upper half; r3-r6, r7-r10: columns 1 and 2 of x, widened");
    t_.comment("r11: a result; r12, lr: work; stack: end of the channels, end of four tiles");
    t_.op("push", "{r4-r11, lr}");
    t_.op("sub", "sp", "sp", "#12");
    t_.add("r2", "r1", 8 * position_bytes(in_.channels), "r12");
    t_.add("r12", "r0", in_.channels, "lr");
    t_.op("str", "r12", Thumb::at("sp", 0));
    t_.label(1);
    t_.add("r12", "r0", 8 * in_.channels, "lr");
    t_.op("str", "r12", Thumb::at("sp", 4));
    t_.label(2);
    for (const bool odd : {false, true}) pair(odd);
    t_.add("r0", "r0", 2 * in_.channels, "lr");
    for (const char* v : {"r1", "r2"}) t_.op("add", v, v, "#4");
    end_of_loop(4, "2b");
    t_.add("r0", "r0", 4 - 8 * in_.channels, "lr");
    for (const char* v : {"r1", "r2"}) t_.op("add", v, v, "#16");
    end_of_loop(0, "1b");
    t_.op("add", "sp", "sp", "#12");
    t_.op("pop", "{r4-r11, pc}");
    return t_.take();
  }

 private:
  static std::string one(int row) { return Thumb::r(3 + row); }
  static std::string two(int row) { return Thumb::r(7 + row); }

  void end_of_loop(int at, const char* label) {
    t_.op("ldr", "r12", Thumb::at("sp", at));
    t_.op("cmp", "r0", "r12");
    t_.op("bne", label);
  }

  void load(const std::string& to, int row, int col, bool odd) {
    t_.op("ldr", to, Thumb::at("r0", row * in_.row_bytes + col * in_.channels));
    if (odd) {
      t_.op("uxtb16", to, to, "ror #8");
    } else {
      t_.op("uxtb16", to, to);
    }
  }

  void store(const std::string& from, int row, int col, bool odd) {
    const int at = 4 * (col % 2) + row;
    t_.op("str", from,
          Thumb::at(col < 2 ? "r1" : "r2", at * position_bytes(in_.channels) + (odd ? 16 : 0)));
  }

  void pair(bool odd) {
    for (int row = 0; row < 4; ++row) {
      load(one(row), row, 1, odd);
      load(two(row), row, 2, odd);
    }
    inner_column("sadd16", 1, odd);
    inner_column("ssub16", 2, odd);
    outer_column(0, odd);
    outer_column(3, odd);
  }

  // Column 1 is the sum of columns 1 and 2, column 2 the second less the first.
  void inner_column(const char* op, int col, bool odd) {
    const auto make = [&](const char* to, int row) { t_.op(op, to, two(row), one(row)); };
    make("r11", 0);
    make("r12", 2);
    t_.op("ssub16", "r11", "r11", "r12");
    store("r11", 0, col, odd);
    make("lr", 1);
    t_.op("sadd16", "r11", "lr", "r12");
    store("r11", 1, col, odd);
    t_.op("ssub16", "r12", "r12", "lr");
    store("r12", 2, col, odd);
    make("r11", 3);
    t_.op("ssub16", "r11", "lr", "r11");
    store("r11", 3, col, odd);
  }

  // Column 0 is the first less the third, column 3 the second less the fourth, in their registers.
  void outer_column(int col, bool odd) {
    const auto at = [&](int row) { return col == 0 ? two(row) : one(row); };
    for (int row = 0; row < 4; ++row) {
      load("r11", row, col, odd);
      if (col == 0) {
        t_.op("ssub16", at(row), "r11", at(row));
      } else {
        t_.op("ssub16", at(row), at(row), "r11");
      }
    }
    const auto result = [&](int row, const char* op, int a, int b) {
      t_.op(op, "r11", at(a), at(b));
      store("r11", row, col, odd);
    };
    result(0, "ssub16", 0, 2);
    result(1, "sadd16", 1, 2);
    result(2, "ssub16", 2, 1);
    result(3, "ssub16", 1, 3);
  }

  const WinogradInput& in_;
  Thumb t_;
};

constexpr int kSavedBytes = 36;
// On the stack. kPairs: where v's positions end; kTilesEnd: y after the last whole tile.
constexpr int kY = 0, kV = 4, kZeroPoints = 8, kStreamEnd = 12, kPairs = 16, kTile = 20,
              kTilesEnd = 24, kResidual = 28, kLine = 32, kYTile = 48, kFrame = 52;

// Pixels of a tile (0,0), (1,0), (0,1), (1,1) times two channels are in r4 to r11.
class Tiles {
 public:
  explicit Tiles(const WinogradTiles& tiles) : w_(tiles) {}

  std::vector<std::string> lines() {
    t_.comment(
        "products: r0: v; r1: stream; r2, r3: v of two tiles; r12, lr: weights of two channels;");
    t_.comment("r4-r11: sums, two channels of four tiles");
    t_.comment(
        "a tile: r0: its sums; r1: biases and factors; r2: y; r4-r11: two channels of 2x2 pixels");
    t_.comment(
        "stack: y, v, zero points, end of the stream, end of v, next tile, end of the tiles,");
    t_.comment(w_.residual ? "residual, line of the sum, y of the tile" : "unused, y of the tile");
    t_.op("push", "{r4-r11, lr}");
    t_.op("sub", "sp", "sp", Thumb::immediate(kFrame));
    t_.op("str", "r2", Thumb::at("sp", kY));
    t_.op("str", "r0", Thumb::at("sp", kV));
    t_.op("str", "r3", Thumb::at("sp", kZeroPoints));
    t_.add("r12", "r0", 16 * position_bytes(w_.in), "lr");
    t_.op("str", "r12", Thumb::at("sp", kPairs));
    t_.add("r12", "r1", block_bytes() * (w_.out / 2), "lr");
    t_.op("str", "r12", Thumb::at("sp", kStreamEnd));
    if (w_.residual) keep_residual();
    t_.comment("two channels: products of all positions");
    t_.label(1);
    multiply();
    tiles();
    t_.add("r1", "r1", 8 + factor_bytes(), "lr");
    t_.op("ldr", "r12", Thumb::at("sp", kY));
    t_.op("add", "r12", "r12", "#2");
    t_.op("str", "r12", Thumb::at("sp", kY));
    t_.op("ldr", "r12", Thumb::at("sp", kStreamEnd));
    t_.op("cmp", "r1", "r12");
    t_.op("bne", "1b");
    t_.op("add", "sp", "sp", Thumb::immediate(kFrame));
    t_.op("pop", "{r4-r11, pc}");
    return t_.take();
  }

 private:
  std::int64_t factor_bytes() const {
    return w_.epilogue.result == DspEpilogue::Result::kFloat ? 8 : 32;
  }
  std::int64_t block_bytes() const { return std::int64_t{64} * w_.in + 8 + factor_bytes(); }

  void keep_residual() {
    t_.op("ldr", "r12", Thumb::at("sp", kFrame + kSavedBytes));
    t_.op("str", "r12", Thumb::at("sp", kResidual));
    t_.op("ldr", "r12", Thumb::at("sp", kFrame + kSavedBytes + 4));
    t_.op("ldmia", "r12", "{r4-r7}");
    t_.op("add", "r12", "sp", Thumb::immediate(kLine));
    t_.op("stmia", "r12", "{r4-r7}");
  }

  void multiply() {
    t_.op("ldr", "r0", Thumb::at("sp", kV));
    t_.label(2);
    for (int k = 0; k < w_.in / 2; ++k) {
      t_.op("ldrd", "r12", "lr", Thumb::then_add("r1", 8));
      for (int tile = 0; tile < 4; tile += 2) {
        t_.op("ldrd", "r2", "r3", Thumb::then_add("r0", 8));
        for (int i = 0; i < 4; ++i) {
          const std::string acc = Thumb::r(4 + 2 * tile + i);
          const char* const x = i < 2 ? "r2" : "r3";
          const char* const weights = i % 2 == 0 ? "r12" : "lr";
          if (k == 0) {
            t_.op("smuad", acc, x, weights);
          } else {
            t_.op("smlad", acc, x, weights, acc);
          }
        }
      }
    }
    t_.op("stmia", "r0!", "{r4-r11}");
    t_.op("ldr", "r12", Thumb::at("sp", kPairs));
    t_.op("cmp", "r0", "r12");
    t_.op("bne", "2b");
  }

  // Whole tiles in a loop, then one of a single column.
  void tiles() {
    const int whole = w_.columns / 2;
    t_.op("ldr", "r2", Thumb::at("sp", kY));
    t_.op("str", "r2", Thumb::at("sp", kYTile));
    t_.add("r12", "r2", 2 * w_.epilogue.y_step * whole, "lr");
    t_.op("str", "r12", Thumb::at("sp", kTilesEnd));
    t_.op("ldr", "r0", Thumb::at("sp", kV));
    t_.add("r0", "r0", 8 * w_.in, "lr");
    t_.op("str", "r0", Thumb::at("sp", kTile));
    if (whole > 1) t_.label(3);
    if (whole > 0) tile(2);
    if (whole > 1) {
      t_.op("ldr", "r12", Thumb::at("sp", kTilesEnd));
      t_.op("cmp", "r2", "r12");
      t_.op("bne", "3b");
    }
    if (w_.columns % 2 != 0) tile(1);
    if (!w_.residual) return;
    t_.op("ldr", "r12", Thumb::at("sp", kResidual));
    t_.add("r12", "r12", 2 - 2 * w_.residual->step * ((w_.columns + 1) / 2), "lr");
    t_.op("str", "r12", Thumb::at("sp", kResidual));
  }

  void tile(int columns) {
    t_.comment(cat("a tile of ", counted(columns, "column"), ": transform"));
    t_.op("ldr", "r0", Thumb::at("sp", kTile));
    t_.op("add", "r12", "r0", "#8");
    t_.op("str", "r12", Thumb::at("sp", kTile));
    transform();
    t_.op("ldrd", "r2", "r3", Thumb::then_add("r1", 8));
    for (int i = 0; i < 8; ++i)
      t_.op("add", Thumb::r(4 + i), i % 2 == 0 ? "r2" : "r3", Thumb::r(4 + i), "asr #2");
    std::vector<int> acc;
    acc.reserve(8);
    for (int i = 0; i < 4 * columns; ++i) acc.push_back(4 + i);
    t_.comment("scale and round");
    write_rounding(t_, w_.epilogue, acc, 2);
    t_.add("r1", "r1", -8 - factor_bytes(), "r12");
    if (w_.residual) add_residual(columns);
    store(columns);
  }

  void load(const std::string& a, const std::string& b) {
    t_.op("ldrd", a, b, Thumb::then_add("r0", position_bytes(w_.in)));
  }

  // Both channels of one column of A^T M A after the other.
  void transform() {
    column_of(4);
    to_second(8);
    late_columns();
  }

  // u0 = m0 + m1 + m2, u1 = m1 - m2 - m3 of both channels, in registers to, to + 1 and to + 2, + 3.
  void column_of(int to) {
    load(name(to), name(to + 1));
    load(name(to + 2), name(to + 3));
    load("r2", "r3");
    load("r12", "lr");
    for (int c = 0; c < 2; ++c) {
      const char* const m2 = c == 0 ? "r2" : "r3";
      const char* const m3 = c == 0 ? "r12" : "lr";
      sum("add", to + c, name(to + 2 + c));
      sum("add", to + c, m2);
      sum("sub", to + 2 + c, m2);
      sum("sub", to + 2 + c, m3);
    }
  }

  void to_second(int to) {
    column_of(to);
    for (int i = 0; i < 4; ++i) sum("add", to - 4 + i, name(to + i));
  }

  void late_columns() {
    for (const bool last : {false, true}) {
      const auto both = [&](int acc, const char* op, const char* opposite, const char* value) {
        if (!last) sum(op, acc, value);
        sum(opposite, acc + 4, value);
      };
      load("r2", "r3");
      both(4, "add", "sub", "r2");
      both(5, "add", "sub", "r3");
      load("r2", "r3");
      load("r12", "lr");
      for (int c = 0; c < 2; ++c) {
        const char* const a = c == 0 ? "r2" : "r3";
        const char* const b = c == 0 ? "r12" : "lr";
        t_.op("add", a, a, b);            // m1 + m2
        t_.op("sub", b, a, b, "lsl #1");  // m1 - m2
        both(4 + c, "add", "sub", a);
        both(6 + c, "add", "sub", b);
      }
      load("r2", "r3");
      both(6, "sub", "add", "r2");
      both(7, "sub", "add", "r3");
    }
  }

  void sum(const char* op, int acc, const std::string& value) {
    t_.op(op, name(acc), name(acc), value);
  }
  static std::string name(int i) { return Thumb::r(i); }
  static int pixel(int row, int col) { return 4 + 4 * col + 2 * row; }

  void add_residual(int columns) {
    const DspResidual& r = *w_.residual;
    if (w_.epilogue.zero_point) t_.op("ldrh", "r3", Thumb::at("sp", kZeroPoints));
    for (int i = 4; i < 4 + 4 * columns; ++i) {
      if (w_.epilogue.zero_point) sum("add", i, "r3");
      t_.op("usat", name(i), "#8", name(i));
    }
    t_.op("ldr", "r0", Thumb::at("sp", kResidual));
    t_.op("ldrd", "r2", "r3", Thumb::at("sp", kLine));
    if (r.form != rt::kWideSum) t_.op("ldr", "r12", Thumb::at("sp", kLine + 8));
    for (int col = 0; col < columns; ++col) {
      for (int i = 0; i < 2 * w_.rows; ++i) {
        write_sum(t_, r, pixel(i / 2, col) + i % 2, i / 2 * w_.residual_row + col * r.step + i % 2,
                  kLine + 8);
      }
    }
    t_.add("r0", "r0", 2 * r.step, "lr");
    t_.op("str", "r0", Thumb::at("sp", kResidual));
  }

  // Leaves the next tile's y in r2.
  void store(int columns) {
    DspEpilogue out = w_.epilogue;
    if (w_.residual) {
      out.zero_point = false;
      out.low = w_.residual->low;
      out.high = w_.residual->high;
    }
    t_.comment("store at y in r2");
    t_.op("ldr", "r2", Thumb::at("sp", kYTile));
    if (out.zero_point) t_.op("ldr", "r3", Thumb::at("sp", kZeroPoints));
    for (int col = 0; col < columns; ++col) {
      for (int row = 0; row < w_.rows; ++row) {
        const int at = pixel(row, col);
        write_pair(t_, out, at, at + 1, 3, 12);
        t_.op("orr", name(at), name(at), name(at), "lsr #8");
        t_.op("strh", name(at), Thumb::at("r2", row * w_.y_row + col * out.y_step));
      }
    }
    t_.add("r2", "r2", 2 * out.y_step, "r12");
    t_.op("str", "r2", Thumb::at("sp", kYTile));
  }

  const WinogradTiles& w_;
  Thumb t_;
};

}  // namespace

AssemblyFunction winograd_input(const WinogradInput& input) {
  ETCH_CHECK(input.channels % 4 == 0 && input.channels <= kMostWinogradChannels);
  AssemblyFunction out;
  out.name = cat("winograd_input_c", input.channels, "_r", input.row_bytes);
  out.summary =
      cat("transforms four rows of four tiles of ", counted(input.channels, "channel"), ".");
  out.types = {"const uint8_t*", "int32_t*"};
  out.names = {"x", "v"};
  out.condition = dsp_condition({});
  out.lines = Input(input).lines();
  out.fallback = cat("rt::winograd_input(x, v, ", input.row_bytes, ", ", input.channels, ");");
  out.stack = kSavedBytes + 12;
  return out;
}

AssemblyFunction winograd_tiles(const WinogradTiles& tiles) {
  const bool adds = tiles.residual.has_value();
  AssemblyFunction out;
  out.name = cat("winograd_", tiles.rows, "x", tiles.columns, "_c", tiles.in, "_m", tiles.out, "_l",
                 tiles.y_row, dsp_suffix(tiles.epilogue));
  out.summary = cat(tiles.rows, "x", tiles.columns, " ",
                    plural(tiles.rows * tiles.columns, "pixel"), " in tiles of 2x2, ", tiles.in,
                    " -> ", counted(tiles.out, "channel"), ", two at a time.");
  set_dsp_parameters(out, "int32_t*", tiles.epilogue);
  out.names.front() = "v";
  std::string residual = "nullptr, nullptr, ";
  std::string add = "{}";
  if (adds) {
    const DspResidual& r = *tiles.residual;
    out.name +=
        cat("_add", sum_suffix(r), "_r", r.step, "_l", tiles.residual_row, "_", r.low, "_", r.high);
    out.types.insert(out.types.end(), {"const uint8_t*", "const int32_t*"});
    out.names.insert(out.names.end(), {"residual", "line"});
    residual = "residual, line, ";
    add = cat("{", residual_text(r), "}");
  }
  out.lines = Tiles(tiles).lines();
  out.fallback =
      cat("rt::winograd_tiles(v, stream, y, zero_points, ", residual, "{", tiles.in, ", ",
          tiles.out, ", ", tiles.rows, ", ", tiles.columns, ", ", tiles.y_row, ", ",
          tiles.residual_row, "}, ", dsp_store_text(tiles.epilogue), ", ", add, ");");
  out.stack = kSavedBytes + kFrame;
  return out;
}

}  // namespace etch
