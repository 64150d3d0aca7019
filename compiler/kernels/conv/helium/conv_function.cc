// Tiles of a convolution for Helium; see mve.h. Per 16 bytes of K, 4 pixels and 2 channels: 2 loads
// of weights, 4 of activations and 8 VMLADAVA: 14 instructions for 128 products.
#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/helium/epilogue.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/helium/walk.h"

namespace etch {
namespace {

constexpr int kMostUnrolled = 160;    // vectors of K that are spelled out
constexpr int kSavedBytes = 36 + 64;  // r4 to r11 and lr, q4 to q7
constexpr int kMostGathered = 1024;   // bytes on the stack

int gathered_bytes(const MveConv& conv) { return conv.vectors() * 16; }

// What the walk goes over: x itself, or the bytes that were gathered on the stack.
MveWalk walk_of(const MveConv& conv) {
  if (!conv.tile.gathered) {
    return MveWalk(conv.tile.pixels, conv.tile.x_step, conv.words, conv.pieces);
  }
  int bytes = 0;
  for (const rt::MvePiece& piece : conv.pieces) bytes += piece.repeat * piece.bytes;
  return MveWalk(conv.tile.pixels, gathered_bytes(conv), true, {{0, 1, 0, bytes}});
}

class Writer {
 public:
  explicit Writer(const MveConv& conv)
      : conv_(conv),
        pixels_(conv.tile.pixels),
        walk_(walk_of(conv)),
        epilogue_(conv, walk_.pointers() <= 2) {}

  std::vector<std::string> lines() {
    enter();
    add_up_pixels();
    const int full = conv_.tile.channels / conv_.tile.block;
    if (full > 0) {
      if (full > 1) t_.label(1);
      one_block(conv_.tile.block);
      if (full > 1) loop_over_blocks();
    }
    if (const int rest = conv_.tile.channels % conv_.tile.block; rest > 0) one_block(rest);
    t_.op("add", "sp", "sp", Thumb::immediate(frame()));
    t_.op("vpop", "{d8-d15}");
    t_.op("pop", "{r4-r11, pc}");
    return t_.take();
  }

  int frame() const {
    return MveEpilogue::kFrame + (conv_.tile.gathered ? pixels_ * gathered_bytes(conv_) + 16 : 0);
  }

 private:
  static std::string acc(int i) { return Thumb::r(2 * i); }
  std::string sum(int pixel, int channel, int n) const { return acc(pixel * n + channel); }
  bool pointers_stay() const { return walk_.pointers() <= 2; }

  void enter() {
    walk_.describe(t_);
    t_.comment(pointers_stay() ? "r3: stream; r9: y; r11: where the blocks end; r5: turns left"
                               : "r3: stream; r5: turns left; stack: y, where the blocks end");
    t_.comment("r0, r2, ..., r14: sums, the channels of a pixel after the other; then work");
    epilogue_.describe(t_);
    t_.op("push", "{r4-r11, lr}");
    t_.op("vpush", "{d8-d15}");
    t_.op("sub", "sp", "sp", Thumb::immediate(frame()));
    if (conv_.add.is_there) t_.op("str", "r3", Thumb::at("sp", MveEpilogue::kResidual));
    if (pointers_stay()) {
      t_.op("mov", MveEpilogue::kYRegister, "r2");
    } else {
      t_.op("str", "r2", Thumb::at("sp", MveEpilogue::kY));
    }
    t_.op("mov", "r3", "r1");
    t_.op("mov", "r1", "r0");
    const int full = conv_.tile.channels / conv_.tile.block;
    if (full > 1) {
      t_.add("r11", "r3", block_bytes() * full, "r0");
      if (!pointers_stay()) t_.op("str", "r11", Thumb::at("sp", MveEpilogue::kEnd));
    }
    epilogue_.load_constants(t_);
    if (conv_.tile.gathered) gather();
    walk_.start(t_);
  }

  void clear(int sums) {
    for (int i = 0; i < sums; ++i) t_.op("mov", acc(i), "#0");
  }

  std::int64_t block_bytes() const {
    MveConv one = conv_;
    one.tile.channels = conv_.tile.block;
    return 4 * one.stream_words();
  }

  // Copies what the pixels multiply to the stack, 16 bytes at a time if need be: what is too much
  // is overwritten by the next piece.
  void gather() {
    t_.comment("bring what the pixels multiply to the stack");
    t_.op("add", "r12", "sp", Thumb::immediate(MveEpilogue::kFrame));
    const int behind = gathered_bytes(conv_) - walk_.bytes();
    for (int p = 0; p < pixels_; ++p) {
      for (const rt::MvePiece& piece : conv_.pieces) {
        t_.add("r0", "r1", p * conv_.tile.x_step + piece.offset, "r2");
        for (int i = 0; i < piece.repeat; ++i)
          gather_piece(piece.bytes, i + 1 < piece.repeat ? piece.step : 0);
      }
      if (behind > 0 && p + 1 < pixels_) t_.op("add", "r12", "r12", Thumb::immediate(behind));
    }
    t_.op("add", "r1", "sp", Thumb::immediate(MveEpilogue::kFrame));
  }

