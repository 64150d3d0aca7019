// Depthwise convolution for Helium; see mve.h. Channels are neighbours in memory, but VMLADAVA adds
// within one vector, so four rows of x are first interleaved into words, channel after channel:
// then 16 bytes in a row are four rows and columns of taps, and serve two rows of the output.
#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/helium/channel_loop.h"
#include "compiler/kernels/conv/helium/epilogue.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/thumb.h"

namespace etch {

namespace {

constexpr int kRegisterBytes = 36;  // r4 to r11 and lr

// ---- bringing rows together ----

class Interleave {
 public:
  explicit Interleave(const rt::MveRows& rows) : rows_(rows) {}

  // r0, r2, r3 and r12 point to the rows, r5 to the words of a column, r4 to those of channel 0.
  std::vector<std::string> lines() {
    t_.comment("r0, r2, r3, r12: the rows of x that there are; r1: scratch");
    t_.comment("r4: words of a column in channel 0, r5: in the channels at hand; r6: columns left");
    t_.comment("r7: vectors of 16 channels left; r8: work");
    t_.comment("q0-q3: rows of 16 channels; q4: 128; q5: offsets of four channels; q6, q7: words");
    t_.op("push", "{r4-r11, lr}");
    t_.op("vpush", "{d8-d15}");
    t_.op("sub", "sp", "sp", "#64");
    t_.op("mov", "r4", "r1");
    for (int r = 1; r < rows_.count; ++r) t_.add(row(r), "r0", r * rows_.row_step, "r6");
    t_.op("mov", "r6", Thumb::immediate(rows_.padding ^ 0x80));
    for (int r = 0; r < 4; ++r) {
      if (r < rows_.first || r >= rows_.first + rows_.count) t_.op("vdup.8", cat("q", r), "r6");
    }
    t_.op("mov", "r6", "#128");
    t_.op("vdup.8", "q4", "r6");
    t_.op("mov", "r6", "#0");
    t_.op("vidup.u32", "q5", "r6", "#1");
    t_.load("r6", rows_.channel_step);
    t_.op("vmul.i32", "q5", "q5", "r6");
    t_.load("r6", rows_.columns);
    t_.comment("a column: 16 channels at a time");
    t_.label(1);
    t_.op("mov", "r5", "r4");
    const int vectors = rows_.channels / 16;
    if (vectors > 1) {
      t_.load("r7", vectors);
      t_.label(2);
    }
    sixteen_channels();
    if (vectors > 1) {
      t_.op("subs", "r7", "r7", "#1");
      t_.op("bne.w", "2b");
    }
    for (int r = 0; r < rows_.count; ++r)
      t_.add(row(r), row(r), rows_.column_step - rows_.channels, "r8");
    t_.op("add", "r4", "r4", "#4");
    t_.op("subs", "r6", "r6", "#1");
    t_.op("bne.w", "1b");
    t_.op("add", "sp", "sp", "#64");
    t_.op("vpop", "{d8-d15}");
    t_.op("pop", "{r4-r11, pc}");
    return t_.take();
  }

  static constexpr int kStack = kRegisterBytes + 64 + 64;

 private:
  static const char* row(int r) {
    static constexpr const char* kRows[] = {"r0", "r2", "r3", "r12"};
    return kRows[r];
  }

  void sixteen_channels() {
    const auto vector = [&](int r) { return cat("q", rows_.first + r); };
    for (int r = 0; r < rows_.count; ++r) t_.op("vldrb.u8", vector(r), Thumb::then_add(row(r), 16));
    for (int r = 0; r < rows_.count; ++r) t_.op("veor", vector(r), vector(r), "q4");
    for (int i = 0; i < 4; ++i) t_.op(cat("vst4", i, ".8").c_str(), "{q0, q1, q2, q3}", "[sp]");
    // Of q0 to q3 some are to stay.
    t_.op("vldrw.u32", "q6", "[sp]");
    for (int i = 0; i < 4; ++i) {
      if (i < 3) t_.op("vldrw.u32", cat("q", 6 + (i + 1) % 2), Thumb::at("sp", 16 * i + 16));
      t_.op("vstrw.32", cat("q", 6 + i % 2), "[r5, q5]");
      t_.add("r5", "r5", 4 * rows_.channel_step, "r8");
    }
  }

