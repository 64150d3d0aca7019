// Pieces of functions of 16-bit values; see word_cubics.h. A piece begins as the polynomial whose
// greatest distance from the results is least, among real numbers. Its factors become integers
// one after the other, the highest power first, where what rounding changes is given to the
// lower ones. Then all its results are computed; where one is wrong a piece is made shorter.
#include "compiler/kernels/rows/word_cubics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/base/check.h"
#include "runtime/etch_word_table.h"

namespace etch {

namespace {
constexpr int kPoints = 5;  // a polynomial of degree 3 cannot be nearer to five alternating ones
using WordResults = std::span<const std::int32_t>;
using RealFactors = std::array<double, 4>;

// Remez's exchange: of the polynomials the one that is equally far from five results, with signs
// that alternate; the farthest of all results replaces one of the five until it is none other.
class NearestCubic {
 public:
  explicit NearestCubic(WordResults results)
      : results_(results),
        size_(static_cast<int>(results.size())),
        points_(std::min(kPoints, size_)) {
    // Of Chebyshev's points, which a cosine would give: a C library's is not the same on all CPUs.
    constexpr double kPlaces[kPoints][kPoints] = {
        {0}, {0, 1}, {0, 0.5, 1}, {0, 0.25, 0.75, 1}, {0, 0.1464466094, 0.5, 0.8535533906, 1}};
    for (int k = 0; k < points_; ++k)
      at_[index(k)] = static_cast<int>(std::lround((size_ - 1) * kPlaces[points_ - 1][k]));
  }

  // None if every polynomial is half a step away from some result.
  std::optional<RealFactors> found() {
    constexpr int kMostRounds = 30;
    constexpr double kHalf = 0.5 + 1e-9, kNearEnough = 1e-5, kNotSettled = 0.51;
    RealFactors best{};
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kMostRounds; ++round) {
      level();
      if (std::abs(level_) > kHalf) return {};
      const auto [at, distance] = farthest();
      if (std::abs(distance) < least) {
        least = std::abs(distance);
        best = factors_;
      }
      if (std::abs(distance) <= std::abs(level_) + kNearEnough || !exchange(at, distance)) break;
    }
    if (least > kNotSettled) return {};
    return best;
  }

 private:
  static std::size_t index(int k) { return static_cast<std::size_t>(k); }
  double result(int along) const { return results_[index(size_ - 1 - along)]; }

  // By divided differences (Newton): of the results, and of the signs that the distances have.
  void level() {
    std::array<double, kPoints> of{}, sign{};
    for (int k = 0; k < points_; ++k) {
      of[index(k)] = result(at_[index(k)]);
      sign[index(k)] = k % 2 == 0 ? 1 : -1;
    }
    for (int order = 1; order < points_; ++order) {
      for (int k = points_ - 1; k >= order; --k) {
        const double apart = at_[index(k)] - at_[index(k - order)];
        of[index(k)] = (of[index(k)] - of[index(k - 1)]) / apart;
        sign[index(k)] = (sign[index(k)] - sign[index(k - 1)]) / apart;
      }
    }
    level_ = points_ < kPoints ? 0 : of.back() / sign.back();
    factors_ = {};
    for (int k = std::min(points_, kPoints - 1) - 1; k >= 0; --k) {
      const double point = at_[index(k)];
      for (std::size_t j = factors_.size() - 1; j > 0; --j)
        factors_[j] = factors_[j - 1] - point * factors_[j];
      factors_[0] = of[index(k)] - level_ * sign[index(k)] - point * factors_[0];
    }
  }

  std::pair<int, double> farthest() const {
    std::pair<int, double> out{0, 0};
    const auto [f0, f1, f2, f3] = factors_;
    for (int along = 0; along < size_; ++along) {
      const double distance = result(along) - (((f3 * along + f2) * along + f1) * along + f0);
      if (std::abs(distance) > std::abs(out.second)) out = {along, distance};
    }
    return out;
  }

  // Takes the point in, in place of a neighbour of its sign or of the one at the other end.
  bool exchange(int at, double distance) {
    if (points_ < kPoints) return false;
    const auto next = std::ranges::upper_bound(at_, at);
    if (next != at_.begin() && *(next - 1) == at) return false;
    const auto same_sign = [&](auto point) {
      return (distance > 0) == ((level_ > 0) == ((point - at_.begin()) % 2 == 0));
    };
    if (next == at_.begin()) {
      if (!same_sign(next)) std::rotate(at_.begin(), at_.end() - 1, at_.end());
      at_.front() = at;
    } else if (next == at_.end()) {
      if (!same_sign(next - 1)) std::rotate(at_.begin(), at_.begin() + 1, at_.end());
      at_.back() = at;
    } else {
      *(same_sign(next) ? next : next - 1) = at;
    }
    return true;
  }

  WordResults results_;
  int size_, points_;
  std::array<int, kPoints> at_{};  // ascending distances from the last value
  double level_ = 0;
  RealFactors factors_{};
};

bool fits_31_bits(std::int64_t x) { return x == static_cast<std::int32_t>(x); }

// Computes all results as generated code does, without the last sum, and chooses factor 0 so that
// they are right. False if there is none, or if something does not fit 32 bits.
bool settle(WordCubic& cubic, WordResults results, WordRounding rounding) {
  constexpr std::int64_t kOne = std::int64_t{1} << rt::kWordFraction;
  std::int64_t least = std::numeric_limits<std::int32_t>::min();
  std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto along = static_cast<std::int64_t>(results.size() - 1 - i);
    std::int64_t sum = cubic.factors[3];
    for (const std::size_t power : {2U, 1U, 0U}) {
      if (!fits_31_bits(sum * along)) return false;
      sum = (sum * along) >> cubic.shift;
      if (power > 0) sum += cubic.factors[power];
      if (!fits_31_bits(sum)) return false;
    }
    // An even result has both ties next to it, an odd one none; rounded down each has the lower.
    const std::int64_t result = results[i], to_even = rounding == WordRounding::kToEven ? 1 : 0;
    const std::int64_t below = result % 2 == 0 ? to_even : 0, above = to_even - below;
    least = std::max(least, result * kOne - below - sum);
    most = std::min(most, (result + 1) * kOne - 1 - above - sum);
    if (least > most) return false;
  }
  cubic.factors[0] = static_cast<std::int32_t>((least + most) >> 1);
  return true;
}

