// Depthwise convolution along one axis for Helium; see runtime/etch_mve.h. Channels are neighbours
// in memory, but VMLADAVA adds within one vector, so a line is first split into its channels: then
// 16 bytes in a row are 16 taps of one channel, from any byte on.
#include "compiler/base/text.h"
#include "compiler/kernels/conv/helium/channel_loop.h"
#include "compiler/kernels/conv/helium/epilogue.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/thumb.h"

namespace etch {

namespace {

constexpr std::int64_t kReach = 127;  // of offsets to bytes

// ---- splitting a line ----

class Split {
 public:
  explicit Split(const rt::MveLine& line) : line_(line) {}

  std::vector<std::string> lines() {
    t_.comment("r0: x; r1: place of channel 0, r5: of the channels at hand");
    t_.comment("r4: phases left; r6: positions left; r7: vectors of 8 channels left");
    t_.comment("q0: 8 channels; q1: 128; q2: offsets of 8 channels");
    t_.op("push", "{r4-r7, lr}");
    t_.op("mov", "r4", "#128");
    t_.op("vdup.16", "q1", "r4");
    t_.op("mov", "r4", "#0");
    t_.op("vidup.u16", "q2", "r4", "#1");
    t_.load("r4", line_.channel_step);
    t_.op("vmul.i16", "q2", "q2", "r4");
    t_.load("r6", line_.positions);
    if (line_.phases > 1) t_.load("r4", line_.phases - line_.first);
    t_.comment("a position: 8 channels at a time");
    t_.label(1);
    channels();
    t_.add("r0", "r0", line_.step - line_.channels, "r12");
    next_place();
    t_.op("subs", "r6", "r6", "#1");
    t_.op("bne.w", "1b");
    t_.op("pop", "{r4-r7, pc}");
    return t_.take();
  }

  static constexpr int kStack = 20;

 private:
  void channels() {
    t_.op("mov", "r5", "r1");
    const int vectors = line_.channels / 8;
    if (vectors > 1) t_.load("r7", vectors);
    if (vectors > 1) t_.label(2);
    t_.op("vldrb.u16", "q0", Thumb::then_add("r0", 8));
    t_.op("veor", "q0", "q0", "q1");
    t_.op("vstrb.16", "q0", "[r5, q2]");
    if (vectors == 1) return;
    t_.add("r5", "r5", 8 * line_.channel_step, "r12");
    t_.op("subs", "r7", "r7", "#1");
    t_.op("bne", "2b");
  }

  void next_place() {
    if (line_.phases == 1) {
      t_.op("add", "r1", "r1", "#1");
      return;
    }
    t_.add("r1", "r1", line_.phase_step, "r12");
    t_.op("subs", "r4", "r4", "#1");
    t_.op("bne", "3f");
    t_.add("r1", "r1", 1 - line_.phases * line_.phase_step, "r12");
    t_.load("r4", line_.phases);
    t_.label(3);
  }

  const rt::MveLine& line_;
  Thumb t_;
};

// ---- multiplying ----

// What the epilogue takes for rows: the first four pixels and the others.
int rows_of(const MveLineConv& conv) { return conv.tile.pixels > 4 ? 2 : 1; }
int pixels_of_row(const MveLineConv& conv) { return conv.tile.pixels / rows_of(conv); }

MveConv as_conv(const MveLineConv& conv) {
  MveConv out;
  out.tile = {pixels_of_row(conv), conv.tile.x_step, 2, conv.tile.channels, false, 0};
  out.out = conv.out;
  return out;
}

class Tile {
 public:
  explicit Tile(const MveLineConv& conv)
      : tile_(conv.tile),
        words_(conv.stream_words()),
        as_conv_(etch::as_conv(conv)),
        epilogue_(as_conv_, rows_of(conv), pixels_of_row(conv) * conv.out.step) {}

  std::vector<std::string> lines() {
    t_.comment("r1: scratch; r3: stream; r9: y; r11: end of the stream; r5: work");
    t_.comment("r0, r2, ..., r14: sums of the pixels; then work");
    epilogue_.describe(t_);
    write_channel_loop(t_, epilogue_, words_, "a channel", [&] {
      multiply();
      epilogue_.finish(t_, 1);
    });
    return t_.take();
  }

