// Tiles, loop order and unrolling that the user chooses never change what is computed: many small
// convolutions with every candidate that `etch tune` would try and with unrolling on request, under
// the Native stage on every instruction set and as compiled code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/kernels/conv/portable/conv.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/part.h"
#include "tests/support/residual_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

constexpr std::size_t kCandidates = 6;

// A fully unrolled function of some hundred kilobytes keeps a compiler busy for a minute.
constexpr std::size_t kMostText = 200'000;

bool is_long(const Program& program) {
  return std::ranges::any_of(emit(program, {}), [](const OutputFile& file) {
    return file.path.find("_steps") != std::string::npos && file.content.size() > kMostText;
  });
}

std::unique_ptr<Program> compiled_with(const Case& each, const CompileOptions& options,
                                       Sink& sink) {
  std::unique_ptr<Program> program = compile(each.model, options, sink);
  EXPECT_NE(program, nullptr) << each.name << ":\n" << errors_of(sink);
  return program;
}

template <class Use>
void each_convolution(const Program& program, Use use) {
  for (const auto& step : program.steps) {
    if (const auto* const conv = dynamic_cast<const ConvStep*>(step.get())) use(*conv);
  }
}

// Every way to schedule one case that is tried here.
std::vector<CompileOptions> schedules(const Case& each, std::string_view target) {
  CompileOptions usual;
  usual.target = std::string(target);
  Sink sink;
  const std::unique_ptr<Program> program = compiled_with(each, usual, sink);
  if (program == nullptr) return {};
  std::vector<CompileOptions> out(kCandidates + 3, usual);
  for (std::size_t i = 0; i < kCandidates; ++i)
    out[i].tuning = candidate_tuning(*program, i, kCandidates);
  out[kCandidates].unrolling.all = {Unrolling::Kind::kGroups, 1};
  out[kCandidates + 1].unrolling.all = {Unrolling::Kind::kGroups, 3};
  out[kCandidates + 2].unrolling.all = {Unrolling::Kind::kFull, 0};
  return out;
}

std::vector<Case> sample() {
  std::vector<Case> all;
  add_cases(all, small_line_convolutions(2999));
  add_cases(all, small_plane_convolutions(9001));
  add_cases(all, small_transposed_convolutions(2));
  add_cases(all, integer_convolutions(2));
  add_cases(all, run_time_convolutions(2));
  add_cases(all, larger_convolutions(12));
  add_cases(all, small_networks(4));
  add_cases(all, residual_convolutions(4));
  return all;
}

TEST(TunedCode, EnginesAgreeUnderTheNativeStage) {
  for (const Case& each : sample()) {
    const std::vector<Tensor> expected = reference_outputs(each);
    for (const IsaTraits* const isa : all_targets()) {
      for (const CompileOptions& options : schedules(each, isa->name)) {
        Sink sink;
        const auto program = compiled_with(each, options, sink);
        ASSERT_NE(program, nullptr);
        ASSERT_EQ(difference_of(native_outputs(*program, each.inputs), expected), "")
            << each.name << " on " << isa->name;
      }
    }
  }
}

class TunedOn : public ::testing::TestWithParam<const char*> {};

TEST_P(TunedOn, EnginesAgreeAsCompiledCode) {
  const IsaTraits& isa = *find_target(GetParam());
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << isa.name << ": " << obstacle;
  const std::vector<Case> cases = larger_convolutions(5);
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<const Case*> layers;  // of the programs
  std::vector<std::string> names;
  // avx512_vnni has all, avx2 every second one, scalar the others; the Native stage has them all.
  const std::size_t step =
      isa.name == "avx512_vnni" || std::getenv("ETCH_SWEEP") != nullptr ? 1 : 2;
  for (std::size_t number = 0; number < cases.size(); ++number) {
    const Case& each = cases[number];
    const std::vector<CompileOptions> all = schedules(each, isa.name);
    for (std::size_t i = (number + (isa.lanes > 1 ? 1 : 0)) % step; i < all.size(); i += step) {
      Sink sink;
      std::unique_ptr<Program> program = compiled_with(each, all[i], sink);
      ASSERT_NE(program, nullptr);
      if (is_long(*program)) continue;
      programs.push_back(std::move(program));
      layers.push_back(&each);
      names.push_back(cat(each.name, i));
    }
  }
  const std::vector<std::size_t> part = numbers_in_part(names);
  std::vector<BatchEntry> entries;
  for (const std::size_t i : part) entries.push_back({programs[i].get(), &layers[i]->inputs});
  const auto outputs = run_generated(entries, isa);
  ASSERT_TRUE(outputs);
  ASSERT_EQ(outputs->size(), part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(*layers[part[i]])), "")
        << names[part[i]];
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, TunedOn,
                         ::testing::ValuesIn(all_targets_but({{"sse41", "the kernels of avx2"},
                                                              {"avx_vnni",
                                                               "those of avx512_vnni"}})),
                         name_of_target);