  void gather_piece(int bytes, std::int64_t step) {
    const bool word = bytes == 4;
    const char* const load = word ? "ldr" : "vldrb.u8";
    const char* const store = word ? "str" : "vstrb.8";
    const char* const through = word ? "r2" : "q0";
    const bool together = step != 0 && step <= (word ? 255 : 127);
    t_.op(load, through, together ? Thumb::then_add("r0", step) : "[r0]");
    if (!together) t_.add("r0", "r0", step, "r2");
    t_.op(store, through, Thumb::then_add("r12", bytes));
  }

  // The offset of the weights times the sum of each pixel's bytes.
  void add_up_pixels() {
    t_.comment(cat(conv_.tile.offset, " times the sum of each pixel's bytes"));
    int predicated = 0;
    walk_.over(
        t_, [&] { clear(pixels_); },
        [&](const MveWalk::Vector& at) {
          if (at.bytes < 16 && (predicated != at.bytes || at.looped)) {
            t_.op("mov", "r8", Thumb::immediate(at.bytes));
            t_.op("vctp.8", "r8");
            predicated = at.bytes;
          }
          for (int p = 0; p < pixels_; ++p) {
            walk_.load(t_, cat("q", p % 2), p, at);
            if (at.bytes < 16) t_.op("vpst");
            t_.op(cat(at.first ? "vaddv" : "vaddva", at.bytes < 16 ? "t" : "", ".u8").c_str(),
                  acc(p), cat("q", p % 2));
          }
        });
    epilogue_.keep_pixel_sums(t_);
  }

  void one_block(int n) {
    t_.comment(counted(n, "channel"));
    walk_.over(
        t_, [&] { clear(pixels_ * n); },
        [&](const MveWalk::Vector& at) {
          multiply(at, n, at.first ? "vmladav.u8" : "vmladava.u8");
        });
    epilogue_.finish(t_, n);
  }

  void multiply(const MveWalk::Vector& at, int n, const char* verb) {
    if (n <= 2) {
      weights_stay(at, n, verb);
    } else {
      pixels_stay(at, n, verb);
    }
  }

  void load_weights(const std::string& q) { t_.op("vldrw.u32", q, Thumb::then_add("r3", 16)); }

  // The first weights of a vector of K. A load and a VMLADAVA that follow each other overlap and
  // two loads do not, so this goes in front of the last product of the vector before if that is the
  // last line and said by last_product() not to use `q`.
  void load_first_weights(const std::string& q) {
    const bool follows = last_product_ && t_.size() == *last_product_ + 1;
    load_weights(q);
    if (follows) t_.move_up(1);
  }
  void last_product() { last_product_ = t_.size(); }

  // Weights in q0 and q1; the next pixel is loaded before the last one is done.
  void weights_stay(const MveWalk::Vector& at, int n, const char* verb) {
    const bool two = epilogue_.work_registers() >= n + 2;
    const auto x = [&](int p) { return cat("q", n + (two ? p % 2 : 0)); };
    load_first_weights("q0");
    walk_.load(t_, x(0), 0, at);
    for (int p = 0; p < pixels_; ++p) {
      const bool next = p + 1 < pixels_;
      t_.op(verb, sum(p, 0, n), "q0", x(p));
      if (n == 2 && p == 0) load_weights("q1");
      if (two && next && (n == 1 || p > 0)) walk_.load(t_, x(p + 1), p + 1, at);
      if (n == 2 && !next) last_product();
      if (n == 2) t_.op(verb, sum(p, 1, n), "q1", x(p));
      if (next && (!two || (n == 2 && p == 0))) walk_.load(t_, x(p + 1), p + 1, at);
    }
  }

  // The same with all pixels in registers.
  void pixels_stay(const MveWalk::Vector& at, int n, const char* verb) {
    const bool two = epilogue_.work_registers() >= pixels_ + 2;
    const auto w = [&](int c) { return cat("q", pixels_ + (two ? c % 2 : 0)); };
    if (two) load_first_weights(w(0));
    walk_.load(t_, "q0", 0, at);
    if (!two) load_weights(w(0));
    for (int c = 0; c < n; ++c) {
      bool loaded = c + 1 == n;  // the next weights
      for (int p = 0; p < pixels_; ++p) {
        const bool last = p + 1 == pixels_;
        if (two && n % 2 == 0 && last && c + 1 == n) last_product();
        t_.op(verb, sum(p, c, n), w(c), cat("q", p));
        if (c == 0 && !last) {
          walk_.load(t_, cat("q", p + 1), p + 1, at);
        } else if (!loaded && (two || last)) {
          load_weights(w(c + 1));
          loaded = true;
        }
      }
    }
  }

  void loop_over_blocks() {
    if (pointers_stay()) {
      t_.op("cmp", "r3", "r11");
    } else {
      t_.op("ldr", "r0", Thumb::at("sp", MveEpilogue::kEnd));
      t_.op("cmp", "r3", "r0");
    }
    t_.op("bne.w", "1b");
  }