  static constexpr int kStack = 36 + 64;

 private:
  // The next x is loaded before the one at hand is multiplied.
  void multiply() {
    std::int64_t at = 0;
    for (int v = 0; v < tile_.vectors; ++v) {
      const std::int64_t from = 16 * static_cast<std::int64_t>(v);
      if (from - at + (tile_.pixels - 1) * tile_.x_step > kReach) move(at, from);
      const auto load = [&](int p) {
        if (p == tile_.pixels) return;
        t_.op("vldrb.u8", x(p), Thumb::at("r1", from - at + p * tile_.x_step));
      };
      for (int part = 0; part < tile_.parts; ++part) {
        t_.op("vldrw.u32", "q0", Thumb::then_add("r3", 16));
        load(0);
        for (int p = 0; p < tile_.pixels; ++p) {
          load(p + 1);
          t_.op(v + part == 0 ? "vmladav.s8" : "vmladava.s8", Thumb::r(2 * p), "q0", x(p));
        }
      }
    }
    move(at, tile_.channel_step);
  }

  static const char* x(int pixel) { return pixel % 2 == 0 ? "q1" : "q2"; }

  void move(std::int64_t& at, std::int64_t to) {
    t_.add("r1", "r1", to - at, "r5");
    at = to;
  }

  const rt::MveLineTile& tile_;
  std::int64_t words_;
  MveConv as_conv_;
  MveEpilogue epilogue_;
  Thumb t_;
};

}  // namespace

bool fits(const rt::MveLine& line) {
  constexpr std::int64_t kMostOffset = 65535;
  return 7 * line.channel_step <= kMostOffset;
}

bool fits(const MveLineConv& conv) {
  constexpr std::int64_t kMostOffset = 65535;
  const rt::MveLineTile& t = conv.tile;
  return (t.pixels - 1) * t.x_step <= kReach &&
         (conv.out.is_int32 || (t.pixels - 1) * conv.out.step <= kMostOffset);
}

AssemblyFunction mve_split_line(const rt::MveLine& line) {
  AssemblyFunction out;
  out.name = cat("mve_split_line_n", line.positions, "_x", line.step, "_c", line.channels, "_y",
                 line.channel_step, "_from", line.first, "_p", line.phases, "_y", line.phase_step);
  out.summary = cat(counted(line.positions, "position"), " of ", counted(line.channels, "channel"),
                    ", split into channels",
                    line.phases > 1 ? cat(", each into ", line.phases, " phases") : "");
  out.condition = kHeliumCondition;
  out.types = {"const uint8_t*", "uint8_t*"};
  out.names = {"x", "scratch"};
  out.lines = Split(line).lines();
  out.fallback = cat("rt::mve_split_line(x, scratch, {", line.positions, ", ", line.step, ", ",
                     line.channels, ", ", line.channel_step, ", ", line.first, ", ", line.phases,
                     ", ", line.phase_step, "});");
  out.stack = Split::kStack;
  return out;
}

AssemblyFunction mve_line_tile(const MveLineConv& conv) {
  ETCH_CHECK(conv.tile.pixels <= 4 || conv.tile.pixels == 8);
  const rt::MveLineTile& t = conv.tile;
  const rt::MveStore& o = conv.out;
  AssemblyFunction out;
  out.name = cat("mve_line_tile_p", t.pixels, "_x", t.x_step, "_c", t.channels, "_s",
                 t.channel_step, "_v", t.vectors, "_w", t.parts, mve_store_name(o), "_y", o.step);
  out.summary = cat(counted(t.pixels, "pixel"), " of a line x ", counted(t.channels, "channel"));
  out.condition = kHeliumCondition;
  out.types = {"const uint8_t*", "const int32_t*", o.is_int32 ? "int32_t*" : "uint8_t*"};
  out.names = {"x", "stream", "y"};
  out.lines = Tile(conv).lines();
  out.fallback =
      cat("rt::mve_line_tile(x, stream, y, {", t.pixels, ", ", t.x_step, ", ", t.channels, ", ",
          t.channel_step, ", ", t.vectors, ", ", t.parts, "}, ", mve_store_text(o), ");");
  out.stack = Tile::kStack;
  return out;
}

}  // namespace etch
