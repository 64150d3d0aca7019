// Limits on what a model's code may compute, hold and take: each is exact, and its message names
// the option that raises it. Those on files are tested in compiler/import/refusals_test.cc.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/cli/options.h"
#include "compiler/compile.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

// A 1x1 convolution of 4 to 4 channels on size x size pixels: 16 * size^2 multiplications.
ModelBuilder conv(std::int64_t size) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 4, size, size});
  model.initializer("s", Tensor::of<float>({}, {0.5F}));
  model.initializer("z", Tensor::of<std::uint8_t>({}, {3}));
  model.initializer("w", Tensor::of<std::int8_t>({4, 4, 1, 1}, std::vector<std::int8_t>(16, 7)));
  model.initializer("wz", Tensor::of<std::int8_t>({}, {0}));
  model.node("QLinearConv", {"x", "s", "z", "w", "s", "wz", "s", "z"}, {"y"}).output("y");
  return model;
}

std::string errors(const ModelBuilder& model, const Limits& limits) {
  Sink sink;
  CompileOptions options;
  options.target = "scalar";
  options.import.limits = limits;
  const auto program = compile(model.bytes(), options, sink);
  EXPECT_NE(program != nullptr, sink.has_errors());
  return errors_of(sink);
}

TEST(Limits, OfWorkArePerByteOfTheModelOrAsGiven) {
  const ModelBuilder model = conv(3000);
  const std::int64_t macs = 16 * 3000 * 3000;
  const auto size = static_cast<std::int64_t>(model.bytes().size());
  Limits limits;
  limits.elements = Limits{}.elements * 4;
  ASSERT_GT(macs, std::max(limits.macs / 2, size * Limits::kMacsPerByte));
  limits.macs = macs;
  EXPECT_EQ(errors(model, limits), "");
  limits.macs = macs - 1;
  EXPECT_EQ(errors(model, limits),
            "model: error[E-LIMIT]: computes 144000000 multiplications, more than 65536 per byte "
            "of the model, and at most 143999999; --limit macs=N raises this\n");
  limits.macs = 1;
  EXPECT_EQ(errors(conv(8), limits), "");  // within what its bytes allow
}

TEST(Limits, OfElementsAreOfInputsAndOfWhatIsComputed) {
  Limits limits;
  limits.elements = 4 * 64;
  EXPECT_EQ(errors(conv(8), limits), "");
  limits.elements = 4 * 64 - 1;
  EXPECT_EQ(errors(conv(8), limits),
            "model: error[E-LIMIT]: input 'x': has the shape [1, 4, 8, 8], of its elements at most "
            "255; --limit elements=N raises this\n");
}

// How many statements there are is the compiler's own matter, so its refusals have to say it: the
// most that is said of a layer may be allowed, and one less is refused.
void expect_exact(std::int64_t Limits::*limit, const std::string& before, const std::string& behind,
                  const std::string& option) {
  Limits limits;
  limits.*limit = 3;
  const std::string said = errors(conv(8), limits);
  std::int64_t count = 0;
  for (std::size_t at = said.find(before); at != said.npos; at = said.find(before, at + 1)) {
    count = std::max<std::int64_t>(count, std::stoll(said.substr(at + before.size())));
  }
  ASSERT_GT(count, 4) << said;
  limits.*limit = count;
  EXPECT_EQ(errors(conv(8), limits), "");
  limits.*limit = count - 1;
  const std::string end =
      cat(before, count, behind, count - 1, "; --limit ", option, "=N raises this\n");
  EXPECT_EQ(errors(conv(8), limits), end);
}

TEST(Limits, OfStatementsAreOfTheWholeNetworkOfALayerAndOfAFunction) {
  expect_exact(&Limits::statements, "model: error[E-LIMIT]: the generated code would have ",
               " statements, at most ", "statements");
  const std::string layer = "model: error[E-LIMIT]: QLinearConv '': its unrolled code would have ";
  expect_exact(&Limits::step_statements, layer, " statements, at most ", "step-statements");
  expect_exact(&Limits::function_statements, layer, " statements in one function, at most ",
               "function-statements");
}

TEST(Limits, OfComputedConstantsEndTheirComputation) {
  ModelBuilder model;
  model.initializer("start", Tensor::of<std::int64_t>({}, {0}));
  model.initializer("limit", Tensor::of<std::int64_t>({}, {10'000}));
  model.initializer("delta", Tensor::of<std::int64_t>({}, {1}));
  model.node("Range", {"start", "limit", "delta"}, {"y"}).output("y");
  Limits limits;
  limits.computed_bytes = 8 * 10'000;
  ASSERT_LT(model.bytes().size() * Limits::kComputedPerByte, 8 * 10'000U);
  EXPECT_EQ(errors(model, limits), "");
  limits.computed_bytes = 8 * 10'000 - 1;
  EXPECT_EQ(errors(model, limits),
            "model: error[E-LIMIT]: node #0 (Range): computed constants and tables would have more "
            "bytes than 16 per byte of the model, and at most 79999; --limit computed-bytes=N "
            "raises this\n");
}

TEST(Limits, OfComputedConstantsNameTheOptionWhereNoCodeCanComputeThem) {
  ModelBuilder model;
  model.initializer("shape", Tensor::of<std::int64_t>({1}, {10'000}));
  model.node("ConstantOfShape", {"shape"}, {"y"}).output("y");
  Limits limits;
  limits.computed_bytes = 4 * 10'000;
  EXPECT_EQ(errors(model, limits), "");
  limits.computed_bytes = 4 * 10'000 - 1;
  EXPECT_EQ(errors(model, limits),
            "model: error[E-LIMIT]: node #0 (ConstantOfShape): its result is constant, but too "
            "large or too much work to be computed here; --limit computed-bytes=N and --limit "
            "operations=N allow more\n");
}

TEST(Limits, AreGivenByName) {
  Limits limits;
  EXPECT_TRUE(cli::set_limit("nodes=12", limits));
  EXPECT_EQ(limits.nodes, 12);
  for (const char* const wrong : {"nodes", "nodes=", "nodes=0", "nodes=-1", "nodes=1000001",
                                  "knots=3", "=3", "nodes=1e3", "macs=99999999999999999999"}) {
    EXPECT_FALSE(cli::set_limit(wrong, limits)) << wrong;
  }
  for (const LimitInfo& info : limit_infos()) {
    EXPECT_LE(Limits{}.*info.member, info.most) << info.name;
    EXPECT_NE(at_most(Limits{}, info.member).find(info.name), std::string::npos) << info.name;
  }
  limits.nodes = 1'000'000;
  EXPECT_EQ(at_most(limits, &Limits::nodes), "at most 1000000");
}

TEST(Sums, ThatCanLeaveInt32AreWarnedOf) {
  ModelBuilder model = conv(2);
  model.initializer("b", Tensor::of<std::int32_t>({4}, {0, INT32_MIN, 0, INT32_MAX}));
  model.last_node().add_input("b");
  model.last_node().set_name("c");
  Sink sink;
  CompileOptions options;
  options.target = "scalar";
  ASSERT_TRUE(compile(model.bytes(), options, sink));
  ASSERT_EQ(sink.sorted().size(), 1U);
  EXPECT_EQ(format(sink.sorted()[0], "model"),
            "model: warning[E-QUANT]: QLinearConv 'c': sums can be -2147483732 to 2147490703, "
            "outside int32, and then wrap; are bias and weights right?");
}

}  // namespace
}  // namespace etch
