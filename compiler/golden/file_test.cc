// golden.json in both directions, and files that are no such thing.
#include "compiler/golden/file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace etch::cli {
namespace {

using Json = nlohmann::json;

std::string hash(char digit) { return std::string(64, digit); }

Golden example() {
  Golden golden{"0.1.0", 1, "net", hash('a'), {"--qdq", "float"}, {}, {}};
  golden.samples.push_back({std::nullopt, {{"y", "float32[1, 10]", hash('b')}}});
  golden.samples.push_back({7U, {}});
  GoldenTarget target;
  target.arena_bytes = 128;
  target.weight_bytes = 64;
  target.code_bytes = 4096;
  target.stack_bytes = 80;
  target.compiler = "g++ 12";
  target.not_run = "no emulator";
  target.files["net.h"] = {10, hash('c')};
  target.steps.push_back({"n1_conv", "1x1 convolution", hash('d'), {64, hash('e')}, 400});
  golden.targets["cortex-m4"] = target;
  golden.targets["scalar"] = {1, 2, std::nullopt, std::nullopt, "", "", {}, {}};
  return golden;
}

TEST(GoldenFile, ReadsWhatItWrites) {
  std::string fault;
  const std::optional<Golden> again = parse_golden(to_json(example()), fault);
  ASSERT_TRUE(again) << fault;
  EXPECT_EQ(*again, example());
}

TEST(GoldenFile, IsSortedAndHasOneValuePerLine) {
  const std::string text = to_json(example());
  EXPECT_LT(text.find("\"etch_golden\""), text.find("\"etch_version\""));
  EXPECT_LT(text.find("\"model_sha256\""), text.find("\"options\""));
  EXPECT_NE(text.find("      \"arena_bytes\": 128,\n"), std::string::npos) << text;
  EXPECT_EQ(text.back(), '\n');
}

TEST(GoldenFile, RefusesEveryTruncation) {
  const std::string text = to_json(example());
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    std::string fault;
    EXPECT_FALSE(parse_golden(text.substr(0, size), fault)) << size;
    EXPECT_FALSE(fault.empty()) << size;
  }
}

// Puts another value, and nothing, in the place of every value of the file.
TEST(GoldenFile, RefusesValuesOfAnotherKindAndSaysWhere) {
  const Json good = Json::parse(to_json(example()));
  const Json flat = good.flatten();
  const std::vector<Json> strange = {Json(-1),    Json(1.5),           Json("\n"),    Json(true),
                                     Json(1e300), Json::array({1, 2}), Json{{"a", 1}}};
  int refused = 0;
  for (const auto& [place, value] : flat.items()) {
    for (const Json& other : strange) {
      Json bad = good;
      bad[Json::json_pointer(place)] = other;
      std::string fault;
      const bool any_text = value.is_string() && other.is_string();  // a name, say
      if (any_text) continue;
      EXPECT_FALSE(parse_golden(bad.dump(), fault)) << place << " " << other;
      EXPECT_FALSE(fault.empty());
      ++refused;
    }
  }
  EXPECT_GT(refused, 150);
}

TEST(GoldenFile, SaysWhereTheFaultIs) {
  const auto fault_of = [](const char* place, const Json& value) {
    Json bad = Json::parse(to_json(example()));
    bad[Json::json_pointer(place)] = value;
    std::string fault;
    EXPECT_FALSE(parse_golden(bad.dump(), fault));
    return fault;
  };
  EXPECT_EQ(fault_of("/targets/cortex-m4/steps/0/constants/sha256", "00"),
            "targets.cortex-m4.steps[0].constants: 'sha256' is no SHA-256");
  EXPECT_EQ(fault_of("/etch_golden", 2), "the file: has format 2, this Etch reads format 1");
  EXPECT_EQ(fault_of("/targets/z80", Json::object()), "targets: there is no target 'z80'");
  EXPECT_EQ(fault_of("/targets", Json::object()), "targets: there are none");
  EXPECT_EQ(fault_of("/name", "../net"), "name: cannot be a name in C++");
  EXPECT_EQ(fault_of("/samples/1/seed", 4294967296), "samples[1]: 'seed' is more than 4294967295");
  EXPECT_EQ(fault_of("/targets/scalar/arena_bytes", 9223372036854775808U),
            "targets.scalar: 'arena_bytes' is no size");
}

TEST(GoldenFile, RefusesGarbageWithoutFallingOver) {
  const std::string deep(1 << 20, '[');
  const std::string deep_objects = [] {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "{\"a\":";
    return text;
  }();
  for (const std::string& text :
       {std::string(), std::string("\0\xff\xfe", 3), deep, deep_objects, std::string("null"),
        std::string("[]"), std::string("{}"), std::string("{\"etch_golden\": 1e99999}"),
        std::string("{\"etch_golden\": 1}"), std::string(1 << 20, '"')}) {
    std::string fault;
    EXPECT_FALSE(parse_golden(text, fault));
    EXPECT_FALSE(fault.empty());
  }
}

TEST(GoldenFile, RefusesMoreSamplesThanItWrites) {
  Golden golden = example();
  golden.samples.resize(kMostGoldenSamples + 1);
  std::string fault;
  EXPECT_FALSE(parse_golden(to_json(golden), fault));
  EXPECT_EQ(fault, "samples: are more than 64");
}

}  // namespace
}  // namespace etch::cli
