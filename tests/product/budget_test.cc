// Budgets: whatever is asked for, the same bytes come out; limits are kept or refused with numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/code/flash_estimate.h"
#include "compiler/emit/code/shared_bodies.h"
#include "compiler/import/file.h"
#include "compiler/passes/stream_rows.h"
#include "tests/support/agreement.h"
#include "tests/support/block_cases.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

CompileOptions options_for(std::string_view target, Objective objective) {
  CompileOptions options;
  options.target = std::string(target);
  options.objective = objective;
  return options;
}

std::unique_ptr<Program> compiled_with(const Case& each, const CompileOptions& options) {
  Sink sink;
  std::unique_ptr<Program> program = compile(each.model, options, sink);
  EXPECT_NE(program, nullptr) << each.name << ": " << errors_of(sink);
  return program;
}

std::string errors_with(const std::string& model, const CompileOptions& options) {
  Sink sink;
  EXPECT_EQ(compile(model, options, sink), nullptr);
  return errors_of(sink);
}

bool is_streamed(const Program& program) {
  return std::any_of(program.budget.begin(), program.budget.end(), [](const BudgetOption& each) {
    return each.chosen && each.what.find("bands") != std::string::npos;
  });
}

bool has_step(const Program& program, std::string_view kind) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [&](const auto& step) { return step->kind == kind; });
}

// The least arena that can be had for small networks is a matter of a few rows, so a limit just
// below the plain arena makes most of them stream.
struct Squeezed {
  Squeezed(const std::vector<Case>& cases, std::string_view target) {
    for (const Case& each : cases) {
      CompileOptions options = options_for(target, Objective::kBalanced);
      const auto plain = compiled_with(each, options);
      if (plain == nullptr) continue;
      options.arena_limit = plain->arena_bytes - 1;
      Sink sink;
      auto program = compile(each.model, options, sink);
      if (program == nullptr) {
        EXPECT_TRUE(has_error(sink, DiagKind::kLimit)) << each.name << ": " << errors_of(sink);
        continue;
      }
      EXPECT_LE(program->arena_bytes, *options.arena_limit) << each.name;
      if (is_streamed(*program)) ++streamed;
      networks.push_back(&each);
      programs.push_back(std::move(program));
    }
  }
  std::vector<const Case*> networks;
  std::vector<std::unique_ptr<Program>> programs;
  int streamed = 0;
};

std::vector<const char*> targets_with_budgets() {
  std::vector<const char*> names =
      all_targets_but({{"sse41", "the kernels of avx2"}, {"avx_vnni", "those of avx512_vnni"}});
  for (const IsaTraits* const isa : plans()) {
    if (isa->assembly != Assembly::kNone) names.push_back(isa->name.data());
  }
  return names;
}

class BudgetsOn : public testing::TestWithParam<const char*> {};

TEST_P(BudgetsOn, StreamedRowsAreTheSameNatively) {
  const std::size_t half = find_target(GetParam())->vectorized ? 0 : 1;
  const std::vector<Case> cases = half_of(networks_of_blocks(20), half);
  const Squeezed squeezed(cases, GetParam());
  EXPECT_GT(5 * squeezed.streamed, 2 * static_cast<int>(cases.size()));
  for (std::size_t i = 0; i < squeezed.programs.size(); ++i) {
    const Case& each = *squeezed.networks[i];
    EXPECT_EQ(
        difference_of(native_outputs(*squeezed.programs[i], each.inputs), reference_outputs(each)),
        "")
        << each.name;
  }
}

TEST_P(BudgetsOn, EveryObjectiveIsTheSameNatively) {
  for (const Case& each : networks_of_blocks(10)) {
    const std::vector<Tensor> expected = reference_outputs(each);
    for (const Objective objective : {Objective::kSpeed, Objective::kSize, Objective::kRam}) {
      const auto program = compiled_with(each, options_for(GetParam(), objective));
      ASSERT_NE(program, nullptr);
      EXPECT_EQ(difference_of(native_outputs(*program, each.inputs), expected), "") << each.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, BudgetsOn, testing::ValuesIn(targets_with_budgets()),
                         name_of_target);

// Compiled code on this machine: of streamed networks, and of every objective; each network for one
// of them, in turn, or for all with ETCH_SWEEP, as the Native stage above.
TEST(Budgets, CompiledCodeIsTheSame) {
  const IsaTraits& isa = *find_target("scalar");
  const std::vector<Case> cases = networks_of_blocks(8);
  std::vector<const Case*> networks;
  std::vector<std::unique_ptr<Program>> programs;
  constexpr Objective kObjectives[] = {Objective::kSpeed, Objective::kSize, Objective::kRam};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t objective = 0; objective < std::size(kObjectives); ++objective) {
      if (i % 3 != objective && std::getenv("ETCH_SWEEP") == nullptr) continue;
      programs.push_back(compiled_with(cases[i], options_for("scalar", kObjectives[objective])));
      networks.push_back(&cases[i]);
    }
  }
  Squeezed squeezed(cases, "scalar");
  for (std::size_t i = 0; i < squeezed.programs.size(); ++i) {
    programs.push_back(std::move(squeezed.programs[i]));
    networks.push_back(squeezed.networks[i]);
  }
  std::vector<BatchEntry> entries;
  entries.reserve(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i)
    entries.push_back({programs[i].get(), &networks[i]->inputs});
  const auto outputs = run_generated(entries, isa);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(*networks[i])), "")
        << networks[i]->name;
  }
}

