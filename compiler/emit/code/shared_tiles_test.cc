// Tile functions that several steps have in common.
#include "compiler/emit/code/shared_tiles.h"

#include <gtest/gtest.h>

#include <string>

namespace etch {
namespace {

RecordedFunction tile_function(const std::string& name, const std::string& body) {
  return {name,
          "void " + name + "(const uint8_t* x) {\n" + body + "}\n",
          RecordedFunction::Kind::kInlinedTile,
          {},
          body.find("table") != std::string::npos};
}

RecordedFunction step_function(const std::string& name, const std::string& tile) {
  return {name,
          "void " + name + "(const uint8_t* x) noexcept {\n  " + tile + "(x + 3);\n}\n",
          RecordedFunction::Kind::kStep,
          {},
          true};
}

// A step with one tile function.
StepText step_with(const std::string& name, const std::string& body) {
  return {name, "conv", {tile_function(name + "_tile", body), step_function(name, name + "_tile")}};
}

std::vector<std::string> texts_of(const std::vector<RecordedFunction>& functions) {
  std::vector<std::string> out;
  out.reserve(functions.size());
  for (const RecordedFunction& function : functions) out.push_back(definition_of(function));
  return out;
}

using Texts = std::vector<std::string>;

TEST(SharedTiles, OneOfTwoStepsIsWrittenOnceUnderANameWithoutTheLayer) {
  std::vector<StepText> steps = {step_with("n1_conv", "  one;\n"),
                                 step_with("n12_conv", "  one;\n")};
  EXPECT_EQ(texts_of(extract_shared_tiles(steps)),
            Texts{definition_of(tile_function("conv_tile", "  one;\n"))});
  EXPECT_EQ(texts_of(steps[0].functions), Texts{step_function("n1_conv", "conv_tile").text});
  EXPECT_EQ(texts_of(steps[1].functions), Texts{step_function("n12_conv", "conv_tile").text});
}

TEST(SharedTiles, LongOnesThatStepsCallAreInlinedFromTheHeader) {
  std::vector<StepText> steps = {step_with("n1_conv", "  one;\n"),
                                 step_with("n12_conv", "  one;\n")};
  for (StepText& step : steps) step.functions.front().kind = RecordedFunction::Kind::kCalledTile;
  EXPECT_EQ(texts_of(extract_shared_tiles(steps)),
            Texts{definition_of(tile_function("conv_tile", "  one;\n"))});
}

TEST(SharedTiles, OnesThatDifferStayWhereTheyAre) {
  std::vector<StepText> steps = {step_with("n1_conv", "  one;\n"),
                                 step_with("n2_conv", "  two;\n")};
  EXPECT_TRUE(extract_shared_tiles(steps).empty());
  EXPECT_EQ(texts_of(steps[0].functions), texts_of(step_with("n1_conv", "  one;\n").functions));
}

TEST(SharedTiles, OneThatNamesItsStepStaysThere) {
  // Equal except for the step: each uses its own table.
  std::vector<StepText> steps = {step_with("n1_conv", "  at(n1_conv_table);\n"),
                                 step_with("n1_conv", "  at(n1_conv_table);\n")};
  EXPECT_TRUE(extract_shared_tiles(steps).empty());
}

TEST(SharedTiles, KeepWhatTheyNameOfVocabularyAndRuntime) {
  std::vector<StepText> steps = {step_with("n1_conv", "  one;\n"),
                                 step_with("n2_conv", "  one;\n")};
  for (StepText& step : steps) step.functions[0].spaces.vocabulary = true;
  const std::vector<RecordedFunction> tiles = extract_shared_tiles(steps);
  ASSERT_EQ(tiles.size(), 1U);
  EXPECT_TRUE(tiles[0].spaces.vocabulary);
  EXPECT_FALSE(tiles[0].spaces.runtime);
}

TEST(SharedTiles, OnesOfOneRoleAreToldApartByTheirText) {
  std::vector<StepText> steps = {step_with("n1_conv", "  one;\n"), step_with("n2_conv", "  two;\n"),
                                 step_with("n3_conv", "  one;\n"),
                                 step_with("n4_conv", "  two;\n")};
  const std::vector<RecordedFunction> tiles = extract_shared_tiles(steps);
  ASSERT_EQ(tiles.size(), 2U);
  const auto called = [&](std::size_t i) {
    const std::string& text = steps[i].functions.back().text;
    const std::size_t at = text.find("conv_tile_");
    return text.substr(at, text.find("(x + 3)") - at);
  };
  EXPECT_NE(called(0), called(1));
  EXPECT_EQ(tiles[0].text, tile_function(called(0), "  one;\n").text);
  EXPECT_EQ(tiles[1].text, tile_function(called(3), "  two;\n").text);
  EXPECT_EQ(called(0), called(2));
}

}  // namespace
}  // namespace etch