// ---- what compile() makes of the options ----

Case network() { return std::move(small_networks(1).front()); }

const ConvStep& first_convolution(const Program& program) {
  const ConvStep* found = nullptr;
  each_convolution(program, [&](const ConvStep& conv) {
    if (found == nullptr) found = &conv;
  });
  if (found == nullptr) throw std::logic_error("the network has no convolution");
  return *found;
}

TEST(TunedCode, IsTheSameEveryTime) {
  const Case each = network();
  for (const CompileOptions& options : schedules(each, "avx512_vnni")) {
    Sink sink;
    const auto first = compiled_with(each, options, sink);
    const auto second = compiled_with(each, options, sink);
    ASSERT_TRUE(first != nullptr && second != nullptr);
    const auto files = emit(*first, {});
    const auto again = emit(*second, {});
    ASSERT_EQ(files.size(), again.size());
    for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(files[i].content, again[i].content);
  }
}

TEST(TunedCode, HasTheTileThatTheFileNames) {
  const Case each = network();
  CompileOptions options;
  options.target = "avx512_vnni";
  Sink sink;
  const auto usual = compiled_with(each, options, sink);
  ASSERT_NE(usual, nullptr);
  EXPECT_FALSE(first_convolution(*usual).from_file);
  const std::string key = first_convolution(*usual).key;
  std::vector<TuningFault> faults;
  options.tuning = parse_tuning(
      cat("avx512_vnni ", key, " tile=2x1 channels=16 outer=channels unroll=1\n"), faults);
  ASSERT_TRUE(faults.empty());
  const auto program = compiled_with(each, options, sink);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(reports_of(sink), "");
  const std::string name = first_convolution(*program).name;
  for (const OutputFile& file : emit(*program, {})) {
    if (file.path != "report.json") continue;
    const auto report = nlohmann::json::parse(file.content);
    for (const auto& step : report["steps"]) {
      if (step["name"] != name) continue;
      EXPECT_EQ(step["tiles"]["rows"], 2);
      EXPECT_EQ(step["tiles"]["cols"], 1);
      EXPECT_EQ(step["tiles"]["channels"], 16);
      EXPECT_EQ(step["tiles"]["outer"], "channels");
      EXPECT_EQ(step["tiles"]["unrolled_groups"], 1);
      EXPECT_EQ(step["tiles"]["tuned"], true);
      EXPECT_EQ(step["tiles"]["tuning_key"], key);
      return;
    }
  }
  FAIL() << "no report of " << name;
}

TEST(TunedCode, NotesLinesThatFitNoLayer) {
  const Case each = network();
  CompileOptions options;
  options.target = "avx2";
  std::vector<TuningFault> faults;
  options.tuning = parse_tuning(
      "\n\navx2 conv/none tile=1x1 channels=8 outer=pixels unroll=1\n"
      "scalar conv/none tile=1x1 channels=1 outer=pixels unroll=1\n",
      faults);
  Sink sink;
  ASSERT_NE(compiled_with(each, options, sink), nullptr);
  EXPECT_EQ(errors_of(sink), "");
  EXPECT_NE(reports_of(sink).find("line 3 of the tuning file: no layer is 'conv/none'; ignored"),
            std::string::npos)
      << reports_of(sink);
  EXPECT_NE(reports_of(sink).find("the tuning file: 1 line is for other targets"),
            std::string::npos);
}

TEST(UnrolledLayers, AreThoseThatAreNamed) {
  const Case each = network();
  CompileOptions options;
  options.target = "avx512_vnni";
  Sink sink;
  const auto usual = compiled_with(each, options, sink);
  ASSERT_NE(usual, nullptr);
  const std::string name = first_convolution(*usual).name;
  options.unrolling.all = {Unrolling::Kind::kGroups, 2};
  options.unrolling.layers[name] = {Unrolling::Kind::kGroups, 1};
  const auto program = compiled_with(each, options, sink);
  ASSERT_NE(program, nullptr);
  int most = 0;
  each_convolution(*program, [&](const ConvStep& conv) {
    EXPECT_LE(conv.plan.unroll, conv.name == name ? 1 : 2) << conv.name;
    most = std::max(most, conv.plan.unroll);
  });
  EXPECT_EQ(most, 2);
}

TEST(UnrolledLayers, ThatDoNotExistAreRefusedWithAListOfThoseThatDo) {
  const Case each = network();
  CompileOptions options;
  options.target = "avx512_vnni";
  options.unrolling.layers["n99_conv"] = {Unrolling::Kind::kFull, 0};
  Sink sink;
  EXPECT_EQ(compile(each.model, options, sink), nullptr);
  EXPECT_TRUE(has_error(sink, DiagKind::kName));
  EXPECT_NE(errors_of(sink).find("--unroll n99_conv=full: there is no layer of this name; those "
                                 "that can be unrolled are "),
            std::string::npos)
      << errors_of(sink);
}

}  // namespace
}  // namespace etch
