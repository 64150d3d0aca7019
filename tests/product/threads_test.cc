// Networks that are compiled for several threads compute the same bytes as on one: many small ones
// whose shares run one after the other, the last first, which shows whether they need each other,
// and some on a pool of threads under ThreadSanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/host/build.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "compiler/schedule/divide.h"
#include "compiler/schedule/memory.h"
#include "compiler/stage/recorder.h"
#include "templates/isa/scalar/traits.h"
#include "tests/support/agreement.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/move_cases.h"
#include "tests/support/paths.h"
#include "tests/support/place_cases.h"
#include "tests/support/residual_cases.h"
#include "tests/support/table_cases.h"
#include "tests/support/targets.h"
#include "tests/support/tiny_program.h"

namespace etch {
namespace {

bool is_divided(const std::unique_ptr<Step>& step) { return step->partition.shares > 1; }

// Compiled for `shares` threads, which get even the smallest steps.
std::unique_ptr<Program> divided(const Case& each, std::string_view target, int shares) {
  std::unique_ptr<Program> program = compiled(each, target);
  if (program == nullptr) return nullptr;
  divide_work(*program, shares, 0);
  plan_memory(*program);
  return program;
}

std::vector<Case> sample() {
  std::vector<Case> all;
  add_cases(all, small_line_convolutions(1499));
  add_cases(all, small_plane_convolutions(3001));
  add_cases(all, small_volume_convolutions(4));
  add_cases(all, small_transposed_convolutions(8));
  add_cases(all, integer_convolutions(4));
  add_cases(all, larger_convolutions(30));
  add_cases(all, small_networks(12));
  add_cases(all, residual_convolutions(10));
  add_cases(all, other_operators(2));
  add_cases(all, move_cases(2));
  add_cases(all, float_chains(6));
  add_cases(all, place_chains(10));
  return all;
}

struct Divided {
  Divided(std::vector<Case> all, std::string_view target) : cases(std::move(all)) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      programs.push_back(divided(cases[i], target, 2 + static_cast<int>(i % 3)));
      if (programs.back() == nullptr) continue;
      entries.push_back({programs.back().get(), &cases[i].inputs});
      const auto& steps = programs.back()->steps;
      divided_steps += std::count_if(steps.begin(), steps.end(), is_divided);
    }
  }
  void expect_agreement(const IsaTraits& isa, const BatchOptions& options) const {
    ASSERT_EQ(entries.size(), cases.size());
    const auto outputs = run_generated(entries, isa, options);
    ASSERT_TRUE(outputs);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(cases[i])), "") << cases[i].name;
    }
  }

  const std::vector<Case> cases;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  std::ptrdiff_t divided_steps = 0;
};

class DividedCode : public ::testing::TestWithParam<const char*> {};

TEST_P(DividedCode, GivesTheSameBytesInAnyOrder) {
  const IsaTraits& isa = *find_target(GetParam());
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << isa.name << ": " << obstacle;
  const Divided all(thinned(sample(), isa), isa.name);
  const bool is_part = std::getenv("ETCH_PART") != nullptr;  // a few cases, of any kind
  EXPECT_GT(all.divided_steps, is_part ? 0 : static_cast<std::ptrdiff_t>(all.cases.size()) / 2);
  BatchOptions options;
  options.clean = true;
  all.expect_agreement(isa, options);
  std::printf("%s: %zu networks, %td divided steps\n", GetParam(), all.cases.size(),
              all.divided_steps);
}

