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

float input_at(int frame, int i) { return static_cast<float>(frame * 5 + i - 3); }

// What the frames' y are, one number a line.
std::string expected_text() {
  std::string out;
  float a[kSize] = {}, b[kSize] = {};
  for (int frame = 0; frame < kFrames; ++frame) {
    for (int i = 0; i < kSize; ++i) {
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

class Streaming : public testing::TestWithParam<const char*> {};

TEST_P(Streaming, GeneratedCodeKeepsWhatTheNextFrameNeeds) {
  const std::string target = GetParam();
  if (!target_runs_here(target)) GTEST_SKIP() << target;
  Sink sink;
  const auto program =
      program_for(network().bytes(), target, {{"a_out", "a"}, {"b_out", "b"}}, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto folder = cli::WorkFolder::make({}, reporter);
  ASSERT_NE(folder, nullptr);
  EmitOptions options;
  options.name = "net";
  options.layout = FileLayout::kSingleFile;
  ASSERT_TRUE(cli::write_files(emit(*program, options), folder->path(), reporter));
  std::ofstream(folder->path() / "main.cc") << kMain;
  std::vector<std::string> command = {"g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror"};
  for (const std::string& flag : target_flags(target)) command.push_back(flag);
  for (const char* word : {"main.cc", "net.cc", "-o", "program"}) command.emplace_back(word);
  const auto built = cli::run_process(command, std::chrono::minutes(2), folder->path());
  ASSERT_TRUE(built.succeeded()) << built.errors;
  const auto ran = cli::run_process({(folder->path() / "program").string()},
                                    std::chrono::minutes(1), folder->path());
  ASSERT_TRUE(ran.succeeded());
  EXPECT_EQ(ran.output, expected_text() + expected_text());
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
  const auto f = [](const std::vector<float>& values) { return Tensor::of<float>({3}, values); };
  const auto outputs = built->run({{f({1, 2, 3}), f({10, 20, 30}), f({4, 5, 6})}}, reporter);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(outputs->front(),
            (std::vector<Tensor>{f({15, 27, 39}), f({15, 27, 39}), f({4, 5, 6})}));
}

}  // namespace
}  // namespace etch
