// What the program answers to words that it does not know, to questions about its messages, and to
// files that are no models.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/host/process.h"
#include "compiler/import/tensor_proto.h"
#include "tests/support/cli.h"
#include "tests/support/model_builder.h"

namespace etch::cli {
namespace {

class CliAnswers : public Cli {};

TEST_F(CliAnswers, AsksWhatWasMeant) {
  const auto error = [](const std::vector<std::string>& arguments) {
    const ProcessResult result = etch(arguments);
    EXPECT_EQ(result.exit_code, 1) << testing::PrintToString(arguments);
    return result.errors;
  };
  EXPECT_EQ(error({"comple"}),
            "etch: there is no command 'comple'; did you mean 'compile'? Try etch --help\n");
  EXPECT_EQ(
      error({"check", kDigits, "--tagret", "avx2"}),
      "etch: there is no option '--tagret'; did you mean '--target'? Try etch check --help\n");
  EXPECT_EQ(error({"help", "comple"}), error({"comple"}));
  EXPECT_EQ(error({"comple", "--help"}), error({"comple"}));
  EXPECT_NE(error({"compile", kDigits, "--outptu=x"}).find("did you mean '--output'?"),
            std::string::npos);
  EXPECT_NE(error({"check", kDigits, "-t", "cortex-m44"}).find("did you mean 'cortex-m4'?"),
            std::string::npos);
  EXPECT_NE(error({"explain", "E-QUNAT"}).find("did you mean 'E-QUANT'?"), std::string::npos);
  const ProcessResult cut = etch({"inspect", kDigits, "--cut", "poinwise"});
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_NE(cut.errors.find("; did you mean 'pointwise'?"), std::string::npos) << cut.errors;
}

TEST_F(CliAnswers, SaysWhatQuantizesANetworkOfFloats) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 2}).output("y");
  model.initializer("w", Tensor::of<float>({2, 1}, {1, 2})).node("MatMul", {"x", "w"}, {"y"});
  const std::string file = write("float.onnx", model.bytes());
  constexpr const char* kAdvice = "not quantized (`etch quantize` of the Python package does)\n";
  const ProcessResult inspected = etch({"inspect", file});
  EXPECT_NE(inspected.output.find(kAdvice), std::string::npos) << inspected.output;
  const ProcessResult compiled = etch({"compile", file, "-o", path("net")});
  EXPECT_NE(compiled.output.find(kAdvice), std::string::npos) << compiled.output;
  EXPECT_EQ(etch({"inspect", kDigits}).output.find("etch quantize"), std::string::npos);
}

TEST_F(CliAnswers, TakesANodeForItsOutputInCuts) {
  EXPECT_EQ(etch({"inspect", kDigits, "--cut", "pointwise"}).exit_code, 0);
}

TEST_F(CliAnswers, HelpIsAlsoACommand) {
  EXPECT_EQ(etch({"help"}).output, etch({"--help"}).output);
  EXPECT_EQ(etch({"help", "check"}).output, etch({"check", "--help"}).output);
  EXPECT_EQ(etch({"-V"}).output, etch({"--version"}).output);
}

TEST_F(CliAnswers, ExplainsEveryClassOfErrors) {
  const ProcessResult all = etch({"explain"});
  EXPECT_EQ(all.exit_code, 0);
  std::istringstream codes(all.output);
  int classes = 0;
  for (std::string line; std::getline(codes, line); ++classes) {
    const std::string code = line.substr(0, line.find(' '));
    const ProcessResult one = etch({"explain", code});
    EXPECT_EQ(one.exit_code, 0) << code;
    EXPECT_EQ(one.output.rfind(code + ": ", 0), 0U) << one.output;
    EXPECT_GT(lines(one.output), 1) << code;
  }
  EXPECT_EQ(classes, 14);
  EXPECT_EQ(etch({"explain", "shape"}).output, etch({"explain", "E-SHAPE"}).output);
}

