// Products with weights of 4 bits for Cortex-M cores with SIMD on halfwords: where files store them
// so, or code is to be small, two share a byte, and results are those of the reference, in the
// Native stage and in the emulator. Skipped, with the packages that would help, where compiler or
// emulator is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/toolchain.h"
#include "compiler/kernels/conv/dsp/conv.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/part.h"
#include "tests/support/qdq_model.h"

namespace etch {
namespace {

enum class Kind { kConv, kPixel, kGemm, kMatMul, kSum };

Tensor zero_points(DType type, const Shape& shape, const std::vector<int>& values) {
  Tensor out(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i)
    out.mutable_bytes()[i] = static_cast<std::byte>(values[i]);
  return out;
}

// All scales are powers of two and all sums are small, so that floats of the reference are exact.
class Product {
 public:
  Product(int index, Dice& dice, DType weights) : kind_(Kind(index % 5)), type_(weights) {
    const bool spatial = kind_ == Kind::kConv || kind_ == Kind::kSum;
    in_ = dice.between(1, 23);
    out_ = kind_ == Kind::kSum ? in_ : dice.between(1, 15);
    kernel_ = spatial || kind_ == Kind::kPixel ? dice.between(1, 3) : 1;
    if (kind_ == Kind::kSum) kernel_ = 2 * (kernel_ / 2) + 1;
    size_ = spatial ? kernel_ + dice.between(1, 5) : kernel_;
    rows_ = kind_ == Kind::kMatMul ? dice.between(1, 9) : 1;
    zero_ = type_ == DType::kS4 ? 0 : dice.pick<int>({0, 5, 8, 15});
    mixed_ = type_ == DType::kU4 && index % 7 == 6;  // zero points that one window does not hold
    extreme_ = index % 8 >= 6;
  }

  Case make(int index, Dice& dice) {
    QdqModel qdq(21);
    const bool matrix = kind_ == Kind::kGemm || kind_ == Kind::kMatMul;
    const Shape x = matrix ? Shape{rows_, in_} : Shape{1, in_, size_, size_};
    const DType act = dice.pick<DType>({DType::kU8, DType::kS8});
    // An even one: QLinearAdd rounds after it adds this.
    const int x_zero = 2 * static_cast<int>(dice.between(act == DType::kU8 ? 0 : -64, 50));
    const Tensor zero = zero_points(act, {}, {x_zero});
    const std::string from = qdq.input("x", x, 0.0625F, zero);
    const std::string y = multiply(qdq, from, dice);
    const float y_scale = std::exp2(-9.0F + std::round(std::log2(depth() + 1.0F) / 2));
    if (kind_ == Kind::kSum) {
      const std::string own = qdq.dequantize(qdq.quantize(y, y_scale, zero), y_scale, zero);
      qdq.model().node("Add", {own, from}, {"sum"});
      qdq.output("sum", 2 * y_scale, zero);
    } else {
      qdq.output(y, y_scale, zero);
    }
    return {cat("four_bits_", index), qdq.model().bytes(), {random_bytes(dice, act, x)}};
  }

 private:
  float depth() const { return static_cast<float>(in_ * kernel_ * kernel_); }

  std::string multiply(QdqModel& qdq, const std::string& x, Dice& dice) {
    const int least = type_ == DType::kS4 ? -8 : 0, most = least + 15;
    const Shape shape = kind_ == Kind::kMatMul ? Shape{in_, out_}
                        : kind_ == Kind::kGemm ? Shape{out_, in_}
                                               : Shape{out_, in_, kernel_, kernel_};
    const Tensor bytes = random_bytes(dice, DType::kS8, shape, least, extreme_ ? least : most);
    Tensor w(type_, shape);
    std::ranges::copy(bytes.bytes(), w.mutable_bytes().begin());
    std::vector<float> scale, bias_scale;
    std::vector<std::int32_t> bias;
    std::vector<int> zero;
    for (std::int64_t m = 0; m < out_; ++m) {
      scale.push_back(std::exp2(static_cast<float>(-dice.between(4, 6))));
      bias_scale.push_back(scale.back() * 0.0625F);
      bias.push_back(static_cast<std::int32_t>(dice.between(-3000, 3000)));
      zero.push_back(mixed_ ? static_cast<int>(dice.between(0, 15)) : zero_);
    }
    const bool matmul = kind_ == Kind::kMatMul;
    const std::string weights =
        qdq.weights("w", w, f32({out_}, scale), matmul ? 1 : 0, zero_points(type_, {out_}, zero));
    std::vector<std::string> inputs = {x, weights};
    if (!matmul) inputs.push_back(qdq.weights("b", s32({out_}, bias), f32({out_}, bias_scale)));
    if (matmul) {
      qdq.model().node("MatMul", inputs, {"y"});
    } else if (kind_ == Kind::kGemm) {
      qdq.model().node("Gemm", inputs, {"y"}, {{"transB", std::int64_t{1}}});
    } else {
      const std::int64_t pad = kind_ == Kind::kSum ? kernel_ / 2 : kind_ == Kind::kConv ? 1 : 0;
      qdq.model().node("Conv", inputs, {"y"}, {{"pads", Ints(4, std::min(pad, kernel_ - 1))}});
    }
    return "y";
  }

  Kind kind_;
  DType type_;
  std::int64_t in_ = 1, out_ = 1, kernel_ = 1, size_ = 1, rows_ = 1;
  int zero_ = 0;
  bool mixed_ = false, extreme_ = false;
};

std::vector<Case> products(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 41'000'000);
    Product product(index, dice, index % 2 == 0 ? DType::kS4 : DType::kU4);
    out.push_back(product.make(index, dice));
  }
  return out;
}

