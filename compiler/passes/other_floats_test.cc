// Networks of float16, bfloat16 and float64: what is computed of them, and where it is rounded.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "runtime/etch_half.h"
#include "tests/support/model_builder.h"
#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor halves(DType type, Shape shape, const std::vector<std::uint16_t>& bits) {
  Tensor out(type, std::move(shape));
  std::ranges::copy(bits, out.as<std::uint16_t>().begin());
  return out;
}

std::vector<std::string> op_types(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node& node : graph.nodes) out.push_back(node.op_type);
  return out;
}

TEST(OtherFloats, AreConvertedWhereTheyArriveAndLeave) {
  ModelBuilder model;
  model.input("x", DType::kF16, {2});
  model.initializer("w", halves(DType::kF16, {2}, {0x3C00, 0x1400}));  // 1, 2^-10
  model.node("Add", {"x", "w"}, {"t"}).node("Sub", {"t", "w"}, {"y"});
  model.value_info("t", DType::kF16, {2}).output("y", DType::kF16, {2});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(op_types(*graph), (std::vector<std::string>{"Cast", "Add", "Sub", "Cast"}));
  // 2 + 2^-10 is no float16, and is not rounded in between.
  const Tensor x = halves(DType::kF16, {2}, {0x4000, 0x4000});
  EXPECT_EQ(evaluate(*graph, std::vector<Tensor>{x}).at(0), x);
}

// A move of 16 bits keeps all of them, also the payload of a NaN and its signal.
TEST(OtherFloats, ThatAreOnlyMovedStayAsTheyAre) {
  ModelBuilder model(18);
  model.input("x", DType::kF16, {2, 2}).initializer("c", halves(DType::kF16, {2, 1}, {0x3C00, 1}));
  model.node("Transpose", {"x"}, {"t"})
      .node("Concat", {"t", "c"}, {"y"}, {{"axis", std::int64_t{1}}});
  model.output("y", DType::kF16, {2, 3});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(op_types(*graph), (std::vector<std::string>{"Transpose", "Concat", "Identity"}));
  const Tensor x = halves(DType::kF16, {2, 2}, {0x7D01, 0xFE02, 0x8000, 0x7C00});
  EXPECT_EQ(evaluate(*graph, std::vector<Tensor>{x}).at(0),
            halves(DType::kF16, {2, 3}, {0x7D01, 0x8000, 0x3C00, 0xFE02, 0x7C00, 1}));
}

// Rows that are replaced, as those of a cache: no sum, which would be of floats.
TEST(OtherFloats, ReplaceRowsAsTheyAreAndAddThemAsFloats) {
  ModelBuilder model(18);
  model.input("x", DType::kF16, {2, 2}).input("u", DType::kF16, {1, 2});
  model.initializer("v", halves(DType::kF16, {1, 2}, {0x3C00, 0x3C00}));
  model.input("at", DType::kS64, {1, 1}).node("ScatterND", {"x", "at", "u"}, {"y"});
  model.node("ScatterND", {"x", "at", "v"}, {"z"}, {{"reduction", std::string("add")}});
  model.output("y", DType::kF16, {2, 2}).output("z", DType::kF16, {2, 2});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const std::vector<Tensor> out = evaluate(
      *graph, std::vector<Tensor>{halves(DType::kF16, {2, 2}, {0x3C00, 0x4000, 0x4200, 0x4400}),
                                  halves(DType::kF16, {1, 2}, {0x7D01, 0x3C00}),
                                  Tensor::of<std::int64_t>({1, 1}, {1})});
  EXPECT_EQ(out.at(0), halves(DType::kF16, {2, 2}, {0x3C00, 0x4000, 0x7D01, 0x3C00}));
  EXPECT_EQ(out.at(1), halves(DType::kF16, {2, 2}, {0x3C00, 0x4000, 0x4400, 0x4500}));
}

