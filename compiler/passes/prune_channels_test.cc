// Channels that change no result leave the network, all others stay, and no output changes.
#include "compiler/passes/prune_channels.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/base/observation.h"
#include "compiler/ir/kept_channels.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_conv/op.h"
#include "compiler/passes/fuse_add.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// Convolutions of uint8 images with signed weights, scale 1 / 64 per product and zero point 10.
struct Net {
  ModelBuilder model{13};
  std::mt19937 random;

  explicit Net(unsigned seed = 1) : random(seed) {
    model.opset("com.microsoft", 1);
    model.initializer("one", f32({}, {1})).initializer("small", f32({}, {1.0F / 64}));
    model.initializer("ten", u8({}, {10})).initializer("zero", s8({}, {0}));
  }
  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

  std::vector<std::int8_t> weights(std::int64_t n) {
    std::vector<std::int8_t> out;
    out.reserve(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) out.push_back(static_cast<std::int8_t>(below(41) - 20));
    return out;
  }
  // w [out, in / group, kernel, kernel]; bias empty: none.
  Net& conv(const std::string& x, const std::string& y, const Shape& w,
            const std::vector<std::int8_t>& values, const std::vector<std::int32_t>& bias = {},
            std::int64_t group = 1, std::int64_t pad = 0) {
    model.initializer("w_" + y, s8(w, values));
    std::vector<std::string> inputs{x, "one", "ten", "w_" + y, "small", "zero", "one", "ten"};
    if (!bias.empty()) {
      model.initializer("b_" + y, s32({w[0]}, bias));
      inputs.push_back("b_" + y);
    }
    model.node("QLinearConv", inputs, {y}, {{"group", group}, {"pads", Ints{pad, pad, pad, pad}}});
    return *this;
  }
  Net& add(const std::string& a, const std::string& b, const std::string& y) {
    model.node("QLinearAdd", {a, "one", "ten", b, "one", "ten", "one", "ten"}, {y}, {},
               "com.microsoft");
    return *this;
  }
  Graph graph() {
    Sink sink;
    auto out = load(model, sink);
    EXPECT_TRUE(out) << errors_of(sink);
    return out ? *std::move(out) : Graph{};
  }
};

// Channels that the convolutions make: "6 4".
std::string channels(const Graph& graph) {
  std::string out;
  for (const Node& node : graph.nodes) {
    if (node.op_type != "QLinearConv") continue;
    const auto& params = params_of<QLinearConvParams>(node);
    out += (out.empty() ? "" : " ") + std::to_string(params.geometry.out_channels);
  }
  return out;
}

Tensor random_image(std::mt19937& random, const Shape& shape) {
  Tensor out(DType::kU8, shape);
  for (std::uint8_t& v : out.as<std::uint8_t>()) v = static_cast<std::uint8_t>(random());
  return out;
}

// Prunes, and compares the outputs with those before for some images.
std::string pruned(Net& net, std::int64_t granule = 1) {
  const Graph before = net.graph();
  Graph after = before;
  prune_channels(after, granule);
  verify(after, Resolved::kYes);
  for (int i = 0; i < 3; ++i) {
    std::vector<Tensor> inputs;
    for (const ValueId id : before.inputs)
      inputs.push_back(random_image(net.random, *before.value(id).shape));
    EXPECT_EQ(evaluate(after, inputs), evaluate(before, inputs));
  }
  return channels(after);
}

// 1x1 convolutions 3 -> 4 -> 2 of a 4x4 image; the second has 3x3 taps and padding if asked.
struct Chain : Net {
  std::vector<std::int8_t> first = weights(12);
  std::vector<std::int32_t> bias{5, 6, 7, 8};
  std::vector<std::int8_t> second;
  std::int64_t kernel;

  explicit Chain(std::int64_t kernel_size = 1) : kernel(kernel_size) {
    second = weights(8 * kernel * kernel);
    for (std::int8_t& w : second) w = w == 0 ? std::int8_t{3} : w;
  }
  std::string run(std::int64_t granule = 1) {
    model.input("x", DType::kU8, {1, 3, 4, 4});
    conv("x", "h", {4, 3, 1, 1}, first, bias);
    conv("h", "y", {2, 4, kernel, kernel}, second, {}, 1, kernel / 2);
    model.output("y");
    return pruned(*this, granule);
  }
  void no_filter(std::size_t m) {
    for (std::size_t c = 0; c < 3; ++c) first[m * 3 + c] = 0;
  }
};

