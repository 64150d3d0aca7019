// What is known of the channels after each operator that passes intervals on.
#include "compiler/passes/channel_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// h: a 1x1 convolution of x whose channel 0 is always 110, and whose channel 1 is x less 5 up
// to 15, unless its bias is another one. Scales are 1, zero points 10.
struct Net : ModelBuilder {
  explicit Net(std::int32_t bias = -5) : ModelBuilder(13) {
    opset("com.microsoft", 1).opset("org.etch", 1);
    initializer("one", f32({}, {1})).initializer("ten", u8({}, {10}));
    initializer("zero", u8({}, {0})).initializer("w", u8({2, 1, 1, 1}, {0, 1}));
    initializer("b", s32({2}, {100, bias}));
    input("x", DType::kU8, {1, 1, 4, 4});
    node("QLinearConv", {"x", "one", "ten", "w", "one", "zero", "one", "ten", "b"}, {"h"});
  }
  // "110 5..240": the channels of `name`; "" if nothing is known.
  std::string ranges(const std::string& name) {
    output(name);
    Sink sink;
    const auto graph = load(*this, sink);
    if (!graph) return errors_of(sink);
    const auto all = channel_ranges(*graph);
    const auto at =
        std::ranges::find_if(graph->values, [&](const Value& value) { return value.name == name; });
    std::string out;
    for (const Interval& each :
         all[static_cast<std::size_t>(at - graph->values.begin())].channels) {
      out += out.empty() ? "" : " ";
      out += each.is_constant() ? std::to_string(each.low) : cat(each.low, "..", each.high);
    }
    return out;
  }
};

TEST(ChannelRanges, OfAConvolutionFollowFromItsWeights) {
  EXPECT_EQ(Net().ranges("h"), "110 0..250");
}

// Products from -10 to 245: some sums are those that wrap to the least of int32.
TEST(ChannelRanges, NothingIsKnownOfSumsThatMayWrap) {
  EXPECT_EQ(Net(2'147'483'547).ranges("h"), "110 0..255");
}

TEST(ChannelRanges, OfATableAreThoseOfItsEntries) {
  std::vector<std::uint8_t> entries(256, 7);
  entries[110] = 3;
  entries[200] = 9;
  Net net;
  net.initializer("table", u8({256}, entries));
  net.node("Table", {"h", "table"}, {"t"}, {}, "org.etch");
  EXPECT_EQ(net.ranges("t"), "3 3..9");
}

TEST(ChannelRanges, OfSumsAndProductsAreTakenAtAllEnds) {
  const std::vector<std::string> both{"h", "one", "ten", "h", "one", "ten", "one", "ten"};
  Net sum;
  sum.node("QLinearAdd", both, {"s"}, {}, "com.microsoft");
  EXPECT_EQ(sum.ranges("s"), "210 0..255");
  Net product;  // (110 - 10)^2 saturates; -10 * 240 and 240 * 240 do
  product.node("QLinearMul", both, {"p"}, {}, "com.microsoft");
  EXPECT_EQ(product.ranges("p"), "255 0..255");
}

TEST(ChannelRanges, NothingIsKnownOfAConstantOperand) {
  Net net;
  net.initializer("c", u8({1, 2, 1, 1}, {10, 10}));
  net.node("QLinearAdd", {"h", "one", "ten", "c", "one", "ten", "one", "ten"}, {"s"}, {},
           "com.microsoft");
  EXPECT_EQ(net.ranges("s"), "100..255 0..255");
}

TEST(ChannelRanges, OfAMaximumAreThoseOfItsInput) {
  Net net;
  net.node("MaxPool", {"h"}, {"m"}, {{"kernel_shape", Ints{2, 2}}});
  EXPECT_EQ(net.ranges("m"), "110 0..250");
  Net apart;  // a window of taps that are apart may have none inside
  apart.node("MaxPool", {"h"}, {"m"}, {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{2, 2}}});
  EXPECT_EQ(apart.ranges("m"), "0..110 0..250");
}

TEST(ChannelRanges, OfGlobalAveragesKeepConstants) {
  const std::vector<std::string> inputs{"h", "one", "ten", "one", "ten"};
  Net global;
  global.node("QLinearGlobalAveragePool", inputs, {"g"}, {}, "com.microsoft");
  EXPECT_EQ(global.ranges("g"), "110 0..250");
  Net whole;  // one window over the image is the same
  whole.node("QLinearAveragePool", inputs, {"g"}, {{"kernel_shape", Ints{4, 4}}}, "com.microsoft");
  EXPECT_EQ(whole.ranges("g"), "110 0..250");
  Net windows;
  windows.node("QLinearAveragePool", inputs, {"g"}, {{"kernel_shape", Ints{2, 2}}},
               "com.microsoft");
  EXPECT_EQ(windows.ranges("g"), "");
}

TEST(ChannelRanges, NothingIsKnownAfterOtherOperators) {
  Net net;
  net.node("Transpose", {"h"}, {"t"}, {{"perm", Ints{0, 1, 3, 2}}});
  EXPECT_EQ(net.ranges("t"), "");
}

}  // namespace
}  // namespace etch