TEST(Budgets, SizeIsNeverLargerThanSpeed) {
  for (const Case& each : networks_of_blocks(8)) {
    const auto size = compiled_with(each, options_for("cortex-m4", Objective::kSize));
    const auto speed = compiled_with(each, options_for("cortex-m4", Objective::kSpeed));
    ASSERT_TRUE(size != nullptr && speed != nullptr);
    EXPECT_LE(estimated_flash(*size).total(), estimated_flash(*speed).total()) << each.name;
  }
}

TEST(Budgets, RamIsNeverMoreThanBalanced) {
  for (const Case& each : networks_of_blocks(8)) {
    const auto ram = compiled_with(each, options_for("cortex-m4", Objective::kRam));
    const auto plain = compiled_with(each, options_for("cortex-m4", Objective::kBalanced));
    ASSERT_TRUE(ram != nullptr && plain != nullptr);
    EXPECT_LE(ram->arena_bytes, plain->arena_bytes) << each.name;
  }
}

TEST(Budgets, AnArenaThatCannotBeHadIsRefusedWithTheLeast) {
  const Case each = networks_of_blocks(1).front();
  CompileOptions options = options_for("cortex-m4", Objective::kBalanced);
  options.arena_limit = 100;
  const std::string errors = errors_with(each.model, options);
  EXPECT_NE(errors.find("the arena cannot have 100 bytes: the least that was found is "),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("error[E-LIMIT]: --arena-limit"), std::string::npos) << errors;
  EXPECT_NE(errors.find(" with whole tensors"), std::string::npos) << errors;
}

// Code for size widens weights of 16 bits in scratch memory; that for the least memory does not.
TEST(Budgets, AnArenaOfCodeForRamAloneIsHadWithAnyObjective) {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {16, 400});
  Tensor w(DType::kF32, {400, 100});
  for (std::size_t i = 0; i < 40000; ++i) w.as<float>()[i] = static_cast<float>(i % 100);
  model.initializer("w", w);
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("Relu", {"h"}, {"y"});
  model.output("y");
  const Case each{"halves", model.bytes(), {}};
  const std::int64_t least =
      compiled_with(each, options_for("cortex-m4", Objective::kRam))->arena_bytes;
  for (const Objective objective : {Objective::kSpeed, Objective::kSize, Objective::kBalanced}) {
    CompileOptions options = options_for("cortex-m4", objective);
    EXPECT_GT(compiled_with(each, options)->arena_bytes, least);
    options.arena_limit = least;
    EXPECT_EQ(compiled_with(each, options)->arena_bytes, least);
  }
}

TEST(Budgets, FlashThatCannotBeHadIsRefusedWithItsParts) {
  const Case each = networks_of_blocks(1).front();
  CompileOptions options = options_for("cortex-m4", Objective::kBalanced);
  options.flash_limit = 100;
  const std::string errors = errors_with(each.model, options);
  EXPECT_NE(errors.find("the network cannot have 100 bytes of flash: with "), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("error[E-LIMIT]: --flash-limit"), std::string::npos) << errors;
  EXPECT_NE(errors.find(" bytes of weights and tables and about "), std::string::npos) << errors;
}

TEST(Budgets, ARefusalNamesTheLimitsThatItIsFor) {
  const Case each = networks_of_blocks(1).front();
  CompileOptions options = options_for("cortex-m4", Objective::kBalanced);
  options.flash_limit = 100;
  options.arena_limit = 1000000;
  const std::string flash = errors_with(each.model, options);
  EXPECT_NE(flash.find("error[E-LIMIT]: --flash-limit with --arena-limit: the network cannot have"),
            std::string::npos)
      << flash;
  EXPECT_NE(flash.find(" of 1,000,000 bytes"), std::string::npos) << flash;
  options.arena_limit = 100;  // which no flash would help
  const std::string arena = errors_with(each.model, options);
  EXPECT_NE(arena.find("error[E-LIMIT]: --arena-limit: the arena cannot have"), std::string::npos)
      << arena;
}

// Rows one after the other have more code: where it is too much, whole tensors may still fit.
TEST(Budgets, ALimitOfFlashTakesAnotherArenaThatMayBe) {
  int elsewhere = 0;
  for (const Case& each : networks_of_blocks(6)) {
    const auto least = compiled_with(each, options_for("cortex-m4", Objective::kRam));
    const auto small = compiled_with(each, options_for("cortex-m4", Objective::kSize));
    ASSERT_TRUE(least != nullptr && small != nullptr);
    CompileOptions options = options_for("cortex-m4", Objective::kRam);
    options.flash_limit = estimated_flash(*small).total();
    const auto program = compiled_with(each, options);
    ASSERT_NE(program, nullptr) << each.name;
    EXPECT_LE(estimated_flash(*program).total(), *options.flash_limit) << each.name;
    elsewhere += is_streamed(*least) && !is_streamed(*program) ? 1 : 0;
  }
  EXPECT_GT(elsewhere, 0);
}