  const MveConv& conv_;
  int pixels_;
  MveWalk walk_;
  MveEpilogue epilogue_;
  std::optional<std::size_t> last_product_;  // lines before the last product of a vector
  Thumb t_;
};

std::string bits(float value) { return cat(std::bit_cast<std::uint32_t>(value)); }

std::string pieces_text(const std::vector<rt::MvePiece>& pieces) {
  std::string out;
  for (const rt::MvePiece& p : pieces)
    out += cat(out.empty() ? "" : ", ", "{", p.offset, ", ", p.repeat, ", ", p.step, ", ", p.bytes,
               "}");
  return out;
}

// Everything that the text depends on.
std::string name_of(const MveConv& conv) {
  std::uint64_t hash = 14695981039346656037U;
  const rt::MveAdd& add = conv.add;
  std::string rest = cat(pieces_text(conv.pieces), conv.out.step, " ", conv.words);
  if (add.is_there) {
    rest += cat(" ", add.residual_is_a, bits(add.ratio_a), " ", bits(add.ratio_b), " ",
                bits(add.fixed), " ", add.a_stored, " ", add.b_stored, " ", add.y_stored, " ",
                add.low, " ", add.high, " ", add.step);
  }
  for (const char c : rest) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (int i = 60; i >= 0; i -= 4) digits += kDigits[hash >> i & 15U];
  return cat("mve_p", conv.tile.pixels, "_x", conv.tile.x_step, "_k", conv.vectors(),
             conv.tile.gathered ? "g" : "", "_w", conv.tile.offset, "_c", conv.tile.channels, "_b",
             conv.tile.block, mve_store_name(conv.out), "_", digits);
}

const char* text(bool value) { return value ? "true" : "false"; }

std::string fallback_of(const MveConv& conv) {
  const rt::MveTile& t = conv.tile;
  const rt::MveAdd& a = conv.add;
  return cat("const rt::MvePiece pieces[] = {", pieces_text(conv.pieces), "}; ",
             "rt::mve_tile(x, stream, y, ", a.is_there ? "residual" : "nullptr", ", {", t.pixels,
             ", ", t.x_step, ", ", t.block, ", ", t.channels, ", ", text(t.gathered), ", ",
             t.offset, "}, pieces, ", conv.pieces.size(), ", ", mve_store_text(conv.out), ", {",
             text(a.is_there), ", ", text(a.residual_is_a), ", ", hex_float(a.ratio_a), ", ",
             hex_float(a.ratio_b), ", ", hex_float(a.fixed), ", ", a.a_stored, ", ", a.b_stored,
             ", ", a.y_stored, ", ", a.low, ", ", a.high, ", ", a.step, "});");
}

}  // namespace

std::string mve_store_name(const rt::MveStore& out) {
  return out.is_int32 ? "_int32" : cat("_z", out.zero_point, "_l", out.low, "_h", out.high);
}

std::string mve_store_text(const rt::MveStore& out) {
  return cat("{", text(out.is_int32), ", ", out.zero_point, ", ", out.low, ", ", out.high, ", ",
             out.step, "}");
}

int MveConv::vectors() const {
  return rt::mve_vectors(tile, pieces.data(), static_cast<int>(pieces.size()));
}

std::int64_t MveConv::stream_words() const {
  std::int64_t sum = 0;
  for (int first = 0; first < tile.channels; first += tile.block) {
    const int n = std::min(tile.block, tile.channels - first);
    sum += std::int64_t{4} * vectors() * n + rt::mve_factor_words(tile, out.is_int32, n);
  }
  return sum;
}

bool fits(const MveConv& conv) {
  const std::int64_t steps = std::max(conv.out.step * 4, conv.add.step);
  if (conv.pieces.empty() || steps * conv.tile.pixels > 60000) return false;
  if (conv.tile.gathered && conv.tile.pixels * gathered_bytes(conv) > kMostGathered) return false;
  return walk_of(conv).spelled_out() <= kMostUnrolled;
}

AssemblyFunction mve_conv(const MveConv& conv) {
  AssemblyFunction out;
  out.name = name_of(conv);
  out.summary =
      cat(counted(conv.tile.pixels, "pixel"), " x ", counted(conv.tile.channels, "channel"), ", ",
          counted(conv.vectors(), "vector"), " of 16 products for each");
  out.condition = kHeliumCondition;
  out.types = {"const uint8_t*", "const int32_t*", conv.out.is_int32 ? "int32_t*" : "uint8_t*"};
  out.names = {"x", "stream", "y"};
  if (conv.add.is_there) {
    out.types.emplace_back("const uint8_t*");
    out.names.emplace_back("residual");
  }
  Writer writer(conv);
  out.lines = writer.lines();
  out.fallback = fallback_of(conv);
  out.stack = kSavedBytes + writer.frame();
  return out;
}

}  // namespace etch