  const rt::MveRows& rows_;
  Thumb t_;
};

// ---- multiplying ----

// What the epilogue shares with other convolutions.
MveConv as_conv(const MveDepthwiseConv& conv) {
  MveConv out;
  out.tile = {conv.tile.pixels, conv.tile.x_step, 2, conv.tile.channels, false, 0};
  out.out = conv.out;
  return out;
}

class Tile {
 public:
  explicit Tile(const MveDepthwiseConv& conv)
      : tile_(conv.tile),
        words_(conv.stream_words()),
        record_(4 * conv.channel_words()),
        as_conv_(etch::as_conv(conv)),
        epilogue_(as_conv_, tile_.rows, tile_.y_row, together() ? record_ : 0) {}

  std::vector<std::string> lines() {
    t_.comment("r1: scratch; r3: stream; r9: y; r11: end of the stream; r5: work");
    t_.comment(together() ? "r0, r2, ..., r14: sums of four channels, row after row; then work"
                          : "r0, r2, ..., r14: sums of the pixels, row after row; then work");
    epilogue_.describe(t_);
    write_channel_loop(t_, epilogue_, words_, together() ? "four channels" : "a channel", [&] {
      if (together()) return four_channels();
      one_channel();
      epilogue_.finish(t_, 1);
    });
    return t_.take();
  }

  static constexpr int kStack = kRegisterBytes + 64;

 private:
  // A single pixel fills vectors with four channels.
  bool together() const {
    constexpr std::int64_t kReach = 508;
    return tile_.pixels == 1 && tile_.channels % 4 == 0 &&
           tile_.row_groups * tile_.column_groups == 1 && 3 * tile_.channel_step <= kReach;
  }

  void four_channels() {
    for (int c = 0; c < 4; ++c) {
      t_.op("vldrw.u32", "q0", Thumb::at("r1", c * tile_.channel_step));
      for (int i = 0; i < tile_.parts * tile_.rows; ++i) {
        t_.op("vldrw.u32", "q1", Thumb::at("r3", c * record_ + 16 * i));
        t_.op(i < tile_.rows ? "vmladav.s8" : "vmladava.s8",
              Thumb::r(2 * (4 * (i % tile_.rows) + c)), "q1", "q0");
      }
    }
    t_.add("r1", "r1", 4 * tile_.channel_step, "r5");
    const int factors = 16 * tile_.parts * tile_.rows;
    t_.add("r3", "r3", factors, "r5");
    epilogue_.finish(t_, 4);
    t_.add("r3", "r3", 3 * record_, "r5");  // it goes over the factors of one channel
  }

  void one_channel() {
    bool first = true;
    std::int64_t at = 0;
    for (int g = 0; g < tile_.row_groups; ++g) {
      for (int h = 0; h < tile_.column_groups; ++h) {
        for (int part = 0; part < tile_.parts; ++part) {
          multiply(at, g * tile_.group_step + 16 * h, first);
          first = false;
        }
      }
    }
    move(at, tile_.channel_step);
  }

  void move(std::int64_t& at, std::int64_t to) {
    t_.add("r1", "r1", to - at, "r5");
    at = to;
  }

