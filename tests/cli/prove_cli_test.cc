// `etch prove` from outside: a sound folder is proved, and each of several small faults in
// generated files is found, in the layer and by the part of the proof that has to find it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/cli.h"

namespace etch::cli {
namespace {
using Json = nlohmann::json;

class ProveCli : public Cli {
 protected:
  // The bundled network for portable C++, so that the faults below fit on every machine.
  void generate() const {
    const ProcessResult result =
        etch({"compile", kDigits, "-o", path("out"), "--target", "scalar", "--name", "model"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
  }
  // The first text after `place` in a generated file becomes another one.
  void change(const std::string& file, const std::string& place, const std::string& from,
              const std::string& to) const {
    std::string text = contents(folder_ / "out" / file);
    std::size_t at = text.find(place);
    at = at == std::string::npos ? at : text.find(from, at);
    ASSERT_NE(at, std::string::npos) << file << ": " << place << ": " << from;
    write("out/" + file, text.replace(at, from.size(), to));
  }
  ProcessResult prove(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"prove", path("out"), "--model", kDigits});
    return etch(more);
  }
};

// The step of this name in what --json prints.
Json step_of(const ProcessResult& result, const std::string& name) {
  const Json proof = Json::parse(result.output, nullptr, false);
  if (proof.is_discarded()) return {};
  for (const Json& step : proof["steps"]) {
    if (step["step"] == name) return step;
  }
  return {};
}

int wrong(const Json& step, const char* part) { return step[part]["wrong"].get<int>(); }

// Adds up products as x86 does before VNNI: pairs of them, in 16 bits that saturate.
constexpr char kSaturating[] =
    "static inline int32_t in_16_bits(int32_t v) {\n"
    "  return v > 32767 ? 32767 : v < -32768 ? -32768 : v;\n"
    "}\n"
    "static inline isa::I32 saturating_dot4(isa::I32 acc, isa::X4 x, isa::W4 w) {\n"
    "  acc.v += in_16_bits(x.k0 * w.k0 + x.k1 * w.k1) + in_16_bits(x.k2 * w.k2 + x.k3 * w.k3);\n"
    "  return acc;\n"
    "}\n";

TEST_F(ProveCli, EveryLayerOfASoundFolderIsProved) {
  generate();
  const ProcessResult result = prove();
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_NE(result.output.find("etch prove: PASS on scalar: 5 of 5 layers proved completely"),
            std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("n27_maxpool: not proved: "), std::string::npos) << result.output;
}

TEST_F(ProveCli, FaultsAreFoundInTheirLayersByTheirParts) {
  generate();
  const std::string steps = "model_steps_0.cc", weights = "model_weights_0.cc";
  const std::string pixel = "n12_conv_tile_1x2_c4(x + row * 10 + col * 2 - 1";
  change(steps, "void n12_conv(", pixel + "1", pixel + "0");  // off by one in the padding
  change(weights, "t n15_conv_weights[", "\"\\375", "\"\\374");
  change(weights, "t n18_depthwise_scale[", "0x1.02aaa2p-7F", "0x1.02bbb2p-7F");
  change(weights, "t n33_conv_bias[", "57374, 133340", "133340, 57374");  // two channels
  const std::string tile = "static inline void n21_conv_tile_1x2_c4(";
  for (int i = 0; i < 8; ++i) change(steps, tile, "isa::dot4(", "saturating_dot4(");
  change(steps, "// Layer: QLinearConvAdd", "[[gnu::always_inline]] " + tile,
         kSaturating + ("[[gnu::always_inline]] " + tile));
  const ProcessResult result = prove({"--json"});
  EXPECT_EQ(result.exit_code, 4) << result.errors;
  EXPECT_GT(wrong(step_of(result, "n12_conv"), "products"), 0);
  EXPECT_GT(wrong(step_of(result, "n15_conv"), "products"), 0);
  EXPECT_EQ(wrong(step_of(result, "n18_depthwise"), "products"), 0);
  EXPECT_GT(wrong(step_of(result, "n18_depthwise"), "thresholds"), 0);
  EXPECT_GT(wrong(step_of(result, "n33_conv"), "products"), 0);
  // One unit at a time saturates nothing: only the extremes can tell.
  EXPECT_EQ(wrong(step_of(result, "n21_conv"), "products"), 0);
  EXPECT_GT(wrong(step_of(result, "n21_conv"), "extremes"), 0);
}

TEST_F(ProveCli, ALayerThatIsNotThereIsAnError) {
  generate();
  const ProcessResult result = prove({"--layer", "n99_conv"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("there is no step 'n99_conv'"), std::string::npos) << result.errors;
}

TEST_F(ProveCli, AnotherModelIsRefused) {
  generate();
  const std::string other = write("other.onnx", contents(kDigits) + "\n");
  const ProcessResult result = etch({"prove", path("out"), "--model", other});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("is not the model that the folder was made of"), std::string::npos)
      << result.errors;
}

TEST_F(ProveCli, TheModelIsAskedForWhereItIsNotFound) {
  generate();
  const ProcessResult result = etch({"prove", path("out")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("--model is needed"), std::string::npos) << result.errors;
}

}  // namespace
}  // namespace etch::cli