TEST(OtherFloats, HaveNoBitsToCast) {
  for (const DType type : {DType::kF16, DType::kBF16, DType::kF64}) {
    ModelBuilder model(26);
    model.input("x", type, {2}).node("BitCast", {"x"}, {"y"}, {{"to", std::int64_t{6}}});
    model.output("y");
    Sink sink;
    EXPECT_FALSE(load(model, sink));
    EXPECT_EQ(errors_of(sink), cat("model: error[E-UNSUPPORTED]: node #0 (BitCast): the bits of ",
                                   name_of(type), " are not at hand: it is computed in float32\n"));
  }
}

// Who computes with a moved tensor reads it through a Cast; a constant that is no float16 is not
// one of the moved tensors.
TEST(OtherFloats, AreConvertedWhereMovedOnesAreComputedWith) {
  ModelBuilder model(18);
  model.input("x", DType::kF16, {2}).node("Identity", {"x"}, {"i"}).node("Neg", {"i"}, {"n"});
  model.initializer("c", f32({1}, {1.0001F})).node("Cast", {"x"}, {"f"}, {{"to", std::int64_t{1}}});
  model.node("Concat", {"f", "c"}, {"k"}, {{"axis", std::int64_t{0}}});
  model.node("Cast", {"k"}, {"z"}, {{"to", std::int64_t{10}}}).node("Neg", {"k"}, {"m"});
  model.output("i", DType::kF16, {2}).output("n", DType::kF16, {2}).output("z", DType::kF16, {3});
  model.output("m", DType::kF32, {3});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const Tensor x = halves(DType::kF16, {2}, {0x3C00, 0xC000});
  const std::vector<Tensor> out = evaluate(*graph, std::vector<Tensor>{x});
  EXPECT_EQ(out.at(0), x);
  EXPECT_EQ(out.at(1), halves(DType::kF16, {2}, {0xBC00, 0x4000}));
  EXPECT_EQ(out.at(2), halves(DType::kF16, {3}, {0x3C00, 0xC000, 0x3C00}));
  EXPECT_EQ(out.at(3), f32({3}, {-1, 2, -1.0001F}));
}

TEST(OtherFloats, ClipWithoutALimitHasThatOfItsType) {
  ModelBuilder model;
  model.input("x", DType::kF16, {3});
  model.initializer("low", halves(DType::kF16, {}, {0xBC00}));  // -1
  model.node("Clip", {"x", "low"}, {"y"}).node("Clip", {"x"}, {"z"});
  model.output("y", DType::kF16, {3}).output("z", DType::kF16, {3});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const Tensor x = halves(DType::kF16, {3}, {0x7C00, 0xFC00, 0x3C00});  // infinite, 1
  const std::vector<Tensor> out = evaluate(*graph, std::vector<Tensor>{x});
  EXPECT_EQ(out.at(0), halves(DType::kF16, {3}, {0x7BFF, 0xBC00, 0x3C00}));
  EXPECT_EQ(out.at(1), halves(DType::kF16, {3}, {0x7BFF, 0xFBFF, 0x3C00}));
}

TEST(OtherFloats, AreRoundedByACastOfTheFile) {
  ModelBuilder model;
  model.input("x", DType::kF32, {3});
  model.node("Cast", {"x"}, {"h"}, {{"to", std::int64_t{10}}}).node("Neg", {"h"}, {"n"});
  model.node("Cast", {"n"}, {"y"}, {{"to", std::int64_t{1}}}).output("y", DType::kF32, {3});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(evaluate(*graph, std::vector<Tensor>{f32({3}, {1.0004F, 1.0005F, 65520})}).at(0),
            f32({3}, {-1, -1.0009765625F, -INFINITY}));
}