TEST_P(DividedCode, IsCleanAndNeedsOnlyMemcpyAndMemset) {
  std::vector<Case> cases = larger_convolutions(6);
  add_cases(cases, small_networks(3));
  add_cases(cases, other_operators(1));
  const Divided all(std::move(cases), GetParam());
  ASSERT_GT(all.divided_steps, 0);
  expect_clean_code(all.entries, *find_target(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Targets, DividedCode,
                         ::testing::ValuesIn(all_targets_but({{"sse41", "the kernels of avx2"},
                                                              {"avx_vnni",
                                                               "those of avx512_vnni"}})),
                         name_of_target);

// No thread reads what another writes: not even bytes that it then ignores.
TEST(ThreadPool, RunsNetworksWithoutDataRaces) {
  const IsaTraits& isa = *find_target("native");
  std::vector<Case> cases = larger_convolutions(8);
  add_cases(cases, small_networks(6));
  add_cases(cases, residual_convolutions(4));
  const Divided all(std::move(cases), isa.name);
  ASSERT_GT(all.divided_steps, 0);
  BatchOptions options;
  options.flags = {"-O1", "-g", "-fsanitize=thread", "-pthread"};
  options.on_threads = true;
  all.expect_agreement(isa, options);
}

// ---- how work is divided ----

std::string recorded(Step& step, const Partition& partition) {
  step.partition = partition;
  Recorder recorder(step);
  recorder.set_isa(isa::k_scalar);
  step.run(recorder);
  return recorder.text();
}

TEST(Recorder, DividesTheOuterLoop) {
  const auto step = testing::mask_step(isa::k_scalar);
  const std::string text = recorded(*step, {3, 0});
  EXPECT_NE(text.find("void n00_mask(const uint8_t* x, uint8_t* y, int share) noexcept {\n"
                      "  for (ptrdiff_t block = ptrdiff_t{share} * 64 / 3; "
                      "block < (ptrdiff_t{share} + 1) * 64 / 3; ++block) {\n"),
            std::string::npos)
      << text;
}

// 64 = 21 + 21 + 22 calls of a tile function with 5 statements.
TEST(Recorder, KnowsTheWorkOfShares) {
  const auto step = testing::mask_step(isa::k_scalar);
  step->partition = {3, 0};
  Recorder recorder(*step);
  recorder.set_isa(isa::k_scalar);
  step->run(recorder);
  const std::vector<double> work = recorder.work();
  ASSERT_EQ(work.size(), 3U);
  EXPECT_EQ(work[0], work[1]);
  EXPECT_EQ(work[2] - work[1], 5);
}

// A loop deeper than there are any: one share does all.
TEST(Recorder, LeavesWholeWhatIsNotDivided) {
  const auto step = testing::mask_step(isa::k_scalar);
  const std::string text = recorded(*step, {2, 1});
  EXPECT_NE(text.find("    if (share == 0) n00_mask_tile("), std::string::npos) << text;
}

TEST(Recorder, RefusesToDivideASum) {
  const auto step = testing::sum_step(isa::k_scalar);
  step->partition = {2, 0};
  Recorder recorder(*step);
  recorder.set_isa(isa::k_scalar);
  step->run(recorder);
  EXPECT_TRUE(recorder.work().empty());
}

TEST(DivideWork, LeavesSmallStepsAndThoseWithoutThePromise) {
  Program program = testing::tiny_program(isa::k_scalar);
  divide_work(program, 2, 0);
  EXPECT_TRUE(std::none_of(program.steps.begin(), program.steps.end(), is_divided));
  for (const auto& step : program.steps) step->divisible = true;
  divide_work(program, 2);
  EXPECT_TRUE(std::none_of(program.steps.begin(), program.steps.end(), is_divided));
  divide_work(program, 2, 0);
  EXPECT_TRUE(is_divided(program.steps[0]));
  EXPECT_FALSE(is_divided(program.steps[1])) << "it adds up";
}

// ---- one thread ----

std::string contents(const std::string& path) {
  std::ifstream file(source_dir() + "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::unique_ptr<Program> digits(int threads) {
  const std::string model = contents("examples/digits/model.onnx");
  CompileOptions options;
  options.target = "scalar";  // without vectors its layers are large enough
  options.threads = threads;
  Sink sink;
  return compile(model, options, sink);
}

TEST(OneThread, GetsCodeThatKnowsNothingOfThreads) {
  const auto program = digits(1);
  ASSERT_NE(program, nullptr);
  for (const OutputFile& file : emit(*program, {})) {
    if (file.path.find("report") != std::string::npos) continue;
    for (const char* word : {"EtchThreads", "share);", "int share", "run_shares", "etch_thread"}) {
      EXPECT_EQ(file.content.find(word), std::string::npos) << word << " in " << file.path;
    }
    EXPECT_EQ(file.path.find("thread"), std::string::npos);
  }
}

TEST(SeveralThreads, ArriveInTheInterface) {
  const auto program = digits(2);
  ASSERT_NE(program, nullptr);
  EXPECT_TRUE(std::any_of(program->steps.begin(), program->steps.end(), is_divided));
  const std::vector<OutputFile> files = emit(*program, {});
  const std::string& header = files.front().content;
  EXPECT_NE(header.find("void run(const float* image, float* logits, void* arena) noexcept;"),
            std::string::npos)
      << header;
  EXPECT_NE(header.find("void run(const float* image, float* logits, void* arena,\n"
                        "    const EtchThreads* threads) noexcept;"),
            std::string::npos);
  EXPECT_NE(header.find("_run_on("), std::string::npos);
  EXPECT_NE(header.find("kShares = 2;"), std::string::npos);
  EXPECT_TRUE(std::any_of(files.begin(), files.end(), [](const OutputFile& file) {
    return file.path == "etch/etch_thread_pool.h";
  }));
}

TEST(SeveralThreads, GetTheSameCodeEveryTime) {
  const auto one = digits(3);
  const auto other = digits(3);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  const std::vector<OutputFile> files = emit(*one, {});
  const std::vector<OutputFile> again = emit(*other, {});
  ASSERT_EQ(files.size(), again.size());
  for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(files[i].content, again[i].content);
}

TEST(SeveralThreads, AreRefusedWithSeveralInstructionSets) {
  CompileOptions options;
  options.target = "x86-64-multi";
  options.threads = 2;
  Sink sink;
  EXPECT_EQ(compile(contents("examples/digits/model.onnx"), options, sink), nullptr);
  EXPECT_NE(errors_of(sink).find("one thread only"), std::string::npos) << errors_of(sink);
}

// ---- whole networks on the pool, against what ONNX Runtime gave ----

void expect_check_passes(const std::string& model, const char* threads) {
  const auto result = cli::run_process(
      {etch_binary(), "check", source_dir() + "/" + model, "--threads", threads, "--quiet"},
      std::chrono::minutes(8));
  EXPECT_TRUE(result.succeeded()) << cli::describe(result) << "\n" << result.output;
}

TEST(SeveralThreads, RunTheBundledNetwork) {
  expect_check_passes("examples/digits/model.onnx", "2");
  expect_check_passes("examples/digits/model.onnx", "5");
}

TEST(SeveralThreads, RunRealNetworks) {
  const std::string folder = "../shared/models/nets/";
  if (!std::filesystem::exists(source_dir() + "/" + folder)) {
    GTEST_SKIP() << "the networks beside the project are absent";
  }
  std::vector<std::string> names = {"mlperftiny_ic_resnet8_qdq", "mlperftiny_kws_dscnn_qdq"};
  // Of the kinds of layers of the others, but up to three times as many for g++ to compile.
  if (std::getenv("ETCH_SWEEP") != nullptr)
    names.insert(names.end(), {"emmtrix_microkws_static_qop", "ort_maui_mobilenetv2_qdq"});
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    expect_check_passes(folder + name + "/model.onnx", "2");
  }
}

// ---- docs/threads.md ----

// The C++ between ```cpp and ```.
std::vector<std::string> programs_in(const std::string& text) {
  constexpr std::string_view kBegin = "\n```cpp\n";
  std::vector<std::string> out;
  for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    out.push_back(text.substr(at, text.find("\n```\n", at) + 1 - at));
  }
  return out;
}

TEST(ThreadsDocument, ShowsProgramsThatRun) {
  const auto program = digits(2);
  ASSERT_NE(program, nullptr);
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto folder = cli::WorkFolder::make({}, reporter);
  auto toolchain = cli::find_toolchain(program->isa, reporter);
  ASSERT_TRUE(folder != nullptr && toolchain);
  for (const char* flag : {"-pthread", "-fopenmp", "-Wall", "-Wextra", "-Werror"})
    toolchain->flags.emplace_back(flag);
  EmitOptions options;
  options.name = "digits";
  const std::vector<OutputFile> files = emit(*program, options);
  ASSERT_TRUE(cli::write_files(files, folder->path(), reporter));
  const std::vector<std::string> shown = programs_in(contents("docs/threads.md"));
  EXPECT_EQ(shown.size(), 3U);
  for (const std::string& text : shown) {
    std::vector<cli::Source> sources;
    sources.emplace_back("main.cpp");
    for (const OutputFile& file : files) {
      if (std::filesystem::path(file.path).extension() == ".cc") sources.emplace_back(file.path);
    }
    std::ofstream(folder->path() / "main.cpp") << text;
    const auto built = cli::build_program(folder->path(), sources, "program", *toolchain, reporter);
    ASSERT_TRUE(built) << text;
    const auto result = cli::run_process({built->program.string()}, std::chrono::minutes(1));
    EXPECT_TRUE(result.succeeded()) << cli::describe(result) << "\n" << text;
  }
}

// Small networks do not use memory twice, so that cores keep their lines of the cache.
TEST(SeveralThreads, HaveSmallTensorsApart) {
  const auto program = digits(2);
  ASSERT_NE(program, nullptr);
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const Buffer& buffer : program->buffers) {
    if (buffer.home == Home::kArena) places.emplace_back(buffer.arena_offset, buffer.bytes);
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i) {
    EXPECT_GE(places[i].first, places[i - 1].first + places[i - 1].second + kArenaSlack);
  }
}

// Shares do not read before others write: no output overlaps an input of theirs.
TEST(SeveralThreads, DoNotShareMemoryWithWhatTheyRead) {
  for (const Case& each : small_networks(40)) {
    const auto program = divided(each, "avx2", 2);
    ASSERT_NE(program, nullptr);
    for (const OverlapRule& rule : overlap_rules(*program)) {
      const Buffer& output = program->buffers[static_cast<std::size_t>(rule.output)];
      EXPECT_FALSE(is_divided(program->steps[static_cast<std::size_t>(output.first_step)]));
    }
  }
}

}  // namespace
}  // namespace etch