// Integer factors of powers of along / 2^shift, in units of 2^-kWordFraction. What is left of a
// power is replaced by what lower powers have nearest to it (Chebyshev's polynomials for the
// distances of this piece).
std::optional<WordCubic> rounded_cubic(const RealFactors& real, int size) {
  constexpr double kNearest[4][3] = {{}, {0.5}, {-0.125, 1}, {1.0 / 32, -18.0 / 32, 1.5}};
  WordCubic out;
  while ((1 << out.shift) < size && out.shift < rt::kMostWordShift) ++out.shift;
  const double width = std::ldexp(size - 1, -out.shift);
  RealFactors factors{};
  for (std::size_t k = 0; k < 4; ++k)
    factors[k] = std::ldexp(real[k], rt::kWordFraction + out.shift * static_cast<int>(k));
  for (const std::size_t k : {3U, 2U, 1U}) {
    const int unit = k == 3 ? rt::kMostWordShift + 1 : 1;
    const double rounded = std::nearbyint(factors[k] / unit) * unit;
    if (std::abs(rounded) > (k == 3 ? 32767 - unit : std::numeric_limits<std::int32_t>::max() - 2))
      return {};
    out.factors[k] = static_cast<std::int32_t>(rounded);
    double rest = factors[k] - rounded;
    for (std::size_t j = k; j-- > 0;) {
      rest *= width;
      factors[j] += rest * kNearest[k][j];
    }
  }
  return out;
}

std::optional<WordCubic> piece_of(WordResults results, WordRounding rounding) {
  const auto real = NearestCubic(results).found();
  if (!real) return {};
  auto cubic = rounded_cubic(*real, static_cast<int>(results.size()));
  if (!cubic) return {};
  // The nearest integers are not always the best ones.
  constexpr int kChanges[][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, -1}, {-1, 1}};
  for (const auto& change : kChanges) {
    WordCubic changed = *cubic;
    changed.factors[1] += change[0];
    changed.factors[2] += change[1];
    if (settle(changed, results, rounding)) return changed;
  }
  return {};
}

class WordPieces {
 public:
  WordPieces(WordResults results, WordRounding rounding) : results_(results), rounding_(rounding) {
    while (first() < count_) add_longest();
    for (std::size_t i = 1; i + 1 < pieces_.size(); ++i) make_room(i);
  }
  std::vector<WordCubic> take() { return std::move(pieces_); }

 private:
  int first(std::size_t piece) const { return piece == 0 ? 0 : pieces_[piece - 1].last + 1; }
  int first() const { return first(pieces_.size()); }

  // From `first` to `last`.
  std::optional<WordCubic> piece(int first, int last) const {
    const auto begin = static_cast<std::size_t>(first), end = static_cast<std::size_t>(last) + 1;
    auto out = piece_of(results_.subspan(begin, end - begin), rounding_);
    if (out) out->last = last;
    return out;
  }

  int equal_results() const {
    const auto from = results_.begin() + first();
    return static_cast<int>(
        std::find_if(from, results_.end(), [&](std::int32_t x) { return x != *from; }) - from);
  }

  // Begins with the size of the piece before, and ends when the size is known, of long ones nearly.
  void add_longest() {
    std::optional<WordCubic> best;
    const int start = first(), left = count_ - start;
    int fits = 0, too_many = left + 1, size = std::min(size_, left);
    while (too_many - fits > std::max(1, fits / 512)) {
      if (auto found = piece(start, start + size - 1)) {
        best = found;
        fits = size;
        if (fits == left) break;
      } else {
        too_many = size;
      }
      if (fits == 0) {
        size = too_many / 2;
      } else if (too_many > left) {
        size = std::min(left, fits + fits / 2 + 1);
      } else {
        size = (fits + too_many) / 2;
      }
    }
    if (const int equal = equal_results(); equal > fits) {
      if (auto found = piece(start, start + equal - 1)) best = found;
    }
    ETCH_CHECK(best);  // two results are on a line
    pieces_.push_back(*best);
    size_ = best->last - start + 1;
  }

  // A short piece before a bend takes values of the piece before it, so that one block does not
  // have the ends of both.
  void make_room(std::size_t i) {
    constexpr int kBlock = 1 << kWordBlockBits, kStep = 16;
    const int start = first(i) / kBlock * kBlock, from = std::max(first(i - 1), start - kBlock);
    if ((pieces_[i].last + 1) / kBlock * kBlock != start) return;
    for (int begin = start; begin > from + 1; begin -= kStep) {
      const auto before = piece(first(i - 1), begin - 1), own = piece(begin, pieces_[i].last);
      if (!before || !own) continue;
      pieces_[i - 1] = *before;
      pieces_[i] = *own;
      return;
    }
  }

  WordResults results_;
  WordRounding rounding_;
  int count_ = static_cast<int>(results_.size());
  int size_ = 64;
  std::vector<WordCubic> pieces_;
};
}  // namespace

std::vector<WordCubic> word_cubics(std::span<const std::int32_t> results, WordRounding rounding) {
  return WordPieces(results, rounding).take();
}

}  // namespace etch
