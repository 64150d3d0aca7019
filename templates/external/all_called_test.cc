// Of all descriptors: the tests beside them forget none, and none has the name of another.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "templates/external/float_planes.h"
#include "templates/external/half_weights.h"
#include "templates/external/rows.h"
#include "templates/external/select.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ExternalDescriptors, EveryIsCalledBetweenGuards) {
  const std::filesystem::path folder = std::filesystem::path(source_dir()) / "templates/external";
  const std::string tests = text_of_file(folder / "external_test.cc") +
                            text_of_file(folder / "external_products_test.cc");
  const std::regex descriptor(R"(struct (\w+) : (?:Runtime|Product)Function)");
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h") continue;
    const std::string text = text_of_file(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), descriptor), end; it != end; ++it) {
      const std::string call = "guards\\(" + (*it)[1].str() + "[<{]";
      EXPECT_TRUE(std::regex_search(tests, std::regex(call))) << (*it)[1].str();
      ++found;
    }
  }
  EXPECT_GT(found, 40);
}

// Each is made after the other, as in a network that has both operators.
TEST(ExternalDescriptors, AreNamedAfterTheirFunctionWhateverOthersTake) {
  EXPECT_EQ((external::ArgExtreme<rt::Above, float>{}.name()), "arg_extreme<rt::Above, float>");
  EXPECT_EQ((external::TopK<rt::Above, float>{}.name()), "top_k<rt::Above, float>");
}

TEST(ExternalDescriptors, OfProductsNameTheirStepsWhereTheseAreFused) {
  const auto fused = [](const auto& function) { return function.with(FloatSteps::kFused).name(); };
  EXPECT_EQ(external::FloatConv<false>{}.with(FloatSteps::kSeparate).name(), "float_conv");
  EXPECT_EQ(fused(external::FloatConv<false>{}), "float_conv<rt::Fused>");
  EXPECT_EQ(fused(external::FloatConv<true>{}), "float_depthwise<rt::Fused>");
  EXPECT_EQ(fused(external::HalfProduct<rt::WidenHalf>{}),
            "half_product<rt::WidenHalf, rt::Fused>");
  EXPECT_EQ(fused(external::FloatDepthwisePlanes<3, 4, 16>{}),
            "float_depthwise_planes<3, 4, 16, rt::Fused>");
}

}  // namespace
}  // namespace etch
