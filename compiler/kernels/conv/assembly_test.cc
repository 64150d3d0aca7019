// What holds for every function in assembly: its name says all that its text depends on, since
// steps share functions by name, and every register that a caller relies on is kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/kernels/conv/dsp/low.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/winograd/functions.h"
#include "compiler/program/requantize/sum_line.h"

namespace etch {
namespace {

std::vector<DspEpilogue> epilogues() {
  using Result = DspEpilogue::Result;
  std::vector<DspEpilogue> out;
  for (const Result result : {Result::kInt32, Result::kFloat, Result::kHigh}) {
    for (const bool flag : {false, true}) {
      for (const std::int64_t step : {7, 64, 5000}) {
        DspEpilogue each;
        each.result = result;
        each.y_step = step;
        if (result != Result::kInt32) {
          each.narrow = flag;
          each.zero_point = !flag;
          each.low = flag ? 3 : 0;
          each.high = flag ? 250 : 255;
        }
        out.push_back(each);
      }
    }
  }
  return out;
}

void add_winograd(std::vector<AssemblyFunction>& out) {
  for (const int channels : {8, 12, 64}) out.push_back(winograd_input({channels, 18 * channels}));
  for (const DspEpilogue& each : epilogues()) {
    if (each.result == DspEpilogue::Result::kInt32 || each.y_step > 100) continue;
    for (const int columns : {1, 2, 7, 8}) {
      for (const int rows : {1, 2}) {
        out.push_back(winograd_tiles({16, 8, rows, columns, 500, 0, each}));
        out.push_back(winograd_tiles({16, 10, rows, columns, 504, 0, each}));
        if (each.low == 0 && each.high == 255) {
          for (const DspResidual& residual : {DspResidual{16, 3, 255, 32, rt::kWideSum},
                                              DspResidual{16, 3, 255, 22, rt::kNarrowSum},
                                              DspResidual{16, 3, 255, 2, rt::kSumToEven}}) {
            out.push_back(winograd_tiles({16, 8, rows, columns, 500, 400, each, residual}));
          }
        }
      }
    }
  }
}

void add_low(std::vector<AssemblyFunction>& out) {
  DspEpilogue sums;
  for (const std::int64_t step : {7, 64, 5000}) {
    sums.y_step = step;
    for (int pixels = 1; pixels <= 2; ++pixels) {
      for (const int bytes : {1, 9, 65, 300}) {
        for (const int runs : {1, 3, 70'000})
          out.push_back(low_tile({pixels, 16, bytes, runs, 500, 5, sums}));
        out.push_back(low_tile({pixels, 16, bytes, 1, 600, 5, sums}));
      }
    }
  }
  sums.y_step = 64;
  for (const std::int64_t row : {64, 448, 448'000}) {
    out.push_back(low_depthwise({1, 64, 3, 3, row, 64, 64, sums}));
    out.push_back(low_depthwise({1, 64, 40, 40, row, 64, 64, sums}));
    out.push_back(low_depthwise({1, 64, 1, 60, row, 64, 64, sums}));
  }
}

// Weights of 4 bits are moved, those of int4 by one number for both channels.
constexpr int kNibblesMoved[] = {-8, -5, 0};

// As it is, for cores that start two instructions, both with joint weights of 8 bits and of 4, and
// all of it compact.
void add_tiles(DspTile tile, std::vector<AssemblyFunction>& out) {
  for (const bool two : {false, true}) {
    for (const int moved : kNibblesMoved) {
      DspTile nibbles = tile;
      nibbles.starts_two = two;
      nibbles.joint = nibbles.nibbles = true;
      nibbles.moved = moved;
      out.push_back(dsp_tile(nibbles));
    }
  }
  for (const bool two : {false, true}) {
    for (const bool joint : {false, true}) {
      for (const bool compact : {false, true}) {
        tile.starts_two = two;
        tile.joint = joint;
        tile.compact = compact;
        out.push_back(dsp_tile(tile));
      }
    }
  }
}

void add_compact_depthwise(const DspEpilogue& each, std::vector<AssemblyFunction>& out) {
  for (const bool bytes : {false, true}) {
    for (const int rows : {1, 3}) {
      for (const int cols : {1, 3, 9}) {
        for (const std::int64_t step : {64, 3000})
          out.push_back(dsp_depthwise({1, 64, rows, cols, 9600, step, 64, each, true, bytes}));
      }
    }
  }
}

std::vector<AssemblyFunction> functions() {
  std::vector<AssemblyFunction> out;
  add_winograd(out);
  add_low(out);
  for (const DspEpilogue& each : epilogues()) {
    const bool is_float = each.result == DspEpilogue::Result::kFloat;
    for (int pixels = 1; pixels <= 4; ++pixels) {
      for (const int pairs : {2, 6, 72, 102}) {
        for (const int channels : {1, 2, 63}) add_tiles({pixels, pairs, channels, each}, out);
      }
      if (is_float) continue;
      for (const int bytes : {1, 9, 65})
        out.push_back(mla_tile({pixels, 16, bytes, 3, 500, 5, each}));
    }
    for (const int groups : {1, 8, 37}) {
      for (const int channels : {1, 4, 7}) {
        out.push_back(dsp_row({groups, channels, each}));
        for (const bool compact : {false, true}) {
          for (const bool bytes : {false, true})
            out.push_back(dsp_row({groups, channels, each, 0, true, compact, bytes}));
        }
        for (const int moved : kNibblesMoved) {
          for (const bool bytes : {false, true})
            out.push_back(dsp_row({groups, channels, each, moved, true, false, bytes, true}));
        }
        for (const int moved : {0, 3})
          out.push_back(dsp_row({groups, channels, each, moved, false, false, true}));
      }
    }
    add_compact_depthwise(each, out);
    for (int pixels = 1; pixels <= 2; ++pixels) {
      for (const std::int64_t row : {64, 448, 4480}) {
        const DspDepthwise tile{pixels, 64, 3, 3, row, 64, 64, each};
        out.push_back(dsp_depthwise(tile));
        if (!is_float) out.push_back(mla_depthwise(tile));
      }
    }
  }
  DspEpilogue bytes;
  bytes.result = DspEpilogue::Result::kFloat;
  bytes.y_step = 16;
  for (const auto& [form, bits] :
       {std::pair(rt::kWideSum, 32), std::pair(rt::kWideSum, 31), std::pair(rt::kWideSum, 28),
        std::pair(rt::kNarrowSum, 22), std::pair(rt::kSumToEven, 1),
        std::pair(rt::kSumToEven, kMostBitsToEven)}) {
    for (const int low : {0, 128})
      out.push_back(dsp_tile({4, 8, 15, bytes, DspResidual{16, low, 255, bits, form}}));
  }
  for (int pixels = 1; pixels <= 4; ++pixels) {
    for (const int words : {1, 4, 5, 12}) {
      for (const std::int64_t step : {1, 64, 5000}) {
        out.push_back(dsp_gather({pixels, step, words, 3, 4096}));
        out.push_back(dsp_gather({pixels, step, words, 3, 4096, true}));
        for (const std::int64_t unused : {0, 4096})
          out.push_back(dsp_gather({pixels, step, words, 1, unused}));
      }
    }
  }
  for (const std::int64_t count : {1, 3, 31, 32, 100}) {
    for (const bool aligned : {false, true}) {
      out.push_back(dsp_copy({count, aligned}));
      out.push_back(low_copy({count, aligned}));
    }
  }
  return out;
}

TEST(AssemblyFunctions, WithEqualNamesAreEqual) {
  std::map<std::string, AssemblyFunction> known;
  for (const AssemblyFunction& function : functions()) {
    const auto [it, inserted] = known.emplace(function.name, function);
    EXPECT_EQ(it->second.lines, function.lines) << function.name;
    EXPECT_EQ(it->second.fallback, function.fallback) << function.name;
    EXPECT_EQ(it->second.parameters(), function.parameters()) << function.name;
    EXPECT_EQ(it->second.condition, function.condition) << function.name;
  }
  EXPECT_GT(known.size(), 300U);
}

// "{r4-r11, lr}" of the first line, with "pc" for "lr", is what the last one restores.
TEST(AssemblyFunctions, RestoreWhatTheySave) {
  for (const AssemblyFunction& function : functions()) {
    const auto first_line = std::ranges::find_if_not(function.lines, [](const std::string& line) {
      return AssemblyFunction::is_comment(line) || line.front() == '.';  // a directive
    });
    ASSERT_NE(first_line, function.lines.end()) << function.name;
    const std::string &first = *first_line, &last = function.lines.back();
    ASSERT_EQ(first.substr(0, 6), "push {") << function.name;
    ASSERT_EQ(last.substr(0, 5), "pop {") << function.name;
    std::string restored = last.substr(4);
    restored.replace(restored.find("pc"), 2, "lr");
    EXPECT_EQ(restored, first.substr(5)) << function.name;
  }
}

TEST(AssemblyFunctions, BeginWithWhatRegistersHold) {
  for (const AssemblyFunction& function : functions()) {
    EXPECT_TRUE(AssemblyFunction::is_comment(function.lines.front())) << function.name;
    EXPECT_FALSE(AssemblyFunction::is_comment(function.lines.back())) << function.name;
    for (const std::string& line : function.lines)
      EXPECT_TRUE(!AssemblyFunction::is_comment(line) || line.size() <= 92)
          << line;  // of 100 with the indent
  }
}

// Names are C++ identifiers.
TEST(AssemblyFunctions, HaveNamesOfLettersAndDigits) {
  for (const AssemblyFunction& function : functions()) {
    EXPECT_EQ(function.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos)
        << function.name;
  }
}

// MOVW takes 16 bits, a row of x may have more columns.
TEST(AssemblyFunctions, CountMoreColumnsThanHalfAWordHolds) {
  const rt::MveRows rows{0, 1, 128, 1'120'000, 70'000, 16, 16, 280'008};
  int moves = 0;
  for (const std::string& line : mve_interleave(rows).lines) {
    if (line.compare(0, 5, "movw ") != 0) continue;
    ++moves;
    EXPECT_LE(std::stoll(line.substr(line.find('#') + 1)), 65535) << line;
  }
  EXPECT_GT(moves, 0);
}

// Conditional jumps of Cortex-M0 reach 254 bytes back, others 2,044; instructions have two.
TEST(AssemblyFunctions, JumpBackAsFarAsCortexM0Can) {
  std::vector<AssemblyFunction> all;
  add_low(all);
  for (const AssemblyFunction& function : all) {
    std::map<char, std::int64_t> labels;
    std::int64_t at = 0;
    for (const std::string& line : function.lines) {
      if (AssemblyFunction::is_comment(line) || line.front() == '.') continue;
      if (line.back() == ':') {
        labels[line.front()] = at;
        continue;
      }
      if (line.front() == 'b' && line.back() == 'b') {
        const std::int64_t most = line.substr(0, 2) == "b " ? 2044 : 252;
        EXPECT_LE(at - labels.at(line[line.size() - 2]), most) << function.name << ": " << line;
      }
      at += 2;
    }
  }
}

}  // namespace
}  // namespace etch