TEST(PruneChannels, NothingLeavesWhereEveryChannelCounts) { EXPECT_EQ(Chain().run(), "4 2"); }

TEST(PruneChannels, AFilterOfZerosLeavesAndItsBiasIsFoldedIntoTheNext) {
  Chain chain;
  chain.no_filter(2);
  chain.bias[2] = 6400;  // makes 110
  EXPECT_EQ(chain.run(), "3 2");
}

TEST(PruneChannels, WhatIsLeftIsToldWithTheNumbersThatTheFileHas) {
  KeptChannelsLog kept;
  const Observation<KeptChannelsLog> listening(kept);
  Chain chain;
  chain.no_filter(2);
  chain.bias[2] = 6400;
  EXPECT_EQ(chain.run(), "3 2");
  using Channels = std::vector<std::int64_t>;
  EXPECT_EQ(kept.at(0).inputs, Channels{});
  EXPECT_EQ(kept.at(0).outputs, (Channels{0, 1, 3}));
  EXPECT_EQ(kept.at(1).inputs, (Channels{0, 1, 3}));
  EXPECT_EQ(kept.at(1).outputs, Channels{});
}

TEST(PruneChannels, WherePaddingIsReadAConstantHasToBeTheZeroPoint) {
  Chain other(3);
  other.no_filter(1);
  other.bias[1] = 6400;
  EXPECT_EQ(other.run(), "4 2");
  Chain zero_point(3);
  zero_point.no_filter(1);
  zero_point.bias[1] = 0;
  EXPECT_EQ(zero_point.run(), "3 2");
}

TEST(PruneChannels, AChannelThatAlwaysSaturatesIsConstant) {
  Chain chain;
  chain.bias[0] = -1'000'000;
  EXPECT_EQ(chain.run(), "3 2");
  Chain nearly;  // at most 3 * 20 * 245 of the 64 * 10 below
  nearly.bias[0] = -640;
  EXPECT_EQ(nearly.run(), "4 2");
}

TEST(PruneChannels, SumsThatMayWrapAreNotBounded) {
  Chain chain;
  chain.bias[0] = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(chain.run(), "4 2");
}

TEST(PruneChannels, AChannelThatNothingReadsLeaves) {
  Chain chain;
  chain.second[1] = chain.second[4 + 1] = 0;
  EXPECT_EQ(chain.run(), "3 2");
}

TEST(PruneChannels, TensorsKeepWholeGranulesAndAtLeastOneChannel) {
  Chain chain;
  chain.no_filter(2);
  EXPECT_EQ(chain.run(4), "4 2");
  Chain none;
  for (std::size_t m = 0; m < 4; ++m) none.no_filter(m);
  EXPECT_EQ(none.run(), "1 2");
}

TEST(PruneChannels, InputsAndOutputsOfTheNetworkKeepAllChannels) {
  Net net;
  net.model.input("x", DType::kU8, {1, 2, 3, 3});
  net.conv("x", "h", {2, 2, 1, 1}, {0, 0, 0, 0}).conv("h", "y", {2, 2, 1, 1}, {0, 0, 1, 0});
  net.model.output("h").output("y");
  EXPECT_EQ(pruned(net), "2 2");
}

TEST(PruneChannels, ADepthwiseConvolutionLosesTheChannelsOfItsNeighbours) {
  Net net;
  net.model.input("x", DType::kU8, {1, 2, 5, 5});
  std::vector<std::int8_t> expand = net.weights(12);
  expand[2 * 3] = expand[2 * 3 + 1] = 0;  // channel 3: the bias
  net.conv("x", "h", {6, 2, 1, 1}, expand, {1, 2, 3, 0, 5, 6});
  net.conv("h", "d", {6, 1, 3, 3}, net.weights(54), {9, 9, 9, 900, 9, 9}, 6, 1);
  std::vector<std::int8_t> project(12, 7);
  net.conv("d", "y", {2, 6, 1, 1}, project);
  net.model.output("y");
  EXPECT_EQ(pruned(net), "5 5 2");
}

TEST(PruneChannels, ASumKeepsAChannelThatEitherSideNeeds) {
  for (const bool both : {false, true}) {
    Net net;
    net.model.input("x", DType::kU8, {1, 2, 3, 3});
    net.conv("x", "a", {4, 2, 1, 1}, {1, 2, 0, 0, 3, 4, 5, 6}, {1, 0, 1, 1});
    net.conv("x", "b", {4, 2, 1, 1}, {1, 2, static_cast<std::int8_t>(both ? 0 : 9), 0, 3, 4, 5, 6},
             {1, 0, 1, 1});
    net.add("a", "b", "s").conv("s", "y", {1, 4, 1, 1}, {1, 2, 3, 4});
    net.model.output("y");
    EXPECT_EQ(pruned(net), both ? "3 3 1" : "4 4 1");
  }
}

