// The tuning file: what it may say, and that everything else is refused with its line.
#include "compiler/kernels/conv/tuning.h"

#include <gtest/gtest.h>

#include "compiler/base/text.h"
#include "compiler/targets/targets.h"
#include "templates/isa/avx512_vnni/traits.h"
#include "templates/kernels/conv/conv.h"

namespace etch {
namespace {

std::string faults_of(std::string_view text) {
  std::vector<TuningFault> faults;
  parse_tuning(text, faults);
  std::string out;
  for (const TuningFault& fault : faults) out += cat(fault.line, ": ", fault.what, "\n");
  return out;
}

TEST(TuningFile, TakesEntriesCommentsAndEmptyLines) {
  std::vector<TuningFault> faults;
  const Tuning tuning = parse_tuning(
      "# a comment\n"
      "\n"
      "avx512_vnni  conv/1x2 tile=1x12 channels=32 outer=pixels unroll=4  # another one\r\n"
      "\tscalar conv/1x2 tile=2x2 channels=2 outer=channels unroll=full\n"
      "scalar conv/1x3 tile=1x1 channels=1 outer=pixels unroll=auto",
      faults);
  EXPECT_TRUE(faults.empty());
  EXPECT_EQ(tuning.entries.size(), 3U);
  const TuningEntry* const entry = find_tuning(tuning, "avx512_vnni", "conv/1x2");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->line, 3);
  EXPECT_EQ(entry->choice, (TileChoice{1, 12, 2, LoopOrder::kPixelsOutside,
                                       Unrolling{Unrolling::Kind::kGroups, 4}}));
  const TuningEntry* const portable = find_tuning(tuning, "scalar", "conv/1x2");
  ASSERT_NE(portable, nullptr);
  EXPECT_EQ(portable->choice, (TileChoice{2, 2, 2, LoopOrder::kChannelsOutside,
                                          Unrolling{Unrolling::Kind::kFull, 0}}));
  EXPECT_EQ(find_tuning(tuning, "avx2", "conv/1x2"), nullptr);
  EXPECT_EQ(find_tuning(tuning, "scalar", "conv"), nullptr);
}

TEST(TuningFile, MayBeEmpty) {
  for (const char* text : {"", "\n", "# nothing", "  \t \r\n\n"}) EXPECT_EQ(faults_of(text), "");
}

TEST(TuningFile, NamesEveryWrongLine) {
  EXPECT_EQ(faults_of("hello\n"
                      "scalar a tile=1x1 channels=1 outer=pixels unroll=auto\n"
                      "z80 a tile=1x1 channels=1 outer=pixels unroll=auto\n"),
            "1: expected TARGET LAYER tile=RxC channels=N outer=pixels|channels "
            "unroll=auto|full|N\n"
            "3: there is no instruction set 'z80'; `etch targets` lists them\n");
}

TEST(TuningFile, RefusesWordsThatAreNotWhatTheySeem) {
  const auto with = [](const char* tile, const char* channels, const char* outer,
                       const char* unroll) {
    return faults_of(cat("avx2 a ", tile, " ", channels, " ", outer, " ", unroll));
  };
  EXPECT_EQ(with("tile=1x1", "channels=8", "outer=pixels", "unroll=1"), "");
  for (const char* tile : {"tile=1", "tile=1x", "tile=x1", "tile=0x1", "tile=1x-1", "tile=1x1x1",
                           "tile=1 x1", "tiles=1x1", "tile", "tile=99999999999x1", "1x1"}) {
    EXPECT_NE(with(tile, "channels=8", "outer=pixels", "unroll=1"), "") << tile;
  }
  for (const char* channels : {"channels=0", "channels=", "channels=8x", "channels=12", "8",
                               "channels=64", "channels=-8"}) {
    EXPECT_NE(with("tile=1x1", channels, "outer=pixels", "unroll=1"), "") << channels;
  }
  for (const char* outer : {"outer=", "outer=rows", "outer", "pixels", "outer=pixels2"}) {
    EXPECT_NE(with("tile=1x1", "channels=8", outer, "unroll=1"), "") << outer;
  }
  for (const char* unroll : {"unroll=0", "unroll=", "unroll=4097", "unroll=fully", "4"}) {
    EXPECT_NE(with("tile=1x1", "channels=8", "outer=pixels", unroll), "") << unroll;
  }
}

TEST(TuningFile, RefusesTilesThatTheRegistersCannotHold) {
  EXPECT_EQ(faults_of("avx2 a tile=3x3 channels=8 outer=pixels unroll=1"),
            "1: a tile of 3 x 3 pixels x 8 channels needs 9 accumulators, and avx2 has registers "
            "for 8\n");
  EXPECT_EQ(faults_of("avx2 a tile=5x1 channels=8 outer=pixels unroll=1"),
            "1: a tile has 1 to 4 rows and at least 1 column, not 5 x 1\n");
  EXPECT_EQ(faults_of("avx2 a tile=1x1 channels=12 outer=pixels unroll=1"),
            "1: 12 channels are no whole vectors: avx2 has vectors of 8\n");
  EXPECT_EQ(faults_of("avx2 a tile=1x1 channels=40 outer=pixels unroll=1"),
            "1: a block has at most 32 channels with avx2, not 40\n");
}

TEST(TuningFile, RefusesALayerTwice) {
  const std::string line = "avx2 a tile=1x1 channels=8 outer=pixels unroll=1\n";
  EXPECT_EQ(faults_of(cat(line, "\n", line)), "3: the layer has been on line 1 already\n");
}

TEST(TuningFile, DoesNotPassOnWhatATerminalWouldObey) {
  EXPECT_EQ(faults_of("\x1b[31m a tile=1x1 channels=8 outer=pixels unroll=1"),
            "1: there is no instruction set '\\x1b[31m'; `etch targets` lists them\n");
}

TEST(TuningFile, ReadsBackWhatItWrites) {
  for (const IsaTraits* const isa : all_targets()) {
    if (isa->name == kMultiTarget) continue;
    const TileChoice choice{2, 1, 2, LoopOrder::kChannelsOutside,
                            Unrolling{Unrolling::Kind::kGroups, 7}};
    std::vector<TuningFault> faults;
    const Tuning tuning = parse_tuning(tuning_line(*isa, "conv/1x3x4x4", choice), faults);
    EXPECT_TRUE(faults.empty()) << faults.front().what;
    const TuningEntry* const entry = find_tuning(tuning, isa->name, "conv/1x3x4x4");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->choice, choice);
  }
}

}  // namespace
}  // namespace etch
