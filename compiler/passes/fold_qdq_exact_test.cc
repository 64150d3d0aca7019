// What fold_qdq leaves out or moves only where no result can differ: Clips beside quantization, and
// Pads before DequantizeLinear. See fold_qdq_test.cc for the groups.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/qdq_model.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// A Clip between `scale`'s DequantizeLinear and Exp, and one before its QuantizeLinear.
std::string around_clips(float scale, float low, float high) {
  QdqModel qdq;
  qdq.model().initializer("low", f32({}, {low})).initializer("high", f32({}, {high}));
  const std::string x = qdq.input("x", {3}, scale, kZeroU8);
  qdq.model().node("Clip", {x, "low", "high"}, {"a"}).node("Exp", {"a"}, {"b"});
  qdq.model().node("Clip", {"b", "low", "high"}, {"y"});
  qdq.output("y", scale, kZeroU8);
  return qdq.operators();
}

TEST(FoldQdq, AClipGoesOnlyWhereItChangesNothing) {
  EXPECT_EQ(around_clips(0.5F, 0, 127.5F), "DequantizeLinear Exp QuantizeLinear");
  // One unit in the last place changes what DequantizeLinear gives, but no quantized result.
  EXPECT_EQ(around_clips(0.5F, 0, std::nextafter(127.5F, 0.0F)),
            "DequantizeLinear Clip Exp QuantizeLinear");
  EXPECT_EQ(around_clips(0.5F, std::nextafter(0.0F, 1.0F), 127.5F),
            "DequantizeLinear Clip Exp QuantizeLinear");
  // No result changes here either, but ONNX Runtime keeps this one and what is before it in float.
  EXPECT_EQ(around_clips(0.5F, 0, 127.4F), "DequantizeLinear Clip Exp Clip QuantizeLinear");
  // Where that unit is a whole step of the quantization, it changes results too.
  const float least = std::nextafter(0.0F, 1.0F);
  EXPECT_EQ(around_clips(least, least, 1), "DequantizeLinear Clip Exp Clip QuantizeLinear");
}

TEST(FoldQdq, APadOfNegativeZeroStaysFloat) {
  for (const float value : {0.0F, -0.0F}) {
    QdqModel qdq;
    qdq.model().initializer("pads", s64({2}, {1, 0})).initializer("value", f32({}, {value}));
    const std::string x = qdq.input("x", {3}, 0.5F, kZeroU8);
    qdq.model().node("Pad", {x, "pads", "value"}, {"y"}).output("y");
    EXPECT_EQ(qdq.operators(),
              std::signbit(value) ? "DequantizeLinear Pad" : "Pad DequantizeLinear");
  }
}

// Relu after Add or Mul of two tensors of the scale `scale`.
QdqModel limited_binary(const char* op, float scale) {
  QdqModel qdq;
  const std::string a = qdq.input("a", {2, 3}, scale, kZeroS8);
  const std::string b = qdq.input("b", {2, 3}, 0.25F, kZeroS8);
  qdq.model().node(op, {a, b}, {"s"}).node("Relu", {"s"}, {"y"});
  qdq.output("y", 1, s8({}, {-6}));
  return qdq;
}

TEST(FoldQdq, ReluAfterExactSumsAndProductsBecomesTheirLimits) {
  for (const char* op : {"Add", "Mul"}) {
    QdqModel exact = limited_binary(op, 0.5F);
    Sink sink;
    const auto graph = exact.fold(sink);
    ASSERT_EQ(graph->nodes.size(), 1U) << op;
    EXPECT_EQ(graph->nodes[0].op_type, std::string("QLinear") + op);
    EXPECT_EQ(std::get<std::int64_t>(graph->nodes[0].attributes.at("clamp_low")), -6);
    QdqModel rounded = limited_binary(op, 0.3F);
    EXPECT_EQ(rounded.operators(),
              std::string("DequantizeLinear DequantizeLinear ") + op + " Relu QuantizeLinear");
  }
}

}  // namespace
}  // namespace etch
