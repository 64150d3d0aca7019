// Networks with a state: generated code that keeps an output for the next inference computes what
// a recurrence in plain C++ does, over several frames and streams, through both interfaces.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/report/report.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "compiler/targets/targets.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

constexpr int kSize = 3;
constexpr int kFrames = 4;

// y = a + b + x. The next a is b itself, the next b is a + b + x: writing one of them over what is
// still to be read would show.
ModelBuilder network() {
  ModelBuilder out;
  out.input("a", DType::kF32, {kSize}).input("x", DType::kF32, {kSize});
  out.input("b", DType::kF32, {kSize});
  out.node("Add", {"a", "b"}, {"sum"}).node("Add", {"sum", "x"}, {"b_out"});
  out.node("Identity", {"b"}, {"a_out"}).node("Identity", {"b_out"}, {"y"});
  out.output("b_out").output("y").output("a_out");
  return out;
}

float input_at(int frame, std::size_t i) {
  return static_cast<float>(frame * 5 + static_cast<int>(i) - 3);
}

using Values = std::vector<float>;
const Values kZeros = {0, 0, 0};

// What the frames' y are, one number a line.
std::string expected_text(Values a = kZeros, Values b = kZeros) {
  std::string out;
  for (int frame = 0; frame < kFrames; ++frame) {
    for (std::size_t i = 0; i < kSize; ++i) {
      const float y = a[i] + b[i] + input_at(frame, i);
      a[i] = b[i];
      b[i] = y;
      out += cat(static_cast<int>(y), "\n");
    }
  }
  return out;
}

std::unique_ptr<Program> program_for(const std::string& model, std::string_view target,
                                     const std::vector<StateRequest>& states, Sink& sink) {
  CompileOptions options;
  options.target = target;
  options.states = states;
  return compile(model, options, sink);
}

// Two streams: one for each interface.
constexpr char kMain[] = R"(#include "net.h"
#include <stdio.h>
#include <string.h>
alignas(net::kArenaAlignment) static unsigned char arena[net::kArenaBytes + 1];
static void print(const float* y) {
  for (int i = 0; i < 3; ++i) printf("%d\n", static_cast<int>(y[i]));
}
int main() {
  net::State state;
  memset(state.bytes, 0xA5, sizeof state.bytes);
  for (int c = 0; c < 2; ++c) {
    if (c == 0) net::reset(state); else net_reset(&state);
    for (int frame = 0; frame < 4; ++frame) {
      float x[3], y[3];
      for (int i = 0; i < 3; ++i) x[i] = static_cast<float>(frame * 5 + i - 3);
      if (c == 0) net::run(state, x, y, arena); else net_run(&state, x, y, arena);
      print(y);
    }
  }
}
)";

// What kMain prints with the program's code.
std::string output_of(const Program& program, FileLayout layout = FileLayout::kSingleFile) {
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto folder = cli::WorkFolder::make({}, reporter);
  if (folder == nullptr) return "no folder";
  EmitOptions options;
  options.name = "net";
  options.layout = layout;
  const std::vector<OutputFile> files = emit(program, options);
  if (!cli::write_files(files, folder->path(), reporter)) return "nothing is written";
  std::ofstream(folder->path() / "main.cc") << kMain;
  std::vector<std::string> command = {"g++",     "-std=c++17", "-O2", "-Wall",   "-Wextra",
                                      "-Werror", "-I.",        "-o",  "program", "main.cc"};
  for (const std::string& flag : target_flags(program.isa.name)) command.push_back(flag);
  for (const OutputFile& file : files) {
    if (file.path.ends_with(".cc")) command.push_back(file.path);
  }
  const auto built = cli::run_process(command, std::chrono::minutes(2), folder->path());
  if (!built.succeeded()) return built.errors;
  return cli::run_process({(folder->path() / "program").string()}, std::chrono::minutes(1),
                          folder->path())
      .output;
}

class Streaming : public testing::TestWithParam<const char*> {};

