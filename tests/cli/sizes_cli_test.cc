// --dim 'SYM<=N' from outside: data sets of different sizes, both interfaces of the generated code
// and its answer to sizes that are none, and the messages of what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/cli.h"
#include "tests/support/model_builder.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// y = x + 1, z = the sum of all x: [1, seq, 2] and [1, 1, 2].
class Sizes : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ModelBuilder model;
    model.input("x", DType::kF32, {std::int64_t{1}, "seq", std::int64_t{2}});
    model.initializer("one", Tensor::of<float>({1}, {1}));
    model.initializer("axes", Tensor::of<std::int64_t>({1}, {1}));
    model.node("Add", {"x", "one"}, {"y"}).node("ReduceSum", {"x", "axes"}, {"z"});
    model.output("y").output("z");
    write("model.onnx", model.bytes());
  }

  std::string model() const { return path("model.onnx"); }

  void write_data(int number, std::int64_t size, float last = 0) const {
    const std::string data = cat("test_data_set_", number);
    fs::create_directories(folder_ / data);
    std::vector<float> x, y, z = {0, last};
    for (std::int64_t i = 0; i < 2 * size; ++i) {
      x.push_back(static_cast<float>(i % 7));
      y.push_back(x.back() + 1);
      z[static_cast<std::size_t>(i % 2)] += x.back();
    }
    const auto store = [&](const std::string& name, const Tensor& tensor) {
      write(data + "/" + name + ".pb", tensor_file(tensor, name));
    };
    store("input_0", Tensor::of<float>({1, size, 2}, x));
    store("output_0", Tensor::of<float>({1, size, 2}, y));
    store("output_1", Tensor::of<float>({1, 1, 2}, z));
  }

  ProcessResult compile(std::vector<std::string> options) const {
    options.insert(options.begin(), {"compile", model(), "-o", path("out"), "--name", "net"});
    return etch(options);
  }
};

TEST_F(Sizes, EachDataSetIsCheckedWithItsOwn) {
  write_data(0, 3);
  write_data(1, 1);
  write_data(2, 9);
  const ProcessResult result = etch({"check", model(), "--target", "scalar", "--dim", "seq<=9"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("6 of 6 outputs exact, 3 data sets"), std::string::npos)
      << result.output;
  write_data(1, 1, 0.5F);
  EXPECT_EQ(etch({"check", model(), "--target", "scalar", "--dim", "seq<=9"}).exit_code, 4);
}

TEST_F(Sizes, DataOfASizeAboveTheBoundIsRefused) {
  write_data(0, 10);
  const ProcessResult result = etch({"check", model(), "--target", "scalar", "--dim", "2<=seq<=9"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("holds float32[1, 10, 2], which are the model's inputs for no 'seq' "
                               "from 2 to 9"),
            std::string::npos)
      << result.errors;
}

TEST_F(Sizes, RunStoresOutputsOfTheInputsSize) {
  write_data(0, 4);
  const ProcessResult result = etch({"run", model(), "--target", "scalar", "--dim", "seq<=9",
                                     "--data", path("test_data_set_0"), "-o", path("outputs")});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(contents(folder_ / "outputs/output_0.pb").size(),
            contents(folder_ / "test_data_set_0/output_0.pb").size());
}

// Prints, for sizes within the range and outside, what run() says and writes, and whether anything
// else was written.
constexpr char kCpp[] = R"(#include "net.h"
#include <stdio.h>
#include <string.h>
extern "C" int in_c(const float* x, float* y, float* z, void* arena, size_t seq);
alignas(net::kArenaAlignment) static unsigned char arena[net::kArenaBytes];
static_assert(net::kMinSeq == 2 && net::kMaxSeq == 5, "as asked for");
static_assert(net::kInput0Elements == 10 && net::input0_elements(3) == 6, "two for each");
static_assert(net::output0_elements(5) == net::kOutput0Elements, "the greatest");
int main() {
  const size_t sizes[] = {0, 1, 2, 3, 5, 6, ~size_t{0}};
  for (const size_t seq : sizes) {
    for (int c = 0; c < 2; ++c) {
      float x[10], y[10], z[2];
      for (int i = 0; i < 10; ++i) x[i] = static_cast<float>(i);
      for (float& each : y) each = -1;
      for (float& each : z) each = -1;
      memset(arena, 0x5A, sizeof arena);
      const bool done = c == 0 ? net::run(x, y, z, arena, seq) : in_c(x, y, z, arena, seq) != 0;
      int written = 0;
      while (written < 10 && y[written] == static_cast<float>(written + 1)) ++written;
      bool rest = true;
      for (int i = written; i < 10; ++i) rest = rest && y[i] == -1.0F;
      bool touched = false;
      for (unsigned char each : arena) touched = touched || each != 0x5A;
      printf("%d %d %d %d %s\n", done, written, static_cast<int>(z[0]), rest,
             !done && touched ? "touched" : "ok");
    }
  }
}
)";
constexpr char kC[] = R"(#include "net.h"
int in_c(const float* x, float* y, float* z, void* arena, size_t seq);
int in_c(const float* x, float* y, float* z, void* arena, size_t seq) {
  if (net_input0_elements(NET_MAX_SEQ) != NET_INPUT0_ELEMENTS || NET_MIN_SEQ != 2) return -1;
  return net_run(x, y, z, arena, seq);
}
)";