TEST(PruneChannels, OtherOperatorsKeepTheirTensors) {
  Net net;
  net.model.input("x", DType::kU8, {1, 2, 3, 3});
  net.conv("x", "h", {2, 2, 1, 1}, {0, 0, 1, 1});
  net.model.node("Transpose", {"h"}, {"t"}, {{"perm", Ints{0, 1, 3, 2}}});
  net.conv("t", "y", {1, 2, 1, 1}, {1, 1});
  net.model.output("y");
  EXPECT_EQ(pruned(net), "2 1");
}

TEST(PruneChannels, WhatIsLeftOutIsCounted) {
  Chain chain;
  chain.no_filter(2);
  chain.model.input("x", DType::kU8, {1, 3, 4, 4});
  chain.conv("x", "h", {4, 3, 1, 1}, chain.first, chain.bias);
  chain.conv("h", "y", {2, 4, 1, 1}, chain.second);
  chain.model.output("y");
  Graph graph = chain.graph();
  prune_channels(graph, 1);
  EXPECT_EQ(graph.pruning.removed, 1);
  EXPECT_EQ(graph.pruning.of, 6);
  EXPECT_EQ(graph.pruning.macs, 16 * (12 + 8));
  EXPECT_EQ(graph.pruning.macs_removed, 16 * (3 + 2));
}

// Networks of blocks with filters, inputs and biases that are dead with some chance.
Net random_net(unsigned seed) {
  Net net(seed);
  net.model.input("x", DType::kU8, {1, 3, 6, 6});
  const std::int64_t width = 3 + net.below(6);
  const auto dead = [&](const Shape& shape) {
    std::vector<std::int8_t> w = net.weights(element_count(shape));
    const std::int64_t row = element_count(shape) / shape[0];
    const std::int64_t taps = shape[2] * shape[3];
    for (std::size_t i = 0; i < w.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const bool filter = (at / row * 7 + seed) % 5 < 2;
      const bool input = (at % row / taps * 3 + seed) % 7 == 0;
      if (filter || input) w[i] = 0;
    }
    return w;
  };
  const auto bias = [&](std::int64_t n) {
    const std::int32_t kinds[] = {0, 640, -50'000, 50'000, 77};
    std::vector<std::int32_t> out;
    out.reserve(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) out.push_back(kinds[net.below(5)]);
    return out;
  };
  net.conv("x", "b0", {width, 3, 1, 1}, dead({width, 3, 1, 1}), bias(width));
  for (int block = 0; block < 3; ++block) {
    const auto name = [&](const char* stem) { return stem + std::to_string(block); };
    const std::int64_t wide = width + net.below(5);
    const std::int64_t kernel = net.below(2) * 2 + 1;
    net.conv(name("b"), name("e"), {wide, width, 1, 1}, dead({wide, width, 1, 1}), bias(wide));
    net.conv(name("e"), name("d"), {wide, 1, 3, 3}, dead({wide, 1, 3, 3}), bias(wide), wide, 1);
    net.conv(name("d"), name("p"), {width, wide, kernel, kernel},
             dead({width, wide, kernel, kernel}), bias(width), 1, kernel / 2);
    net.add(name("b"), name("p"), "b" + std::to_string(block + 1));
  }
  net.conv("b3", "y", {2, width, 1, 1}, net.weights(2 * width));
  net.model.output("y");
  return net;
}

TEST(PruneChannels, RandomNetworksKeepTheirResults) {
  std::int64_t removed = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Net net = random_net(seed);
    const Graph before = net.graph();
    Graph after = before;
    if (seed % 2 == 0) fuse_adds(after);
    prune_channels(after, seed % 3 == 0 ? 4 : 1);
    removed += after.pruning.removed;
    for (int i = 0; i < 2; ++i) {
      const std::vector<Tensor> inputs{random_image(net.random, {1, 3, 6, 6})};
      ASSERT_EQ(evaluate(after, inputs), evaluate(before, inputs)) << "network " << seed;
    }
  }
  EXPECT_GT(removed, 300);
}

}  // namespace
}  // namespace etch