TEST_P(Streaming, GeneratedCodeKeepsWhatTheNextFrameNeeds) {
  const std::string target = GetParam();
  if (!target_runs_here(target)) GTEST_SKIP() << target;
  Sink sink;
  const auto program =
      program_for(network().bytes(), target, {{"a_out", "a"}, {"b_out", "b"}}, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  EXPECT_EQ(output_of(*program), expected_text() + expected_text());
}

TEST(StreamingReport, SaysWhichTensorsAreNoParameters) {
  Sink sink;
  const auto program =
      program_for(network().bytes(), "scalar", {{"a_out", "a"}, {"b_out", "b"}}, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  const std::string page = report_html(gather_report(*program, {}, {}));
  const auto row = [&](const std::string& in_run, const std::string& name) {
    const std::string text = cat("<td class=\"mono\">", in_run, "</td><td>", name, "</td>");
    return page.find(text) != std::string::npos;
  };
  for (const char* const state : {"a", "b", "a_out", "b_out"}) EXPECT_TRUE(row("in State", state));
  EXPECT_TRUE(row("x", "x"));
  EXPECT_TRUE(row("y", "y"));
}

const Values kA = {7, -8, 9}, kB = {100, 0, -300};
Tensor f(const Values& values) { return Tensor::of<float>({3}, values); }

// The file says what `a` begins with, the option what `b` does.
std::unique_ptr<Program> program_with_initial_values(std::string_view target, Sink& sink,
                                                     const Values& b = kB) {
  CompileOptions options;
  options.target = target;
  options.states = {{"a_out", "a"}, {"b_out", "b"}};
  options.initial_states = {{"b", f(b)}};
  ModelBuilder model = network();
  return compile(model.initializer("a", f(kA)).bytes(), options, sink);
}

TEST_P(Streaming, ResetWritesTheInitialValues) {
  const std::string target = GetParam();
  if (!target_runs_here(target)) GTEST_SKIP() << target;
  Sink sink;
  const auto program = program_with_initial_values(target, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  for (const FileLayout layout : {FileLayout::kSingleFile, FileLayout::kFolder})
    EXPECT_EQ(output_of(*program, layout), expected_text(kA, kB) + expected_text(kA, kB));
}

std::string file_named(const std::vector<OutputFile>& files, std::string_view path) {
  for (const OutputFile& file : files) {
    if (file.path == path) return file.content;
  }
  return {};
}

TEST(StreamingCode, HasOneArrayForEachStateThatDoesNotBeginWithZeros) {
  EmitOptions options;
  options.name = "net";
  Sink sink;
  const auto files_for = [&](const Values& b) {
    return emit(*program_with_initial_values("scalar", sink, b), options);
  };
  const std::vector<OutputFile> both = files_for(kB), one = files_for(kZeros);
  EXPECT_NE(file_named(both, "net.cc").find(R"(void reset(State& state) noexcept {
  memset(state.bytes, 0, kStateBytes);
  memcpy(state.bytes + 0, steps::state0_initial, 12);
  memcpy(state.bytes + 16, steps::state1_initial, 12);
})"),
            std::string::npos)
      << file_named(both, "net.cc");
  EXPECT_NE(file_named(both, "net.h").find("but state0 and state1 to their initial values"),
            std::string::npos);
  EXPECT_NE(file_named(both, "net.h").find("kFlashBytes = 24;"), std::string::npos);
  EXPECT_NE(file_named(both, "report.json").find("\"initial\""), std::string::npos);
  EXPECT_EQ(file_named(one, "net.cc").find("state1_initial"), std::string::npos);
  EXPECT_NE(file_named(one, "net.h").find("but state0 to its initial value:"), std::string::npos);
  EXPECT_NE(file_named(one, "net.h").find("kFlashBytes = 12;"), std::string::npos);
}

// -0 is not 0.
TEST(StreamingCode, KeepsTheSignOfAZero) {
  Sink sink;
  const auto program = program_with_initial_values("scalar", sink, {0, -0.0F, 0});
  ASSERT_NE(program, nullptr) << errors_of(sink);
  EXPECT_NE(program->inputs[2].initial, nullptr);
}

// Targets: one without vectors and one with; the state is the same text for all.
INSTANTIATE_TEST_SUITE_P(Targets, Streaming, testing::Values("scalar", "avx2"));

TEST(StreamingMetadata, IsTakenAsTheOption) {
  ModelBuilder builder = network();
  auto* entry = builder.proto().add_metadata_props();
  entry->set_key("etch.state");
  entry->set_value("b_out=b");
  Sink sink;
  const auto program = program_for(builder.bytes(), "scalar", {}, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  EXPECT_EQ(program->inputs[2].identifier, "state0");
  EXPECT_EQ(program->outputs[0].identifier, "next0");
  const std::vector<Diagnostic> said = sink.sorted();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].severity, Severity::kNote);
  entry->set_value("b_out");
  Sink wrong;
  EXPECT_EQ(program_for(builder.bytes(), "scalar", {}, wrong), nullptr);
  EXPECT_NE(errors_of(wrong).find("E-ATTR"), std::string::npos);
}

// Each variant has a State of its own type.
TEST(StreamingVariants, AllReadAndWriteOneState) {
  Sink sink;
  auto program =
      program_for(network().bytes(), kMultiTarget, {{"a_out", "a"}, {"b_out", "b"}}, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto built = cli::Network::build(std::move(program), cli::Timing::kNone, {}, reporter);
  ASSERT_NE(built, nullptr);
  const auto outputs = built->run({{f({1, 2, 3}), f({10, 20, 30}), f({4, 5, 6})}}, reporter);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(outputs->front(),
            (std::vector<Tensor>{f({15, 27, 39}), f({15, 27, 39}), f({4, 5, 6})}));
}

// The code of the variant that any CPU runs: it alone may be called before the choice.
TEST(StreamingVariants, AreResetByTheOneThatAnyCpuRuns) {
  Sink sink;
  const auto program = program_with_initial_values(kMultiTarget, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  EmitOptions options;
  options.name = "net";
  const std::string last(program->variants.back().isa.name);
  EXPECT_NE(
      file_named(emit(*program, options), "net.cc").find(cat("  net_", last, "_reset(&state);")),
      std::string::npos);
}

}  // namespace
}  // namespace etch