TEST(OtherFloats, ZeroStaysZeroInEveryConstant) {
  for (const std::int64_t type : {10, 16}) {  // float16, bfloat16
    ModelBuilder model;
    model.input("x", DType::kF32, {3});
    model.initializer("c", f32({3}, {0, 1, -0.0F}));
    model.node("Cast", {"c"}, {"h"}, {{"to", type}})
        .node("Cast", {"h"}, {"f"}, {{"to", std::int64_t{1}}});
    model.node("Add", {"x", "f"}, {"y"}).output("y", DType::kF32, {3});
    Sink sink;
    const auto graph = load(model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    EXPECT_EQ(evaluate(*graph, std::vector<Tensor>{f32({3}, {5, 5, 5})}).at(0),
              f32({3}, {5, 6, 5}));
  }
}

TEST(OtherFloats, CastLikeOfIntegersComputedFromThemTruncates) {
  ModelBuilder model(18);
  model.input("h", DType::kF16, {2}).input("x", DType::kF32, {2});
  model.node("ArgMax", {"h"}, {"at"}).node("CastLike", {"x", "at"}, {"whole"});
  model.node("Cast", {"whole"}, {"y"}, {{"to", std::int64_t{1}}}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(
      evaluate(*graph, {halves(DType::kF16, {2}, {0, 0x3C00}), f32({2}, {1.5F, -2.5F})}).at(0),
      f32({2}, {1, -2}));
}

TEST(OtherFloats, CastLikeRoundsAsACastDoes) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1});
  model.initializer("like", halves(DType::kF16, {1}, {0}));
  model.node("CastLike", {"x", "like"}, {"h"});
  model.node("Cast", {"h"}, {"y"}, {{"to", std::int64_t{1}}}).output("y", DType::kF32, {1});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(evaluate(*graph, std::vector<Tensor>{f32({1}, {1.0001F})}).at(0), f32({1}, {1}));
}

TEST(OtherFloats, AScaleOfFloat64IsStillRefused) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1}).initializer("s", Tensor::of<double>({}, {0.1}));
  model.node("DequantizeLinear", {"x", "s"}, {"y"}).output("y");
  Sink sink;
  EXPECT_FALSE(load(model, sink));
}

TEST(OtherFloats, Float64IsComputedInFloat32WhereARunTimeValueIsRead) {
  ModelBuilder model;
  model.input("x", DType::kF64, {1});
  model.initializer("c", Tensor::of<double>({1}, {0.1}));
  model.node("Mul", {"x", "c"}, {"y"}).output("y", DType::kF64, {1});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(evaluate(*graph, std::vector<Tensor>{Tensor::of<double>({1}, {3})}).at(0),
            Tensor::of<double>({1}, {double{3.0F * 0.1F}}));
  EXPECT_TRUE(has_report(sink, Severity::kWarning, DiagKind::kType));
}

TEST(OtherFloats, OutputsOfAnotherTypeThanDeclaredAreRefused) {
  ModelBuilder model;
  model.input("x", DType::kS32, {2}).node("Neg", {"x"}, {"y"}).output("y", DType::kF16, {2});
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  EXPECT_NE(errors_of(sink).find("is declared as float16, computed as int32"), std::string::npos)
      << errors_of(sink);
}

// Four at a time, and the last ones by themselves.
std::vector<std::uint16_t> narrowed(std::int64_t type, std::span<const float> x) {
  std::vector<std::uint16_t> y(x.size());
  const auto n = static_cast<std::ptrdiff_t>(x.size());
  if (type == 10) {
    rt::narrow<rt::NarrowHalf, 4>(x.data(), 1, y.data(), n);
  } else {
    rt::narrow<rt::NarrowBfloat, 4>(x.data(), 1, y.data(), n);
  }
  return y;
}

// The operator's reference, which computes in double, against the integers of the runtime.
TEST(OtherFloats, AreRoundedByTheRuntimeAsByTheReference) {
  Tensor x(DType::kF32, {1 << 20});
  std::uint32_t bits = 12345;
  for (float& each : x.as<float>()) {
    bits = bits * 1664525U + 1013904223U;
    // Mostly where float16 is, with fractions close to ties.
    const std::uint32_t fraction = (bits & 1) != 0 ? bits & 0x7FF001U : bits & 0x7FFFFFU;
    const std::uint32_t exponent = (bits & 6) != 0 ? 100 + (bits >> 24) % 46 : bits >> 24;
    each = std::bit_cast<float>((bits & 8) << 28 | (exponent & 255) << 23 | fraction);
  }
  for (const std::int64_t type : {10, 16}) {
    OneNode node("Cast");
    node.input(x).attribute("to", type);
    const Tensor y = node.run().at(0);
    const std::vector<std::uint16_t> rows = narrowed(type, x.as<float>());
    for (std::size_t i = 0; i < x.as<float>().size(); ++i) {
      const float value = x.as<float>()[i];
      const std::uint16_t got =
          type == 10 ? rt::half_from_float(value) : rt::bfloat_from_float(value);
      ASSERT_EQ(got, y.as<std::uint16_t>()[i]) << value;
      ASSERT_EQ(rows[i], got) << value;
    }
  }
}

