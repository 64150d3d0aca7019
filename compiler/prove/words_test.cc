// Which words of constants are biases and factors: alone, shared by two channels, or not known.
#include "compiler/prove/words.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace etch {
namespace {

struct Words : Step {
  explicit Words(const std::vector<std::uint32_t>& words) {
    constants.emplace_back();
    constants[0].bytes.resize(4 * words.size());
    std::memcpy(constants[0].bytes.data(), words.data(), 4 * words.size());
  }
  void run(Recorder&) const override {}
  void run(NativeStage&) const override {}
  void run(Audit&) const override {}
};

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

Layer layer_with(std::vector<float> scale) {
  Layer layer;
  layer.geometry.out_channels = std::ssize(scale);
  layer.scale = std::move(scale);
  return layer;
}

// Biases and factors of a layer with these factors, from words before and after both changes.
ConstantWords found(const std::vector<float>& scale, const std::vector<std::uint32_t>& words,
                    const std::vector<std::uint32_t>& tagged,
                    const std::vector<std::uint32_t>& doubled, std::string& why) {
  return find_words(Words(words), Words(tagged), Words(doubled), layer_with(scale), why);
}

TEST(ProvedWords, OfChannelsAlone) {
  std::string why;
  const ConstantWords words =
      found({0.5F, 3}, {10, 20, 99, bits(0.5F), bits(3)}, {11, 22, 99, bits(0.5F), bits(3)},
            {10, 20, 99, bits(1), bits(6)}, why);
  EXPECT_EQ(words.biases, (std::vector<ConstantWord>{{0, 0, 0}, {0, 1, 1}}));
  EXPECT_EQ(words.factors, (std::vector<ConstantWord>{{0, 3}, {0, 4}}));
  EXPECT_EQ(why, "");
}

// A bias of both, the second 256 times, and a factor that is divided by 256.
TEST(ProvedWords, OfTwoChannelsThatShareThem) {
  std::string why;
  const std::uint32_t own = bits(0.5F), shared = bits(3.0F / 256);
  const ConstantWords words =
      found({0.5F, 3}, {10, 20, own, shared}, {11, 20 + 1 + 256 * 2, own, shared},
            {10, 20, bits(1), bits(6.0F / 256)}, why);
  EXPECT_EQ(words.biases, (std::vector<ConstantWord>{{0, 0, 0}, {0, 1, 0, 1, 1, 0, 256}}));
  EXPECT_EQ(words.factors, (std::vector<ConstantWord>{{0, 2}, {0, 3, -1, -1, 1.0F / 256}}));
  EXPECT_EQ(why, "");
}

// The same of weights of 4 bits, and not with two factors in one step.
TEST(ProvedWords, OfTwoChannelsWithWeightsOfFourBits) {
  std::string why;
  const std::uint32_t own = bits(0.5F), shared = bits(3.0F / 16);
  const ConstantWords words =
      found({0.5F, 3}, {10, 20, own, shared}, {11, 20 + 1 + 16 * 2, own, shared},
            {10, 20, bits(1), bits(6.0F / 16)}, why);
  EXPECT_EQ(words.biases, (std::vector<ConstantWord>{{0, 0, 0}, {0, 1, 0, 1, 1, 0, 16}}));
  EXPECT_EQ(words.factors, (std::vector<ConstantWord>{{0, 2}, {0, 3, -1, -1, 1.0F / 16}}));
  EXPECT_EQ(why, "");
  const ConstantWords none =
      found({0.5F, 3}, {10, 20, own, shared}, {11 + 256 * 2, 20 + 1 + 16 * 2, own, shared},
            {10, 20, bits(1), bits(6.0F / 16)}, why);
  EXPECT_TRUE(none.biases.empty());
  EXPECT_NE(why, "");
}

TEST(ProvedWords, AreNotGuessed) {
  const std::uint32_t a = bits(0.5F), b = bits(3), a2 = bits(1), b2 = bits(6);
  const auto unknown = [&](const std::vector<float>& scale, std::uint32_t second_tag,
                           std::uint32_t second_factor) {
    std::string why;
    const ConstantWords words =
        found(scale, {10, 20, a, b}, {11, 20 + second_tag, a, b}, {10, 20, a2, second_factor}, why);
    return words.biases.empty() && words.factors.empty() && !why.empty();
  };
  EXPECT_FALSE(unknown({0.5F, 3}, 2, b2));
  EXPECT_TRUE(unknown({0.5F, 3}, 3, b2));            // no channel's tag
  EXPECT_TRUE(unknown({0.5F, 3}, 2 + 256 * 3, b2));  // channels 1 and 2 of two
  EXPECT_TRUE(unknown({0.5F, 3}, 600, b2));          // nor those of two
  EXPECT_TRUE(unknown({0.5F, 3}, 1, b2));            // channel 1 has no bias
  EXPECT_TRUE(unknown({0.5F, 3}, 2, bits(5)));       // not doubled
  EXPECT_TRUE(unknown({3, 768}, 2, b2));             // 3 is a factor, and 768 divided by 256
}

// Words of integer factors have no form of their own: they are what another factor changes.
TEST(ProvedWords, WithoutFloatsAreThoseOfAnotherFactor) {
  const Words step({10, 20, 7, 8}), set({10, 20, 5, 8});
  std::string why;
  const ConstantWords words =
      find_words_without_floats(step, set, Words({11, 22, 5, 8}), 2, 0.25F, why);
  EXPECT_EQ(words.biases, (std::vector<ConstantWord>{{0, 0, 0}, {0, 1, 1}}));
  ASSERT_EQ(words.factors.size(), 1U);
  EXPECT_EQ(words.factors[0].word, 2);
  EXPECT_EQ(words.factors[0].only, 5U);
  EXPECT_EQ(words.only_factor, 0.25F);
  EXPECT_EQ(why, "");
}

TEST(ProvedWords, WithoutFloatsAreNotGuessed) {
  const auto unknown = [](const Words& step, const Words& set, const Words& tagged) {
    std::string why;
    const ConstantWords words = find_words_without_floats(step, set, tagged, 2, 0.25F, why);
    return words.biases.empty() && !words.only_factor && !why.empty();
  };
  const Words step({10, 20, 7}), set({10, 20, 5});
  EXPECT_FALSE(unknown(step, set, Words({11, 22, 5})));
  EXPECT_TRUE(unknown(step, set, Words({11, 20, 5})));  // channel 1 has no bias
  EXPECT_TRUE(unknown(step, set, Words({11, 23, 5})));  // no channel's tag
  EXPECT_TRUE(unknown(step, Words({10, 20, 5, 6}), Words({11, 22, 5, 6})));  // of another size
  EXPECT_TRUE(unknown(step, Words({12, 20, 5}), Words({13, 22, 5})));        // a bias with a factor
}

// So that a factor after another one finds no word of that one.
TEST(ProvedWords, OfSeveralFactorsAreAllThatDifferForAny) {
  const Words step({10, 20, 30}), one({11, 20, 30}), other({10, 21, 30});
  const std::vector<FactorWords> found = find_factor_words(step, {{0.25F, &one}, {0.125F, &other}});
  ASSERT_EQ(found.size(), 2U);
  const auto values = [](const FactorWords& words) {
    std::vector<std::uint32_t> out;
    for (const ConstantWord& each : words.words) out.push_back(each.only);
    return out;
  };
  EXPECT_EQ(values(found[0]), (std::vector<std::uint32_t>{11, 20}));
  EXPECT_EQ(values(found[1]), (std::vector<std::uint32_t>{10, 21}));
  const Words longer({10, 20, 30, 40});
  EXPECT_TRUE(find_factor_words(step, {{0.25F, &one}, {0.125F, &longer}}).empty());
}

TEST(ProvedWords, OfBiasesAloneAreThoseOfAllChannels) {
  const Words step({10, 20, 7});
  EXPECT_EQ(find_bias_words(step, Words({11, 22, 7}), 2),
            (std::vector<ConstantWord>{{0, 0, 0}, {0, 1, 1}}));
  EXPECT_TRUE(find_bias_words(step, Words({11, 20, 7}), 2).empty());
  EXPECT_EQ(find_bias_words(step, Words({11, 22, 8}), 2).size(), 3U);  // the first one's, again
  EXPECT_TRUE(find_bias_words(step, Words({11, 22, 17}), 2).empty());  // no channel's tag
}

// However many channels: no sum of two tags is the tag of another channel.
TEST(ProvedWords, TagsAreUnambiguous) {
  for (const std::int64_t channels : {1, 2, 255, 256, 257, 512, 513, 4096, 100000}) {
    const std::int64_t least = bias_tag(0, channels);
    EXPECT_GT(17 * least, bias_tag(channels - 1, channels)) << channels;
    EXPECT_EQ(bias_tag(channels - 1, channels) - least, channels - 1);
  }
}

}  // namespace
}  // namespace etch
