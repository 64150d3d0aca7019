// Sorting without branches against the library's, in lengths around what is sorted at a time, and
// in orders that divide badly; merging of the lowest.
#include "runtime/etch_sorted.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#if defined(ETCH_SORTED)

namespace etch::rt {
namespace {

using Entries = std::vector<std::int64_t>;

std::int32_t count_of(const Entries& x) { return static_cast<std::int32_t>(x.size()); }

// Different numbers in the order of `kind`.
Entries any_entries(int n, int kind, std::mt19937_64& random) {
  Entries x(static_cast<std::size_t>(n));
  std::iota(x.begin(), x.end(), -n / 2);
  for (std::int64_t& each : x) each *= std::int64_t{1} << 33;
  if (kind == 0) std::shuffle(x.begin(), x.end(), random);
  if (kind == 1) std::reverse(x.begin(), x.end());
  if (kind == 2) std::reverse(x.begin() + n / 2, x.end());  // up and down again
  if (kind == 3 && n > 1) std::rotate(x.begin(), x.begin() + 1, x.end());
  return x;
}

TEST(SortedEntries, AreThoseOfTheLibrary) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 1500; n += n < 70 ? 1 : 97) {
    for (int kind = 0; kind < 5; ++kind) {
      Entries x = any_entries(n, kind, random), expected = x;
      std::sort(expected.begin(), expected.end());
      sort_entries(x.data(), n);
      EXPECT_EQ(x, expected) << n << " in order " << kind;
    }
  }
}

TEST(SortedEntries, OfAHeapAreThoseOfTheLibrary) {
  std::mt19937_64 random(6);
  for (int n = 0; n < 100; ++n) {
    Entries x = any_entries(n, n % 5, random), expected = x;
    std::sort(expected.begin(), expected.end());
    sort_as_heap(x.data(), n);
    EXPECT_EQ(x, expected);
  }
}

TEST(SortedEntries, AreMergedAsFarAsTheyAreKept) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    Entries all = any_entries(2 + static_cast<int>(random() % 60), 0, random);
    const auto n = static_cast<std::ptrdiff_t>(1 + random() % (all.size() - 1));
    Entries x(all.begin(), all.begin() + n), more(all.begin() + n, all.end());
    for (Entries* each : {&x, &more, &all}) std::sort(each->begin(), each->end());
    all.resize(x.size());
    keep_lowest(x.data(), count_of(x), more.data(), count_of(more));
    EXPECT_EQ(x, all);
  }
}

}  // namespace
}  // namespace etch::rt

#endif
