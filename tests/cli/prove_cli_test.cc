// `etch prove` from outside: a sound folder is proved, and each of several small faults in
// generated files is found, in the layer and by the part of the proof that has to find it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/cli.h"

namespace etch::cli {
namespace {
using Json = nlohmann::json;

// A change of a generated file: the first `from` after `place` becomes `to`, `times` over.
struct Change {
  std::string file, place, from, to;
  int times = 1;
};
// What every target's code is broken by, each in a layer of its own.
struct Faults {
  const char* target;
  std::vector<Change> weight;    // of n15_conv, by one
  std::vector<Change> channels;  // of n33_conv: two biases exchanged
  std::vector<Change> pad;       // of n12_conv, by one
  std::vector<Change> pairs;     // of n21_conv: sums of two products saturate at 16 bits
  std::vector<Change> factor;    // of n18_depthwise
  std::vector<std::string> options = {};
};
constexpr char kSteps[] = "model_steps_0.cc", kWeights[] = "model_weights_0.cc";

void PrintTo(const Faults& faults, std::ostream* out) { *out << faults.target; }

// Products added up in pairs, in 16 bits that saturate, as x86 does before VNNI.
Faults portable_faults() {
  constexpr char kSaturating[] =
      "static inline int32_t in_16_bits(int32_t v) {\n"
      "  return v > 32767 ? 32767 : v < -32768 ? -32768 : v;\n"
      "}\n"
      "static inline isa::I32 saturating_dot4(isa::I32 acc, isa::X4 x, isa::W4 w) {\n"
      "  acc.v += in_16_bits(x.k0 * w.k0 + x.k1 * w.k1) + in_16_bits(x.k2 * w.k2 + x.k3 * w.k3);\n"
      "  return acc;\n"
      "}\n";
  const std::string pixel = "n12_conv_tile_1x2_c4(x + row * 10 + col * 2 - 1";
  const std::string tile = "[[gnu::always_inline]] static inline void n21_conv_tile_1x2_c4(";
  return {
      "scalar",
      {{kWeights, "t n15_conv_weights[", "\"\\375", "\"\\374"}},
      {{kWeights, "t n33_conv_bias[", "57374, 133340", "133340, 57374"}},
      {{kSteps, "void n12_conv(", pixel + "1", pixel + "0"}},
      {{kSteps, tile, "isa::dot4(", "saturating_dot4(", 8}, {kSteps, "", tile, kSaturating + tile}},
      {{kWeights, "t n18_depthwise_scale[", "0x1.02aaa2p-7F", "0x1.02bbb2p-7F"}}};
}

// Without floats, with one of the integer multipliers off by 0.01 %.
Faults integer_faults() {
  Faults out = portable_faults();
  out.factor = {{kWeights, "t n18_depthwise_requantize[", "2091090801", "2091290801"}};
  out.options = {"--requantize", "integer"};
  return out;
}

Faults vnni_faults() {
  constexpr char kSaturating[] =
      "static inline isa::I32 saturating_dot4(isa::I32 acc, isa::X4 x, isa::W4 w) {\n"
      "  const __m512i pairs = _mm512_maddubs_epi16(x.v, w.v);\n"
      "  acc.v = _mm512_add_epi32(acc.v, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));\n"
      "  return acc;\n"
      "}\n";
  Faults out = portable_faults();
  out.target = "avx512_vnni";
  const std::string tile = "[[gnu::noinline]] static void n21_conv_tile_2x4_c32(";
  out.pad = {{kSteps, "void n12_conv(", "x + row * 30 - 11", "x + row * 30 - 10"}};
  out.pairs = {{kSteps, tile, "isa::dot4(", "saturating_dot4(", 16},
               {kSteps, "", tile, kSaturating + tile}};
  return out;
}

// Of one register in assembly: r2 is free for a moment. A bias of two channels is the first and 256
// times the second.
Faults dsp_faults() {
  const std::string tile = "ETCH_NAKED void dsp_tile_4x2_k32_m32_joint_y32_f32_zp_add_n22_r32(";
  return {"cortex-m4",
          {{kWeights, "t n15_conv_stream[", "1056229373", "1056229372"}},
          {{kWeights, "t n33_conv_stream[", "57374, 34192414", "133340, 14821084"}},
          {{kSteps, "void n12_conv(", "rows + 13", "rows + 12"}},
          {{"model_assembly.cc", tile, "smlad r4, r2, lr, r4\\n",
            "push {r2}\\nsmuad r2, r2, lr\\nssat r2, #16, r2\\nadd r4, r4, r2\\npop {r2}\\n", 2}},
          {}};
}

class ProveCli : public Cli {
 protected:
  // The bundled network; faults below are made in its text.
  void generate(const std::string& target = "scalar",
                const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command = {"compile",  kDigits, "-o",     path("out"),
                                        "--target", target,  "--name", "model"};
    command.insert(command.end(), options.begin(), options.end());
    const ProcessResult result = etch(command);
    ASSERT_EQ(result.exit_code, 0) << result.errors;
  }
  void change(const Change& what) const {
    std::string text = contents(folder_ / "out" / what.file);
    std::size_t at = text.find(what.place);
    for (int i = 0; i < what.times; ++i) {
      at = at == std::string::npos ? at : text.find(what.from, at);
      ASSERT_NE(at, std::string::npos) << what.file << ": " << what.place << ": " << what.from;
      text.replace(at, what.from.size(), what.to);
      at += what.to.size();
    }
    write("out/" + what.file, text);
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

TEST_F(ProveCli, EveryLayerOfASoundFolderIsProved) {
  generate();
  const ProcessResult result = prove();
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_NE(result.output.find("etch prove: PASS on scalar: 5 of 5 layers proved completely"),
            std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("n27_maxpool: not proved: "), std::string::npos) << result.output;
}

class ProveFaults : public ProveCli, public testing::WithParamInterface<Faults> {};

TEST_P(ProveFaults, AreFoundInTheirLayersByTheirParts) {
  const Faults& faults = GetParam();
  if (!status_of(*find_target(faults.target)).runs_here()) GTEST_SKIP() << "cannot run here";
  generate(faults.target, faults.options);
  for (const auto* changes :
       {&faults.weight, &faults.channels, &faults.pad, &faults.pairs, &faults.factor}) {
    for (const Change& each : *changes) change(each);
  }
  const ProcessResult result = prove({"--json"});
  EXPECT_EQ(result.exit_code, 4) << result.errors;
  EXPECT_GT(wrong(step_of(result, "n12_conv"), "products"), 0);
  EXPECT_GT(wrong(step_of(result, "n15_conv"), "products"), 0);
  EXPECT_GT(wrong(step_of(result, "n33_conv"), "products"), 0);
  EXPECT_EQ(wrong(step_of(result, "n18_depthwise"), "products"), 0);
  EXPECT_EQ(wrong(step_of(result, "n18_depthwise"), "thresholds") > 0, !faults.factor.empty());
  // One unit at a time saturates nothing: only the extremes can tell.
  EXPECT_EQ(wrong(step_of(result, "n21_conv"), "products"), 0);
  EXPECT_GT(wrong(step_of(result, "n21_conv"), "extremes"), 0);
}

// Targets: places in their generated text, of which each kind of code has its own.
INSTANTIATE_TEST_SUITE_P(Targets, ProveFaults,
                         testing::Values(portable_faults(), integer_faults(), vnni_faults(),
                                         dsp_faults()),
                         [](const auto& each) {
                           std::string name = each.param.target;
                           if (!each.param.options.empty()) name += "_integer";
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Cortex-M3 has no FPU, and its stream of weights holds the integer factors, too.
TEST_F(ProveCli, LayersWithoutFloatsAreProved) {
  if (!status_of(*find_target("cortex-m3")).runs_here()) GTEST_SKIP() << "cannot run here";
  generate("cortex-m3");
  const ProcessResult sound = prove();
  EXPECT_EQ(sound.exit_code, 0) << sound.output << sound.errors;
  EXPECT_NE(sound.output.find("5 of 5 layers proved completely"), std::string::npos)
      << sound.output;
  change({kWeights, "t n12_conv_stream[", "1927923192", "1928123192"});
  const ProcessResult result = prove({"--json"});
  EXPECT_EQ(result.exit_code, 4) << result.errors;
  EXPECT_EQ(wrong(step_of(result, "n12_conv"), "products"), 0);
  EXPECT_GT(wrong(step_of(result, "n12_conv"), "thresholds"), 0);
}

TEST_F(ProveCli, ALayerThatIsNotThereIsAnError) {
  generate();
  const ProcessResult result = prove({"--layer", "n99_conv"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("there is no step 'n99_conv'"), std::string::npos) << result.errors;
}

TEST_F(ProveCli, AnotherModelIsRefused) {
  generate();
  const std::string other = write("other.onnx", contents(kDigits) + "\x32\x01x");  // its doc_string
  const ProcessResult result = etch({"prove", path("out"), "--model", other});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("is not the model that the folder was made of"), std::string::npos)
      << result.errors;
}

TEST_F(ProveCli, TheModelMayBeItsFolder) {
  generate();
  std::filesystem::create_directories(path("net"));
  std::filesystem::copy_file(kDigits, path("net/model.onnx"));
  const ProcessResult result =
      etch({"prove", path("out"), "--model", path("net"), "--layer", "n99_conv"});
  EXPECT_NE(result.errors.find("there is no step 'n99_conv'"), std::string::npos) << result.errors;
}

TEST_F(ProveCli, TheModelIsAskedForWhereItIsNotFound) {
  generate();
  const ProcessResult result = etch({"prove", path("out")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("--model is needed"), std::string::npos) << result.errors;
}

}  // namespace
}  // namespace etch::cli
