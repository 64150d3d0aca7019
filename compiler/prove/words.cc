// See words.h.
#include "compiler/prove/words.h"

#include <bit>
#include <set>

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

}  // namespace

ConstantWords find_words(const Step& step, const Step& tagged, const Step& doubled,
                         std::int64_t channels, std::string& why) {
  ConstantWords out;
  bool understood = same_sizes(step, tagged) && same_sizes(step, doubled);
  std::set<int> seen;
  understood = understood && compare_words(step, tagged, [&](int array, int word, auto a, auto b) {
                 const auto channel = static_cast<std::int64_t>(b - a) - 1;
                 if (channel < 0 || channel >= channels) understood = false;
                 out.biases.push_back({array, word, static_cast<int>(channel)});
                 seen.insert(static_cast<int>(channel));
               });
  understood = understood && compare_words(step, doubled, [&](int array, int word, auto a, auto b) {
                 const auto one = std::bit_cast<float>(static_cast<std::uint32_t>(a));
                 const auto two = std::bit_cast<float>(static_cast<std::uint32_t>(b));
                 if (!(two == 2 * one)) understood = false;
                 out.factors.push_back({array, word});
               });
  if (understood && static_cast<std::int64_t>(seen.size()) == channels && !out.factors.empty())
    return out;
  why = cat("its constants hold biases of ", seen.size(), " of ", channels, " channels and ",
            out.factors.size(), " factors in a form that is not known here");
  return {};
}

}  // namespace etch