TEST(Budgets, ALimitOfFlashTakesTheFastestCodeThatFits) {
  const Case each = networks_of_blocks(1).front();
  std::vector<std::pair<Objective, std::int64_t>> all;  // fastest first
  for (const Objective code : {Objective::kSpeed, Objective::kBalanced, Objective::kSize}) {
    const auto program = compiled_with(each, options_for("cortex-m4", code));
    ASSERT_NE(program, nullptr);
    all.emplace_back(code, estimated_flash(*program).total());
  }
  for (const auto& [code, limit] : all) {
    CompileOptions options = options_for("cortex-m4", Objective::kSpeed);
    options.flash_limit = limit;
    const auto expected = std::ranges::find_if(
        all, [limit = limit](const auto& other) { return other.second <= limit; });
    EXPECT_EQ(compiled_with(each, options)->isa.objective, expected->first) << limit;
  }
}

TEST(Budgets, TheChosenWayAndItsNeighboursAreKept) {
  for (const Case& each : networks_of_blocks(6)) {
    const auto ram = compiled_with(each, options_for("cortex-m4", Objective::kRam));
    ASSERT_NE(ram, nullptr);
    const auto chosen = [](const BudgetOption& option) { return option.chosen; };
    ASSERT_EQ(std::count_if(ram->budget.begin(), ram->budget.end(), chosen), 1) << each.name;
    const auto own = std::find_if(ram->budget.begin(), ram->budget.end(), chosen);
    EXPECT_EQ(own->arena_bytes, ram->arena_bytes);
    EXPECT_EQ(own->macs, ram->macs);
    for (std::size_t i = 1; i < ram->budget.size(); ++i) {
      EXPECT_LT(ram->budget[i].macs, ram->budget[i - 1].macs) << "each step up costs less work";
      EXPECT_GT(ram->budget[i].arena_bytes, ram->budget[i - 1].arena_bytes);
    }
  }
}

TEST(Budgets, WithoutAnyNothingIsTried) {
  const Case each = networks_of_blocks(1).front();
  EXPECT_TRUE(compiled_with(each, options_for("avx2", Objective::kBalanced))->budget.empty());
  EXPECT_TRUE(compiled_with(each, options_for("cortex-m4", Objective::kBalanced))->budget.empty());
}

// ---- the networks of MLPerf Tiny, beside the project ----

class TinyNetwork : public testing::Test {
 protected:
  static std::optional<std::string> model(const std::string& name) {
    const fs::path path = fs::path(source_dir()) / ".." / "shared" / "models" / "nets" / name;
    Sink sink;
    return read_model_file((path / "model.onnx").string(), {}, sink);
  }
};

TEST_F(TinyNetwork, NeedsNoMoreArenaThanPromised) {
  const auto resnet = model("mlperftiny_ic_resnet8_qdq"), dscnn = model("mlperftiny_kws_dscnn_qdq");
  if (!resnet || !dscnn) GTEST_SKIP() << "no networks in ../shared/models/nets";
  const auto arena = [](const std::string& bytes, Objective objective) {
    return compiled_with({"", bytes, {}}, options_for("cortex-m4", objective))->arena_bytes;
  };
  EXPECT_LE(arena(*resnet, Objective::kBalanced), 49'152);
  EXPECT_LE(arena(*resnet, Objective::kSize), 49'152);
  EXPECT_LT(arena(*resnet, Objective::kRam), 32'768);
  EXPECT_LE(arena(*dscnn, Objective::kBalanced), 16'000);
  EXPECT_LE(arena(*dscnn, Objective::kSize), 16'000);
  EXPECT_LE(arena(*dscnn, Objective::kRam), 16'000);
}

TEST_F(TinyNetwork, LayersOfEqualShapeHaveOneFunction) {
  const auto dscnn = model("mlperftiny_kws_dscnn_qdq");
  if (!dscnn) GTEST_SKIP() << "no networks in ../shared/models/nets";
  const auto fast =
      compiled_with({"", *dscnn, {}}, options_for("avx512_vnni", Objective::kBalanced));
  EXPECT_GE(shared_bodies(*fast).size(), 7U);  // four depthwise convolutions, three others
}

TEST_F(TinyNetwork, LayersOfEqualShapeHaveOneFunctionForSize) {
  const auto dscnn = model("mlperftiny_kws_dscnn_qdq");
  if (!dscnn) GTEST_SKIP() << "no networks in ../shared/models/nets";
  const auto size = compiled_with({"", *dscnn, {}}, options_for("riscv32imac", Objective::kSize));
  EXPECT_GE(shared_bodies(*size).size(), 4U);
  EXPECT_TRUE(has_step(*size, "spread"));
}

}  // namespace
}  // namespace etch