TEST_F(CliAnswers, SaysWhatAFileIsThatIsNoModel) {
  const auto error = [&](const std::string& content) {
    const ProcessResult result = etch({"inspect", write("file.onnx", content)});
    EXPECT_EQ(result.exit_code, 2);
    return result.errors.substr(std::min(result.errors.size(), path("file.onnx").size() + 2));
  };
  EXPECT_EQ(error("version https://git-lfs.github.com/spec/v1\n"),
            "error[E-PARSE]: is a pointer of Git LFS and not the file: run git lfs pull\n");
  EXPECT_NE(error(std::string("\x1c\0\0\0TFL3", 8) + "more").find("tf2onnx"), std::string::npos);
  EXPECT_NE(error("<!DOCTYPE html><html>").find("a web page"), std::string::npos);
  EXPECT_NE(error("PK\x03\x04....net/data.pkl").find("torch.onnx.export"), std::string::npos);
  EXPECT_NE(error("PK\x03\x04....x.npy").find(".npz"), std::string::npos);
  EXPECT_NE(error("PK\x03\x04....x.npy").find("etch record MODEL"), std::string::npos);
  EXPECT_NE(error("\x93NUMPY\x01").find("etch record MODEL"), std::string::npos);
  const std::string whole = contents(kDigits);
  EXPECT_NE(error(whole.substr(0, whole.size() / 2)).find(" bytes too early"), std::string::npos);
  EXPECT_NE(error("").find("is empty"), std::string::npos);
  EXPECT_NE(error("{\"nodes\": []}").find("is JSON"), std::string::npos);
  const auto says_tensor = [&](const std::string& content) {
    return error(content).find("is a tensor (TensorProto), as test data are") != std::string::npos;
  };
  EXPECT_TRUE(says_tensor(tensor_file(Tensor::of<float>({1, 300}, std::vector<float>(300)), "x")));
  EXPECT_TRUE(says_tensor(tensor_file(Tensor::of<std::int64_t>({}, {3}), "x")));
  EXPECT_TRUE(says_tensor(std::string("\x0a\x02\x01\x04\x10\x01", 6)));  // sizes in one field
  // A type that no element has; fewer sizes than are said; no type.
  for (const std::string& bytes : {std::string("\x08\x01\x10\x7f", 4),
                                   std::string("\x0a\x09\x10\x01", 4), std::string("\x08\x01", 2)})
    EXPECT_FALSE(says_tensor(bytes));
}

TEST_F(CliAnswers, SayInPlainWordsWhatIsWrongWithACommand) {
  const auto error = [&](const std::vector<std::string>& words) {
    const ProcessResult result = etch(words);
    EXPECT_EQ(result.exit_code, 1);
    return result.errors.substr(0, result.errors.find("; try etch"));
  };
  EXPECT_EQ(error({"compile", kDigits, "-o"}), "etch: --output needs a value");
  EXPECT_EQ(error({"compile", kDigits, "--evidence", "--force"}),
            "etch: --evidence: expected a value, got the option '--force'");
  EXPECT_EQ(error({"golden"}), "etch: a command is needed: record, verify");
  EXPECT_EQ(error({"targets", "all"}), "etch: 'all' is one word too many");
  EXPECT_EQ(error({"check", kDigits, "--tolerance", "abc"}),
            "etch: --tolerance: expected a number of at least 0, got 'abc'");
  EXPECT_EQ(error({"compile", kDigits, "-o", path("x"), "--threads", "0"}),
            "etch: --threads: expected a number from 1 to 64, got '0'");
  EXPECT_EQ(error({"check", kDigits, "--time-limit", "0"}),
            "etch: --time-limit: expected a number from 0.01 to 1e+06, got '0'");
  EXPECT_EQ(error({"check", kDigits, "--tolerance", "nan"}),
            "etch: --tolerance: expected a number of at least 0, got 'nan'");
}

}  // namespace
}  // namespace etch::cli
