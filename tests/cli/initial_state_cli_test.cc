// What a state begins with, from the command line: the option, the file's own value, test data;
// what folders say of it; and what is said of options that are wrong.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/cli.h"
#include "tests/support/model_builder.h"
#include "tests/support/numpy_files.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// h_out = y = x + h, two frames of x: [1, 2], [10, 20].
class InitialState : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_model(ModelBuilder());
    write_data(0, {1, 2});
    write_data(1, {10, 20});
  }

  void write_model(ModelBuilder model) const {
    model.input("h", DType::kF32, {2}).input("x", DType::kF32, {2});
    model.node("Add", {"x", "h"}, {"h_out"}).node("Identity", {"h_out"}, {"y"});
    write("model.onnx", model.output("y").output("h_out").bytes());
  }
  void write_default() const {
    ModelBuilder model;
    write_model(model.initializer("h", Tensor::of<float>({2}, {100, 200})));
  }

  std::string store(const std::string& name, const std::vector<float>& values) const {
    return write(name, tensor_file(Tensor::of<float>({2}, values), "t"));
  }
  // x is input 1 of a file that says nothing of h, else input 0.
  void write_data(int number, const std::vector<float>& x) const {
    const std::string data = cat("test_data_set_", number);
    fs::create_directories(folder_ / data);
    store(data + "/input_1.pb", x);
  }
  void expect_y(int number, const std::vector<float>& y) const {
    store(cat("test_data_set_", number, "/output_0.pb"), y);
  }

  ProcessResult with_state(const std::string& command, std::vector<std::string> more) const {
    more.insert(more.begin(),
                {command, path("model.onnx"), "--target", "scalar", "--state", "h_out=h"});
    return etch(more);
  }
};

TEST_F(InitialState, OfTheOptionIsWhereTheFirstFrameBegins) {
  expect_y(0, {101, 202});
  expect_y(1, {111, 222});
  const std::string file = store("h.pb", {100, 200});
  const ProcessResult result = with_state("check", {"--initial-state", "h=" + file});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_EQ(with_state("check", {}).exit_code, 4);
  store("test_data_set_0/input_0.pb", {-1, -2});  // the data of the first frame come first
  expect_y(0, {0, 0});
  expect_y(1, {10, 20});
  EXPECT_EQ(with_state("check", {"--initial-state", "h=" + file}).exit_code, 0);
}

// The file has a value for h: its x is input 0.
TEST_F(InitialState, OfTheFileIsUsedWithoutAnOption) {
  write_default();
  for (const int number : {0, 1}) {
    fs::rename(folder_ / cat("test_data_set_", number) / "input_1.pb",
               folder_ / cat("test_data_set_", number) / "input_0.pb");
  }
  expect_y(0, {101, 202});
  expect_y(1, {111, 222});
  const ProcessResult result = with_state("check", {});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  const ProcessResult ran = with_state("run", {"--data", path("test_data_set_0"), "-o", path("o")});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(contents(folder_ / "o/output_0.pb"),
            tensor_file(Tensor::of<float>({2}, {101, 202}), "output_0"));
}

TEST_F(InitialState, IsWhereTheFirstOfSeveralSamplesBegins) {
  write("x.npy", npy_file("<f4", "(2, 2)", float_bytes({1, 2, 10, 20})));
  const std::string file = store("h.pb", {100, 200});
  const ProcessResult ran =
      with_state("run", {"--data", path("x.npy"), "--initial-state", "h=" + file, "-o", path("o")});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(contents(folder_ / "o/test_data_set_0/output_0.pb"),
            tensor_file(Tensor::of<float>({2}, {101, 202}), "output_0"));
  EXPECT_EQ(contents(folder_ / "o/test_data_set_1/output_0.pb"),
            tensor_file(Tensor::of<float>({2}, {111, 222}), "output_0"));
}

TEST_F(InitialState, IsToldApartInFoldersAndNeededToProveThem) {
  const auto compile = [&](const std::string& out, const std::string& file) {
    return with_state("compile",
                      {"-o", path(out), "--name", "net", "--initial-state", "h=" + file});
  };
  const std::string one = store("one.pb", {1, 2}), other = store("other.pb", {3, 4});
  ASSERT_EQ(compile("a", one).exit_code, 0);
  ASSERT_EQ(compile("b", other).exit_code, 0);
  const std::string header = contents(folder_ / "a/net.h");
  EXPECT_NE(header.find("--initial-state"), std::string::npos);
  EXPECT_EQ(header.find("one.pb"), std::string::npos);
  EXPECT_NE(header, contents(folder_ / "b/net.h"));
  const auto prove = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"prove", path("a")});
    return etch(more);
  };
  const ProcessResult without = prove({});
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_NE(without.errors.find("--initial-state is needed"), std::string::npos) << without.errors;
  EXPECT_EQ(prove({"--initial-state", "h=" + other}).exit_code, 3);
}

TEST_F(InitialState, ThatIsWrongIsNamed) {
  const std::string file = store("h.pb", {1, 2});
  const auto errors = [&](const std::vector<std::string>& more, int code) {
    const ProcessResult result = with_state("run", [&] {
      std::vector<std::string> words = {"--data", path("test_data_set_0"), "-o", path("o")};
      words.insert(words.end(), more.begin(), more.end());
      return words;
    }());
    EXPECT_EQ(result.exit_code, code) << result.errors;
    return result.errors;
  };
  EXPECT_NE(errors({"--initial-state", "h"}, 1).find("expected IN=FILE.pb"), std::string::npos);
  EXPECT_NE(errors({"--initial-state", "h=" + file, "--initial-state", "h=" + file}, 1)
                .find("--initial-state gives 'h' twice"),
            std::string::npos);
  errors({"--initial-state", "h=" + path("nothing.pb")}, 3);
  write("damaged.pb", "\x0a\x7f");
  errors({"--initial-state", "h=" + path("damaged.pb")}, 3);
  EXPECT_NE(errors({"--initial-state", "x=" + file}, 2).find("--state OUT=x"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "o"));
}

}  // namespace
}  // namespace etch::cli
