// Inputs that a model needs to be constants: refused with the option that gives them, taken from
// --constant, and found in test data where every data set has the same.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/host/process.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/cli.h"
#include "tests/support/model_builder.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// y = Reshape(x, shape), z = y + addend: input 1 decides a shape.
class ConstantInputs : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ModelBuilder model;
    model.input("x", DType::kF32, {2, 3});
    model.input("shape", DType::kS64, {2});
    model.input("addend", DType::kF32, {1});
    model.node("Reshape", {"x", "shape"}, {"y"});
    model.node("Add", {"y", "addend"}, {"z"});
    model.output("z");
    write("model.onnx", model.bytes());
    write_data(0, {3, 2});
    write_data(1, {3, 2});
  }

  fs::path model_path() const { return folder_ / "model.onnx"; }

  void write_data(int number, const std::vector<std::int64_t>& shape) const {
    const std::string data = "test_data_set_" + std::to_string(number);
    fs::create_directories(folder_ / data);
    const auto store = [&](const std::string& name, const Tensor& tensor) {
      write(data + "/" + name + ".pb", tensor_file(tensor, name));
    };
    store("input_0", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
    store("input_1", Tensor::of<std::int64_t>({2}, shape));
    store("input_2", Tensor::of<float>({1}, {10}));
    store("output_0", Tensor::of<float>(shape, {11, 12, 13, 14, 15, 16}));
  }
};

TEST_F(ConstantInputs, AreRefusedWithTheOptionThatGivesThem) {
  const ProcessResult result = etch({"inspect", model_path().string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("give it with --constant shape=N,... or shape=FILE.pb"),
            std::string::npos)
      << result.errors;
}

TEST_F(ConstantInputs, AreTakenFromTheOption) {
  const std::string file = (folder_ / "test_data_set_0/input_1.pb").string();
  const ProcessResult result =
      etch({"check", model_path().string(), "--target", "scalar", "--constant", "shape=" + file});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
}

TEST_F(ConstantInputs, AreFoundBesideTheModelOfAFolder) {
  const ProcessResult result = etch({"check", folder_.string(), "--target", "scalar"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
}

TEST_F(ConstantInputs, AreNumbersOfTheDeclaredType) {
  const auto check = [&](const std::string& numbers) {
    return etch(
        {"check", model_path().string(), "--target", "scalar", "--constant", "shape=" + numbers});
  };
  EXPECT_EQ(check("3,2").exit_code, 0);
  EXPECT_NE(check("3,1.5").errors.find("--constant has a number that is no int64"),
            std::string::npos);
  for (const char* const not_finite : {"nan", "-inf"}) {
    EXPECT_NE(check(not_finite).errors.find("--constant has a number that is no int64"),
              std::string::npos);
  }
  EXPECT_NE(check("1,3,2").errors.find("--constant has 3 numbers for the shape [2]"),
            std::string::npos);
}

TEST_F(ConstantInputs, AreFoundInTestData) {
  const ProcessResult result = etch({"check", model_path().string(), "--target", "scalar"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_NE(result.errors.find("input 'shape': is taken as the constant that input_1.pb"),
            std::string::npos)
      << result.errors;
}

TEST_F(ConstantInputs, AreNotTakenFromTestDataThatDisagrees) {
  write_data(1, {6, 1});
  const ProcessResult result = etch({"check", model_path().string(), "--target", "scalar"});
  EXPECT_EQ(result.exit_code, 2) << result.output << result.errors;
}

TEST_F(ConstantInputs, ThatTheModelDoesNotHaveAreNamed) {
  const std::string file = (folder_ / "test_data_set_0/input_1.pb").string();
  const ProcessResult result =
      etch({"inspect", model_path().string(), "--constant", "shade=" + file});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("--constant shade=... names no input"), std::string::npos)
      << result.errors;
}

TEST_F(ConstantInputs, ServeFitToo) {
  const std::string file = (folder_ / "test_data_set_0/input_1.pb").string();
  const ProcessResult result =
      etch({"fit", model_path().string(), "--ram", "1M", "--flash", "1M", "--estimate", "--target",
            "scalar", "--constant", "shape=" + file});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
}

// Another value is another program, and its folder says so.
TEST_F(ConstantInputs, AreToldApartByWhatFoldersSayOfThem) {
  write_data(1, {6, 1});
  const auto header = [&](const std::string& number) {
    const std::string file = (folder_ / ("test_data_set_" + number) / "input_1.pb").string();
    const ProcessResult result =
        etch({"compile", model_path().string(), "--target", "scalar", "--name", "net", "-o",
              path("out" + number), "--constant", "shape=" + file});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    const std::string text = contents(folder_ / ("out" + number) / "net.h");
    return text.substr(text.find("--constant shape="), 40);
  };
  EXPECT_NE(header("0"), header("1"));
}

// The command that a folder says makes it again, to the byte.
TEST_F(ConstantInputs, AreNumbersInTheCommandThatMakesTheFolderAgain) {
  const auto compile = [&](std::vector<std::string> words, const std::string& out) {
    words.insert(words.begin(), {"compile", model_path().string(), "-o", path(out)});
    const ProcessResult result = etch(words);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
  };
  compile({"--target", "scalar", "--name", "net", "--constant", "shape=3,2"}, "first");
  const std::string text = contents(folder_ / "first/net.h");
  const std::string before = "// etch compile MODEL.onnx -o DIR ";
  const std::size_t at = text.find(before);
  ASSERT_NE(at, std::string::npos);
  std::string line = text.substr(at + before.size());
  line = line.substr(0, line.find("\ninline "));
  for (std::size_t i = 0; (i = line.find("\n// ", i)) != std::string::npos;)
    line.replace(i, 4, " ");
  EXPECT_NE(line.find("--constant shape=3,2"), std::string::npos) << line;
  std::istringstream words(line);
  compile({std::istream_iterator<std::string>(words), {}}, "second");
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "first")) {
    if (!entry.is_regular_file()) continue;
    const auto name = std::filesystem::relative(entry.path(), folder_ / "first");
    EXPECT_EQ(contents(entry.path()), contents(folder_ / "second" / name)) << name;
    ++compared;
  }
  EXPECT_GE(compared, 5U);
}

TEST_F(ConstantInputs, AreNotRoundedToOtherIntegers) {
  const auto inspect = [&](const std::string& number) {
    return etch({"inspect", model_path().string(), "--constant", "shape=" + number});
  };
  const ProcessResult odd = inspect("9007199254740993");  // 2^53 + 1
  EXPECT_EQ(odd.exit_code, 1);
  EXPECT_NE(odd.errors.find("such large integers are read from a file"), std::string::npos)
      << odd.errors;
  EXPECT_EQ(inspect("-9007199254740994").errors.find("large integers"), std::string::npos);
}

TEST_F(ConstantInputs, ThatHaveAValueInTheFileAreNotGivenAnother) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2, 3}).input("shape", DType::kS64, {2});
  model.initializer("shape", Tensor::of<std::int64_t>({2}, {3, 2}));
  model.node("Reshape", {"x", "shape"}, {"y"});
  model.output("y");
  const std::string file = (folder_ / "test_data_set_0/input_1.pb").string();
  const ProcessResult result =
      etch({"inspect", write("default.onnx", model.bytes()), "--constant", "shape=" + file});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("has a value in the file"), std::string::npos) << result.errors;
}

}  // namespace
}  // namespace etch::cli