TEST_F(Sizes, OutsideOfTheRangeRunReturnsFalseAndTouchesNothing) {
  ASSERT_EQ(compile({"--target", "scalar", "--single-file", "--dim", "2<=seq<=5"}).exit_code, 0);
  std::ofstream(folder_ / "out/main.cc") << kCpp;
  std::ofstream(folder_ / "out/in_c.c") << kC;
  const auto in_folder = [&](const std::vector<std::string>& command) {
    return run_process(command, std::chrono::minutes(2), folder_ / "out");
  };
  const auto c =
      in_folder({"gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "in_c.c"});
  ASSERT_TRUE(c.succeeded()) << c.errors;
  const auto built =
      in_folder({"g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
                 "-Wsign-conversion", "-Wshadow", "-Werror", "-fno-exceptions", "-fno-rtti",
                 "main.cc", "net.cc", "in_c.o", "-o", "program"});
  ASSERT_TRUE(built.succeeded()) << built.errors;
  const auto ran = in_folder({path("out/program")});
  ASSERT_TRUE(ran.succeeded());
  std::string expected;
  for (const char* const line : {"0 0 -1 1 ok\n", "0 0 -1 1 ok\n", "1 4 2 1 ok\n", "1 6 6 1 ok\n",
                                 "1 10 20 1 ok\n", "0 0 -1 1 ok\n", "0 0 -1 1 ok\n"}) {
    expected += cat(line, line);
  }
  EXPECT_EQ(ran.output, expected);
}

// y and z: the pixels of even lines and columns, whose number no formula gives. It is also how long
// the loop over them is.
TEST_F(Sizes, ElementsThatFollowNoFormulaAreATableOfEachFunction) {
  ModelBuilder model;
  model.input("x", DType::kF32, {std::int64_t{1}, std::int64_t{1}, "elements", "elements"});
  model.node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Ints{1, 1}}, {"strides", Ints{2, 2}}});
  model.node("Abs", {"y"}, {"z"}).output("y").output("z");
  write("model.onnx", model.bytes());
  const ProcessResult compiled =
      compile({"--target", "scalar", "--single-file", "--dim", "elements<=9"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.errors;
  std::ofstream(folder_ / "out/user.cc") << R"(#include "net.h"
static_assert(net::output0_elements(1) == 1 && net::output0_elements(4) == 4, "y");
static_assert(net::output1_elements(7) == 16 && net::output1_elements(9) == 25, "z");
)";
  std::ofstream(folder_ / "out/user.c") << R"(#include "net.h"
int main(void) { return net_output0_elements(7) == 16 && net_output1_elements(4) == 4 ? 0 : 1; }
)";
  const auto in_folder = [&](const std::vector<std::string>& command) {
    return run_process(command, std::chrono::minutes(2), folder_ / "out");
  };
  const std::vector<std::string> strict = {
      "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Werror"};
  const auto build = [&](std::vector<std::string> command) {
    command.insert(command.end(), strict.begin(), strict.end());
    const ProcessResult built = in_folder(command);
    EXPECT_TRUE(built.succeeded()) << built.errors;
  };
  build({"g++", "-std=c++17", "-c", "user.cc", "net.cc"});
  build({"gcc", "-std=c99", "user.c", "-o", "program"});
  EXPECT_TRUE(in_folder({path("out/program")}).succeeded());
}

TEST_F(Sizes, RefusalsNameTheSizeAndWhatHelps) {
  struct Refusal {
    std::vector<std::string> options;
    int exit_code;
    const char* words;
  };
  const Refusal refusals[] = {
      {{"--dim", "seq<=1"}, 1, "expected NAME<=N with N >= 2"},
      {{"--dim", "0<=seq<=9"}, 1, "LEAST<=NAME<=N with 1 <= LEAST < N"},
      {{"--dim", "seq<=9", "--dim", "batch<=4"}, 2, "only one size can have a bound: fix 'batch'"},
      {{"--dim", "seq<=9", "--dim", "seq=4"}, 2, "gives 'seq' a bound and also one size"},
      {{"--dim", "0<=seq<=9"}, 1, "expected NAME<=N with N >= 2"},
      {{"--dim", "seq<=9999"}, 2, "asks for 9999 sizes of 'seq', each of which is compiled"},
      {{"--dim", "seq<=9", "--threads", "2"}, 2, "cannot have several threads; --dim seq=N"},
      {{"--dim", "seq<=9", "--target", "x86-64-multi"}, 2, "cannot have the target x86-64-multi"},
      {{"--dim", "seq<=9", "--arena-limit", "1M"}, 2, "cannot have a limit of arena or flash"},
      {{"--dim", "seq<=9", "--evidence", path("claims")}, 1, "--evidence is about one size"},
      {{"--dim", "seq=4", "--dim", "other<=9"}, 2, "no input's size depends on it"},
  };
  for (const Refusal& each : refusals) {
    const ProcessResult result = compile(each.options);
    EXPECT_EQ(result.exit_code, each.exit_code) << each.words;
    EXPECT_NE(result.errors.find(each.words), std::string::npos) << result.errors;
    EXPECT_FALSE(fs::exists(folder_ / "out")) << each.words;
  }
}

// A kernel of 3 needs as many frames.
TEST_F(Sizes, ASizeThatDoesNotCompileIsNamedWithThoseThatDo) {
  ModelBuilder model;
  model.input("x", DType::kF32, {std::int64_t{1}, std::int64_t{1}, "time"});
  model.initializer("w", Tensor::of<float>({1, 1, 3}, {1, 2, 3}));
  model.node("Conv", {"x", "w"}, {"y"}).output("y");
  write("model.onnx", model.bytes());
  const ProcessResult result = compile({"--target", "scalar", "--dim", "time<=6"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("with time = 2: "), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("--dim '3<=time<=6' leaves it out"), std::string::npos)
      << result.errors;
  EXPECT_EQ(compile({"--target", "scalar", "--dim", "3<=time<=6"}).exit_code, 0);
}

}  // namespace
}  // namespace etch::cli
