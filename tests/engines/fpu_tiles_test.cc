// Tiles of float sums in the registers of an FPU without vectors, whose loops are assembly:
// products and convolutions with every rest of rows, columns and depth compute what the references
// do. Skipped, with the packages that would help, where compiler or emulator is missing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

// Sums of these depend on the order in which they are rounded.
Tensor thirds(const Shape& shape) {
  Tensor out(DType::kF32, shape);
  for (std::size_t i = 0; i < out.as<float>().size(); ++i)
    out.as<float>()[i] = static_cast<float>(static_cast<int>((i + 5) * 37 % 101) - 50) / 3.0F;
  return out;
}

// Channels of x are side by side, or as far apart as x has rows; with all ends of a product.
Case products_of(std::int64_t depth) {
  Case out{cat("depth ", depth), {}, {}};
  ModelBuilder model(17);
  for (const std::int64_t rows : {1, 4, 9}) {
    for (const std::int64_t transposed : {0, 1}) {
      const std::string x = cat("x", rows, "t", transposed);
      const Shape shape = transposed != 0 ? Shape{depth, rows} : Shape{rows, depth};
      model.input(x, DType::kF32, {shape[0], shape[1]});
      out.inputs.push_back(thirds(shape));
      for (const std::int64_t cols : {4, 8, 21}) {
        const std::string y = cat(x, "c", cols);
        model.initializer("w" + y, thirds({depth, cols}));
        model.initializer("c" + y, thirds({cols}));
        model.node("Gemm", {x, "w" + y, "c" + y}, {"s" + y}, {{"transA", transposed}});
        model.node("Relu", {"s" + y}, {y}).output(y);
        model.initializer("d" + y, thirds({rows, cols}));
        model.node("Gemm", {x, "w" + y, "d" + y}, {"g" + y},
                   {{"transA", transposed}, {"alpha", 0.3F}, {"beta", -1.7F}});
        model.output("g" + y);
      }
    }
  }
  out.model = model.bytes();
  return out;
}

Case convolutions() {
  Case out{"convolutions", {}, {}};
  ModelBuilder model(17);
  for (const std::int64_t in : {1, 3, 4}) {
    const std::string x = cat("x", in);
    model.input(x, DType::kF32, {1, in, 6, 11});
    out.inputs.push_back(thirds({1, in, 6, 11}));
    model.initializer("v" + x, thirds({9, in, 3, 3})).initializer("w" + x, thirds({13, 9, 3, 3}));
    model.node("Conv", {x, "v" + x}, {"a" + x}, {{"pads", Ints{1, 1, 1, 1}}});
    model.node("Conv", {"a" + x, "w" + x}, {"y" + x}, {{"dilations", Ints{1, 2}}});
    model.initializer("u" + x, thirds({4, 9, 3, 3}));
    model.node("Conv", {"a" + x, "u" + x}, {"z" + x}, {{"strides", Ints{2, 1}}}).output("z" + x);
    model.output("y" + x);
  }
  out.model = model.bytes();
  return out;
}

Case packed_weights() {
  Case out{"packed weights", {}, {}};
  ModelBuilder model(17);
  model.opset("com.microsoft", 1);
  Tensor packed(DType::kU8, {22, 2, 8});
  for (std::size_t i = 0; i < packed.mutable_bytes().size(); ++i)
    packed.mutable_bytes()[i] = static_cast<std::byte>(i * 71);
  model.initializer("w", packed).initializer("s", thirds({22, 2}));
  model.input("x", DType::kF32, {6, 19});
  out.inputs.push_back(thirds({6, 19}));
  model.node("MatMulNBits", {"x", "w", "s"}, {"y"},
             {{"K", std::int64_t{19}},
              {"N", std::int64_t{22}},
              {"bits", std::int64_t{4}},
              {"block_size", std::int64_t{16}}},
             "com.microsoft");
  model.output("y");
  out.model = model.bytes();
  return out;
}

class FpuTiles : public testing::TestWithParam<const char*> {};

TEST_P(FpuTiles, AgreeWithTheReference) {
  std::vector<Case> cases = {convolutions(), packed_weights()};
  for (const std::int64_t depth : {1, 2, 4, 7}) cases.push_back(products_of(depth));
  expect_compiled_agrees(cases, GetParam());
}

// Targets: an FPU without vectors of exact floats.
INSTANTIATE_TEST_SUITE_P(Cross, FpuTiles, testing::Values("cortex-m4", "cortex-r5", "armv7-neon"),
                         name_of_target);

}  // namespace
}  // namespace etch
