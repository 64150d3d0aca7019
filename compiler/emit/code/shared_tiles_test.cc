// Tile functions that several steps have in common.
#include "compiler/emit/code/shared_tiles.h"

#include <gtest/gtest.h>

#include <string>

namespace etch {
namespace {

std::string tile_function(const std::string& name, const std::string& body) {
  return "[[gnu::always_inline]] static inline void " + name + "(const uint8_t* x) {\n" + body +
         "}\n\n";
}

std::string step_function(const std::string& name, const std::string& tile) {
  return "void " + name + "(const uint8_t* x) noexcept {\n  " + tile + "(x + 3);\n}\n";
}

// A step with one tile function.
StepText step_with(const std::string& name, const std::string& body) {
  return {name, "conv", tile_function(name + "_tile", body) + step_function(name, name + "_tile")};
}

TEST(SharedTiles, OneOfTwoStepsIsWrittenOnceUnderANameWithoutTheLayer) {
  std::vector<StepText> steps = {step_with("n1_conv", "  one;\n"),
                                 step_with("n12_conv", "  one;\n")};
  EXPECT_EQ(extract_shared_tiles(steps), std::vector{tile_function("conv_tile", "  one;\n")});
  EXPECT_EQ(steps[0].text, step_function("n1_conv", "conv_tile"));
  EXPECT_EQ(steps[1].text, step_function("n12_conv", "conv_tile"));
}

TEST(SharedTiles, OnesThatDifferStayWhereTheyAre) {
  std::vector<StepText> steps = {step_with("n1_conv", "  one;\n"),
                                 step_with("n2_conv", "  two;\n")};
  EXPECT_TRUE(extract_shared_tiles(steps).empty());
  EXPECT_EQ(steps[0].text, step_with("n1_conv", "  one;\n").text);
}

TEST(SharedTiles, OneThatNamesItsStepStaysThere) {
  // Equal except for the step: each uses its own table.
  std::vector<StepText> steps = {step_with("n1_conv", "  at(n1_conv_table);\n"),
                                 step_with("n1_conv", "  at(n1_conv_table);\n")};
  EXPECT_TRUE(extract_shared_tiles(steps).empty());
}

TEST(SharedTiles, OnesOfOneRoleAreToldApartByTheirText) {
  std::vector<StepText> steps = {step_with("n1_conv", "  one;\n"), step_with("n2_conv", "  two;\n"),
                                 step_with("n3_conv", "  one;\n"),
                                 step_with("n4_conv", "  two;\n")};
  const std::vector<std::string> tiles = extract_shared_tiles(steps);
  ASSERT_EQ(tiles.size(), 2U);
  const auto called = [&](std::size_t i) {
    const std::size_t at = steps[i].text.find("conv_tile_");
    return steps[i].text.substr(at, steps[i].text.find("(x + 3)") - at);
  };
  EXPECT_NE(called(0), called(1));
  EXPECT_EQ(tiles[0], tile_function(called(0), "  one;\n"));
  EXPECT_EQ(tiles[1], tile_function(called(3), "  two;\n"));
  EXPECT_EQ(called(0), called(2));
}

}  // namespace
}  // namespace etch
