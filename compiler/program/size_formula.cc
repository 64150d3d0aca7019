// Formulas through given numbers; see size_formula.h.
#include "compiler/program/size_formula.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <functional>
#include <set>

#include "compiler/base/check.h"
#include "compiler/base/sha256.h"
#include "compiler/base/text.h"

namespace etch {
namespace {

// Tiles and vectors have at most so many rows or elements.
constexpr std::int64_t kMostDivisor = 64;

// " + 8", " - 8"
std::string summand(std::int64_t value) {
  if (value == 0) return {};
  return value > 0 ? cat(" + ", value) : cat(" - ", -value);
}

// "size / 4 * 64"
std::string product(const std::string& what, std::int64_t factor) {
  return factor == 1 ? what : cat(what, " * ", factor);
}

// Appends a term of a sum.
void add_term(std::string& sum, const std::string& what, std::int64_t factor) {
  if (factor == 0) return;
  if (sum.empty()) {
    sum = factor > 0 ? product(what, factor) : product(cat("-", what), -factor);
  } else {
    sum += cat(factor > 0 ? " + " : " - ", product(what, std::abs(factor)));
  }
}

bool is_word(const std::string& text) { return text.find(' ') == std::string::npos; }

}  // namespace

SizeFormula::SizeFormula(const Values& values) {
  ETCH_CHECK(!values.empty());
  for (std::int64_t d = 1; d <= kMostDivisor; ++d) {
    if (fit(values, d) || (d == 1 && fit_square(values))) break;
    *this = SizeFormula();
    if (d == kMostDivisor) table_ = values;
  }
  most_ = std::ranges::max_element(values, {}, [](const auto& v) { return v.second; })->second;
}

// Two numbers whose sizes leave the same rest give the slope, two of the same quotient the rest.
bool SizeFormula::fit(const Values& values, std::int64_t divisor) {
  divisor_ = divisor;
  const auto& [size0, value0] = values.front();
  for (const auto& [size, value] : values) {
    const std::int64_t quotients = size / divisor - size0 / divisor;
    if (size % divisor != size0 % divisor || quotients == 0) continue;
    if ((value - value0) % quotients != 0) return false;
    slope_ = (value - value0) / quotients;
    break;
  }
  for (const auto& [size, value] : values) {
    const std::int64_t rests = size % divisor - size0 % divisor;
    if (rests == 0) continue;
    const std::int64_t left = value - value0 - slope_ * (size / divisor - size0 / divisor);
    if (left % rests != 0) return false;
    rest_ = left / rests;
    break;
  }
  constant_ = value0 - slope_ * (size0 / divisor) - rest_ * (size0 % divisor);
  return gives(values);
}

bool SizeFormula::fit_square(const Values& values) {
  if (values.size() < 4) return false;  // three would always fit
  const auto& [s0, v0] = values[0];
  const auto& [s1, v1] = values[1];
  const auto& [s2, v2] = values[2];
  // Divided differences.
  if ((v1 - v0) % (s1 - s0) != 0 || (v2 - v1) % (s2 - s1) != 0) return false;
  const std::int64_t first = (v1 - v0) / (s1 - s0);
  const std::int64_t second = (v2 - v1) / (s2 - s1);
  if ((second - first) % (s2 - s0) != 0) return false;
  divisor_ = 1;
  rest_ = 0;
  square_ = (second - first) / (s2 - s0);
  slope_ = first - square_ * (s0 + s1);
  constant_ = v0 - square_ * s0 * s0 - slope_ * s0;
  return gives(values);
}

// And no term leaves int on the way.
bool SizeFormula::gives(const Values& values) const {
  const auto small = [](std::int64_t term) { return std::abs(term) < INT_MAX / 4; };
  return std::ranges::all_of(values, [&](const auto& each) {
    const std::int64_t size = each.first;
    if (is_constant()) return constant_ == each.second;
    return small(square_ * size * size) && small(slope_ * (size / divisor_)) &&
           small(rest_ * (size % divisor_)) && small(constant_) && at(size) == each.second;
  });
}

std::int64_t SizeFormula::at(std::int64_t size) const {
  if (!table_.empty()) {
    const auto found = std::ranges::find(table_, size, &Values::value_type::first);
    ETCH_CHECK(found != table_.end());
    return found->second;
  }
  return square_ * size * size + slope_ * (size / divisor_) + rest_ * (size % divisor_) + constant_;
}

std::string SizeFormula::text(std::string_view size) const {
  if (is_table()) return cat(table_name(), "[", size, " - ", table_.front().first, "]");
  if (is_constant()) return cat(constant_);
  std::string sum;
  add_term(sum, cat(size, " * ", size), square_);
  if (divisor_ == 1) {
    add_term(sum, std::string(size), slope_);
  } else {
    add_term(sum, cat(size, " / ", divisor_), slope_);
    add_term(sum, cat(size, " % ", divisor_), rest_);
  }
  return sum + summand(constant_);
}

std::string SizeFormula::factor() const {
  std::string out = text();
  return is_word(out) || is_table() ? out : cat("(", out, ")");
}

std::string SizeFormula::table_name() const {
  constexpr std::size_t kDigits = 8;
  std::string text;
  for (const auto& [size, value] : table_) text += cat(size, " ", value, "\n");
  return cat("sizes_", sha256_hex(text).substr(0, kDigits));
}

std::string SizeFormula::table_definition() const {
  return cat("inline constexpr ", table_declaration(table_name()));
}

// Sizes between those that it is made of never ask.
std::string SizeFormula::table_declaration(const std::string& name) const {
  const bool wide = most_ > INT32_MAX;
  std::string list;
  std::int64_t next = table_.front().first;
  for (const auto& [size, value] : table_) {
    for (; next < size; ++next) list += "0, ";
    list += cat(value, ", ");
    ++next;
  }
  list.resize(list.size() - 2);
  return cat(wide ? "int64_t " : "int32_t ", name, "[] = {", list, "};");
}

std::string size_condition(const std::vector<std::int64_t>& these,
                           const std::vector<std::int64_t>& all) {
  using Holds = std::function<bool(std::int64_t)>;
  constexpr char kNone[] = "none";
  const std::set<std::int64_t> wanted(these.begin(), these.end());
  const std::int64_t least = these.front(), most = these.back();
  if (least == most && all.size() > 1) return cat("size == ", least);
  // The first of "", "size >= 4", "size <= 9" and both of them with which `holds` is exact.
  const auto with_ends = [&](const std::string& text, const Holds& holds) -> std::string {
    for (const int ends : {0, 1, 2, 3}) {
      const bool from = (ends & 1) != 0, to = (ends & 2) != 0;
      const bool exact = std::ranges::all_of(all, [&](std::int64_t size) {
        const bool inside = (!from || size >= least) && (!to || size <= most);
        return (inside && holds(size)) == wanted.contains(size);
      });
      if (!exact) continue;
      std::string out = from ? cat("size >= ", least) : "";
      if (to) out += cat(from ? " && " : "", "size <= ", most);
      if (out.empty() || text.empty()) return out.empty() ? text : out;
      return cat(out, " && ", text);
    }
    return kNone;
  };
  const std::string range = with_ends("", [](std::int64_t) { return true; });
  if (range != kNone) return range.empty() ? "true" : range;
  for (std::int64_t d = 2; d <= kMostDivisor; ++d) {
    const std::int64_t rest = least % d;
    std::string equal = with_ends(cat("size % ", d, " == ", rest),
                                  [&](std::int64_t size) { return size % d == rest; });
    if (equal != kNone) return equal;
    std::string other =
        with_ends(cat("size % ", d, " != 0"), [&](std::int64_t size) { return size % d != 0; });
    if (other != kNone) return other;
  }
  return {};
}

}  // namespace etch