// Weights of 8 bits whose values are few, with scales of all kinds.
std::vector<Case> narrow_convolutions(int count) {
  std::vector<Case> out;
  for (int index = 0; index < count; ++index) {
    Dice dice(static_cast<std::uint64_t>(index) + 42'000'000);
    const std::int64_t in = dice.between(9, 40), channels = dice.between(6, 17);
    const std::int64_t kernel = dice.between(2, 3), size = index % 4 == 3 ? kernel : kernel + 4;
    const int zero = static_cast<int>(dice.pick<int>({0, 3, 8, 15})), first = 100 - zero;
    ModelBuilder model(13);
    model.input("x", DType::kU8, {1, in, size, size});
    model.initializer(
        "x_zero", Tensor::of<std::uint8_t>({}, {static_cast<std::uint8_t>(dice.between(0, 255))}));
    model.initializer(
        "w", random_bytes(dice, DType::kU8, {channels, in, kernel, kernel}, first, first + 15));
    model.initializer("w_zero", Tensor::of<std::uint8_t>({}, {100}));
    if (index % 2 == 1) {
      model.node("ConvInteger", {"x", "w", "x_zero", "w_zero"}, {"y"}, {}).output("y");
    } else {
      model.initializer("x_scale", Tensor::of<float>({}, {0.0625F}));
      model.initializer("w_scale", Tensor::of<float>({}, {0.07F}));
      model.node("QLinearConv",
                 {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "x_scale", "x_zero"}, {"y"},
                 {});
      model.output("y");
    }
    out.push_back({cat("narrow_", index),
                   model.bytes(),
                   {random_bytes(dice, DType::kU8, {1, in, size, size})}});
  }
  return out;
}

// How many steps pack their weights so, of tiles and of single pixels.
int nibble_steps(const std::vector<std::unique_ptr<Program>>& programs, DspConvPlan::Form form) {
  int count = 0;
  for (const auto& program : programs) {
    for (const auto& step : program->steps) {
      const auto* const conv = dynamic_cast<const DspConvStep*>(step.get());
      count += conv != nullptr && conv->plan.nibbles && conv->plan.form == form ? 1 : 0;
    }
  }
  return count;
}

// All in the Native stage, each `every`-th in the emulator with ten networks to an image.
void expect_agreement(const std::vector<Case>& all, const char* target, Objective objective,
                      int tiles, int rows, std::size_t every) {
  const IsaTraits& isa = *find_target(target);
  CompileOptions options;
  options.target = target;
  options.objective = objective;
  std::vector<std::unique_ptr<Program>> programs;
  for (const Case& each : all) {
    programs.push_back(compiled(each, options));
    ASSERT_NE(programs.back(), nullptr) << each.name;
    ASSERT_EQ(difference_of(native_outputs(*programs.back(), each.inputs), reference_outputs(each)),
              "")
        << each.name << " on " << target;
  }
  EXPECT_GE(nibble_steps(programs, DspConvPlan::Form::kTiles), tiles) << target;
  EXPECT_GE(nibble_steps(programs, DspConvPlan::Form::kRow), rows) << target;
  const std::string missing = cli::status_of(isa).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  constexpr std::size_t kTogether = 10;
  std::vector<Case> some;
  for (std::size_t i = 0; i < all.size(); i += every) some.push_back(all[i]);
  std::vector<std::size_t> chosen;
  for (const std::size_t i : numbers_in_part(some)) chosen.push_back(i * every);
  for (std::size_t first = 0; first < chosen.size(); first += kTogether) {
    std::vector<BatchEntry> entries;
    const std::size_t count = std::min(kTogether, chosen.size() - first);
    for (std::size_t i = 0; i < count; ++i)
      entries.push_back({programs[chosen[first + i]].get(), &all[chosen[first + i]].inputs});
    const auto outputs = run_generated(entries, isa);
    ASSERT_TRUE(outputs);
    for (std::size_t i = 0; i < count; ++i) {
      const Case& each = all[chosen[first + i]];
      EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(each)), "")
          << each.name << " on " << target;
    }
  }
}

// Targets: those whose rounding differs, and the one with tiles of its own.
TEST(FourBits, ProductsAgreeOnCortexM4) {
  expect_agreement(products(60), "cortex-m4", Objective::kBalanced, 24, 20, 3);
}
TEST(FourBits, ProductsAgreeWithoutAnFpu) {
  expect_agreement(products(30), "cortex-m4-nofp", Objective::kBalanced, 10, 8, 3);
}
TEST(FourBits, ProductsAgreeOnCortexM7) {
  expect_agreement(products(40), "cortex-m7", Objective::kBalanced, 14, 12, 3);
}

// Also of files that store 8 bits, with sums as results and scales that are no powers of two.
TEST(FourBits, WeightsOfFewValuesAgreeInSmallCode) {
  expect_agreement(narrow_convolutions(16), "cortex-m4", Objective::kSize, 8, 4, 3);
  expect_agreement(narrow_convolutions(8), "cortex-m4-nofp", Objective::kSize, 4, 2, 3);
}

// Targets: all others, which keep such weights as 8 bits.
TEST(FourBits, ProductsAgreeInTheNativeStage) { expect_native_agrees(products(24)); }

}  // namespace
}  // namespace etch
