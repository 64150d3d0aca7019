// See words.h.
#include "compiler/prove/words.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "compiler/base/text.h"

namespace etch {

namespace {

std::uint32_t word_at(const ConstantArray& array, std::size_t word) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i)
    out |= std::to_integer<std::uint32_t>(array.bytes[4 * word + i]) << (8 * i);
  return out;
}

bool same_sizes(const Step& a, const Step& b) {
  if (a.constants.size() != b.constants.size()) return false;
  for (std::size_t i = 0; i < a.constants.size(); ++i) {
    if (a.constants[i].bytes.size() != b.constants[i].bytes.size()) return false;
  }
  return true;
}

// Calls found(array, word, value in a, value in b) for every word that differs. False if bytes
// after the last whole word do.
template <class Found>
bool compare_words(const Step& a, const Step& b, Found found) {
  for (std::size_t i = 0; i < a.constants.size(); ++i) {
    const ConstantArray& one = a.constants[i];
    const ConstantArray& other = b.constants[i];
    const std::size_t words = one.bytes.size() / 4;
    for (std::size_t w = 0; w < words; ++w) {
      const std::uint32_t value = word_at(one, w);
      const std::uint32_t changed = word_at(other, w);
      if (value != changed) found(static_cast<int>(i), static_cast<int>(w), value, changed);
    }
    for (std::size_t at = 4 * words; at < one.bytes.size(); ++at) {
      if (one.bytes[at] != other.bytes[at]) return false;
    }
  }
  return true;
}

// Of what the tags of one or two channels, one after the other, have added to a word. The tag of
// the second channel counts `times`, which is more than any tag; see bias_tag().
bool find_channels(std::uint32_t added, std::int64_t channels, int times, ConstantWord& word) {
  const std::int64_t first = bias_tag(0, channels);
  const std::int64_t alone = std::int64_t{added} - first;
  if (alone >= 0 && alone < channels) {
    word.channel = static_cast<int>(alone);
    return true;
  }
  const std::int64_t both =
      std::int64_t{added} - bias_tag(0, channels) - times * std::int64_t{bias_tag(1, channels)};
  const std::int64_t pair = both / (1 + times);
  if (both < 0 || both % (1 + times) != 0 || pair + 1 >= channels) return false;
  word.channel = static_cast<int>(pair);
  word.second = static_cast<int>(pair + 1);
  word.times = times;
  return true;
}

// Whether the factor of a channel, or of two that share a word, is known without doubt.
bool find_unit(float factor, const std::vector<float>& scales, int times, ConstantWord& word) {
  const bool alone = std::ranges::find(scales, factor) != scales.end();
  const auto shared_factor = static_cast<float>(times);
  const bool shared = std::ranges::find(scales, factor * shared_factor) != scales.end();
  word.unit = shared ? 1.0F / shared_factor : 1;
  return !(alone && shared);
}

// The biases, which differ by tags. False if anything else does, or a channel has none.
bool find_biases(const Step& step, const Step& tagged, std::int64_t channels, int times,
                 std::vector<ConstantWord>& biases, std::set<int>& seen) {
  bool known = same_sizes(step, tagged);
  const auto bias = [&](int array, int word, std::uint32_t a, std::uint32_t b) {
    ConstantWord found{array, word};
    known &= find_channels(b - a, channels, times, found);
    biases.push_back(found);
    seen.insert(found.second < 0 ? found.channel : found.second);
  };
  if (known) known &= compare_words(step, tagged, bias);
  return known && std::ssize(seen) == channels;
}

// With the factor of shared words that explains all of them; with the first one if none does.
bool find_biases(const Step& step, const Step& tagged, std::int64_t channels,
                 std::vector<ConstantWord>& biases, std::set<int>& seen, int& times) {
  for (const int each : kSharedFactors) {
    std::vector<ConstantWord> found;
    std::set<int> of;
    const bool known = find_biases(step, tagged, channels, each, found, of);
    if (!known && each != kSharedFactors[0]) continue;
    biases = std::move(found);
    seen = std::move(of);
    times = each;
    if (known) return true;
  }
  return false;
}

}  // namespace