  void multiply(std::int64_t& at, std::int64_t offset, bool first) {
    constexpr std::int64_t kReach = 508;
    if (offset - at + (tile_.pixels - 1) * tile_.x_step > kReach) move(at, offset);
    for (int row = 0; row < tile_.rows; ++row)
      t_.op("vldrw.u32", cat("q", row), Thumb::then_add("r3", 16));
    const bool two = epilogue_.work_registers() >= tile_.rows + 2;
    const auto x = [&](int p) { return cat("q", tile_.rows + (two ? p % 2 : 0)); };
    const auto load = [&](int p) {
      if (p < tile_.pixels)
        t_.op("vldrw.u32", x(p), Thumb::at("r1", offset - at + p * tile_.x_step));
    };
    const char* const verb = first ? "vmladav.s8" : "vmladava.s8";
    const auto sum = [&](int row, int p) { return Thumb::r(2 * (row * tile_.pixels + p)); };
    load(0);
    for (int p = 0; p < tile_.pixels; ++p) {
      t_.op(verb, sum(0, p), "q0", x(p));
      if (two) load(p + 1);
      if (tile_.rows == 2) t_.op(verb, sum(1, p), "q1", x(p));
      if (!two) load(p + 1);
    }
  }

  const rt::MveDepthwise& tile_;
  std::int64_t words_;
  int record_;  // bytes of the stream of a channel
  MveConv as_conv_;
  MveEpilogue epilogue_;
  Thumb t_;
};

}  // namespace

AssemblyFunction mve_interleave(const rt::MveRows& rows) {
  AssemblyFunction out;
  out.name = cat("mve_interleave_r", rows.count, "_from", rows.first, "_p", rows.padding, "_s",
                 rows.row_step, "_w", rows.columns, "_x", rows.column_step, "_c", rows.channels,
                 "_y", rows.channel_step);
  out.summary = cat(counted(rows.count, "row"), " of ", counted(rows.columns, "pixel"), " of ",
                    counted(rows.channels, "channel"), ", brought together");
  out.condition = kHeliumCondition;
  out.types = {"const uint8_t*", "uint8_t*"};
  out.names = {"x", "scratch"};
  out.lines = Interleave(rows).lines();
  out.fallback = cat("rt::mve_interleave(x, scratch, {", rows.first, ", ", rows.count, ", ",
                     rows.padding, ", ", rows.row_step, ", ", rows.columns, ", ", rows.column_step,
                     ", ", rows.channels, ", ", rows.channel_step, "});");
  out.stack = Interleave::kStack;
  return out;
}

bool fits(const MveDepthwiseConv& conv) {
  const rt::MveDepthwise& t = conv.tile;
  constexpr std::int64_t kReach = 508, kMostOffset = 65535;
  return (t.pixels - 1) * t.x_step <= kReach && conv.vectors() <= 16 &&
         (conv.out.is_int32 || 3 * conv.out.step + t.y_row <= kMostOffset);
}

AssemblyFunction mve_depthwise(const MveDepthwiseConv& conv) {
  const rt::MveDepthwise& t = conv.tile;
  const rt::MveStore& o = conv.out;
  AssemblyFunction out;
  out.name = cat("mve_depthwise_p", t.pixels, "_x", t.x_step, "_r", t.rows, "_y", t.y_row, "_c",
                 t.channels, "_s", t.channel_step, "_g", t.row_groups, "_s", t.group_step, "_h",
                 t.column_groups, "_w", t.parts, mve_store_name(o), "_y", o.step);
  out.summary = cat(counted(t.rows, "row"), " of ", counted(t.pixels, "pixel"), " x ",
                    counted(t.channels, "channel"));
  out.condition = kHeliumCondition;
  out.types = {"const uint8_t*", "const int32_t*", o.is_int32 ? "int32_t*" : "uint8_t*"};
  out.names = {"x", "stream", "y"};
  out.lines = Tile(conv).lines();
  out.fallback =
      cat("rt::mve_depthwise(x, stream, y, {", t.pixels, ", ", t.x_step, ", ", t.rows, ", ",
          t.y_row, ", ", t.channels, ", ", t.channel_step, ", ", t.row_groups, ", ", t.group_step,
          ", ", t.column_groups, ", ", t.parts, "}, ", mve_store_text(o), ");");
  out.stack = Tile::kStack;
  return out;
}

}  // namespace etch