TEST(OtherFloats, AreReadByTheRuntimeAsByTheReference) {
  Tensor half(DType::kF16, {1 << 16});
  for (std::uint32_t i = 0; i < 65536; ++i)
    half.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
  for (std::int64_t i = 0; i < half.size(); ++i) {
    const float got = rt::float_from_half(static_cast<std::uint16_t>(i));
    ASSERT_TRUE(got == half.real(i) || (std::isnan(got) && std::isnan(half.real(i)))) << i;
  }
}

TEST(OtherFloats, AreReadInRowsAsOneByOne) {
  std::vector<std::uint16_t> x(65536 + 3);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i);
  std::vector<float> halves(x.size()), bfloats(x.size());
  const auto n = static_cast<std::ptrdiff_t>(x.size());
  rt::widen<rt::WidenHalf, 4>(x.data(), 1, halves.data(), n);
  rt::widen<rt::WidenBfloat, 4>(x.data(), 1, bfloats.data(), n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(rt::float_bits(halves[i]), rt::float_bits(rt::float_from_half(x[i]))) << i;
    ASSERT_EQ(rt::float_bits(bfloats[i]), rt::float_bits(rt::float_from_bfloat(x[i]))) << i;
  }
}

// As exporters write the scale of attention.
TEST(OtherFloats, ConstantsOfDoubleAreComputedAsDoubles) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1}).initializer("n", s64({}, {48}));
  model.initializer("one", Tensor::of<double>({}, {1.0}));
  const Attribute to_double = std::int64_t{11}, to_float = std::int64_t{1};
  model.node("Cast", {"n"}, {"d"}, {{"to", to_double}}).node("Sqrt", {"d"}, {"r"});
  model.node("Div", {"one", "r"}, {"s"}).node("Neg", {"s"}, {"m"});
  model.node("Cast", {"m"}, {"f"}, {{"to", to_float}}).node("Mul", {"x", "f"}, {"y"}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(sink.sorted().size(), 0U);
  EXPECT_EQ(op_types(*graph), (std::vector<std::string>{"Mul"}));
  const auto expected = static_cast<float>(-(1.0 / std::sqrt(48.0)));
  EXPECT_EQ(evaluate(*graph, {f32({1}, {1})}).at(0), f32({1}, {expected}));
}

TEST(OtherFloats, OtherFunctionsOfDoublesAreComputedInFloat32WithAWarning) {
  ModelBuilder model(15);
  model.input("x", DType::kF32, {1}).initializer("d", Tensor::of<double>({}, {0.5}));
  model.node("Exp", {"d"}, {"e"}).node("Mul", {"e", "d"}, {"t"});
  model.node("CastLike", {"t", "x"}, {"f"}).node("Mul", {"x", "f"}, {"y"}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  ASSERT_EQ(sink.sorted().size(), 1U);
  EXPECT_NE(sink.sorted()[0].message.find("float64 is computed in float32"), std::string::npos);
}

TEST(OtherFloats, ScalesOfDoubleAreStillRefused) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1}).initializer("q", s8({1}, {3}));
  model.initializer("s", Tensor::of<double>({}, {0.5}));
  model.node("DequantizeLinear", {"q", "s"}, {"w"}).node("Add", {"x", "w"}, {"y"}).output("y");
  Sink sink;
  EXPECT_FALSE(load(model, sink));
}

}  // namespace
}  // namespace etch
