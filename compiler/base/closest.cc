// Distances between words; see closest.h.
#include "compiler/base/closest.h"

#include <algorithm>
#include <cctype>

#include "compiler/base/text.h"

namespace etch {
namespace {

constexpr std::size_t kLongest = 200;  // characters; longer words are not compared

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::size_t distance(std::string_view a, std::string_view b) {
  // Rows of the table: of the characters before the last two, before the last one, and now.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      const bool exchanged = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                             lower(a[i - 2]) == lower(b[j - 1]);
      if (exchanged) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kLongest) return {};
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t changes = distance(word, candidate);
    if (changes >= least || changes >= word.size()) continue;
    least = changes;
    found = candidate;
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string found = closest(word, candidates);
  return found.empty() ? "" : cat("; did you mean '", printable(found), "'?");
}

}  // namespace etch