ConstantWords find_words(const Step& step, const Step& tagged, const Step& doubled,
                         const Layer& layer, std::string& why) {
  const std::int64_t channels = layer.geometry.out_channels;
  ConstantWords out;
  std::set<int> seen;
  int times = 1;
  bool known =
      find_biases(step, tagged, channels, out.biases, seen, times) && same_sizes(step, doubled);
  const auto factor = [&](int array, int word, std::uint32_t a, std::uint32_t b) {
    ConstantWord found{array, word};
    const auto one = std::bit_cast<float>(a), two = std::bit_cast<float>(b);
    known &= two == 2 * one && find_unit(one, layer.scale, times, found);
    out.factors.push_back(found);
  };
  if (known) known &= compare_words(step, doubled, factor);
  if (known && !out.factors.empty()) return out;
  why = cat("its constants hold biases of ", seen.size(), " of ", channels, " channels and ",
            out.factors.size(), " factors in a form that is not known here");
  return {};
}

ConstantWords find_words_without_floats(const Step& step, const Step& set,
                                        const Step& set_and_tagged, std::int64_t channels,
                                        float factor, std::string& why) {
  ConstantWords out;
  out.only_factor = factor;
  std::set<int> seen;
  int times = 1;
  bool known =
      find_biases(set, set_and_tagged, channels, out.biases, seen, times) && same_sizes(step, set);
  std::set<std::pair<int, int>> bias_words;
  for (const ConstantWord& bias : out.biases) bias_words.emplace(bias.array, bias.word);
  const auto differs = [&](int array, int word, std::uint32_t /*a*/, std::uint32_t b) {
    known &= !bias_words.contains({array, word});
    ConstantWord found{array, word};
    found.only = b;
    out.factors.push_back(found);
  };
  if (known) known &= compare_words(step, set, differs);
  if (known) return out;
  why = cat("its constants hold biases of ", seen.size(), " of ", channels, " channels and ",
            out.factors.size(), " words of integer factors in a form that is not known here");
  return {};
}

std::vector<ConstantWord> find_bias_words(const Step& step, const Step& tagged,
                                          std::int64_t channels) {
  std::vector<ConstantWord> out;
  std::set<int> seen;
  int times = 1;
  const bool known = find_biases(step, tagged, channels, out, seen, times);
  return known ? out : std::vector<ConstantWord>{};
}

std::vector<FactorWords> find_factor_words(const Step& step,
                                           const std::vector<std::pair<float, const Step*>>& sets) {
  std::set<std::pair<int, int>> places;
  for (const auto& [factor, set] : sets) {
    const auto differs = [&](int array, int word, std::uint32_t, std::uint32_t) {
      places.emplace(array, word);
    };
    if (!same_sizes(step, *set) || !compare_words(step, *set, differs)) return {};
  }
  std::vector<FactorWords> out;
  for (const auto& [factor, set] : sets) {
    FactorWords& words = out.emplace_back(FactorWords{factor, {}});
    for (const auto& [array, word] : places) {
      const ConstantArray& from = set->constants[static_cast<std::size_t>(array)];
      words.words.push_back({array, word});
      words.words.back().only = word_at(from, static_cast<std::size_t>(word));
    }
  }
  return out;
}

std::vector<ConstantWord> find_factors(const Step& step, const Step& doubled) {
  std::vector<ConstantWord> out;
  bool known = same_sizes(step, doubled);
  const auto factor = [&](int array, int word, std::uint32_t a, std::uint32_t b) {
    known &= std::bit_cast<float>(b) == 2 * std::bit_cast<float>(a);
    out.push_back({array, word});
  };
  if (known) known &= compare_words(step, doubled, factor);
  return known ? out : std::vector<ConstantWord>{};
}

}  // namespace etch
