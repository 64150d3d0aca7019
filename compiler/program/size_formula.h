// A whole number of generated code that depends on the size with which the network runs: a count of
// rows, a stride, a place in memory. It is made of the numbers of the networks that are compiled
// for each size, and gives exactly those: what no formula gives becomes a table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace etch {

class SizeFormula {
 public:
  // Of each size the number; sizes ascend, at least one.
  using Values = std::vector<std::pair<std::int64_t, std::int64_t>>;

  SizeFormula() = default;  // 0 for every size
  explicit SizeFormula(const Values& values);

  bool is_constant() const { return table_.empty() && square_ == 0 && slope_ == 0 && rest_ == 0; }
  bool is_table() const { return !table_.empty(); }
  // For one of the sizes that it was made of.
  std::int64_t at(std::int64_t size) const;
  std::int64_t most() const { return most_; }

  // In C++, of a variable `size`, or of another name, of type int: "size * 384",
  // "size / 4 * 64 + 8", "96". Nothing in it leaves int. A table is "NAME[size - FIRST]", with the
  // name of table_name().
  std::string text(std::string_view size = "size") const;
  // The same as a factor: in parentheses unless it is one word.
  std::string factor() const;

  // "sizes_" and a hash of the table, so that equal ones have one name; and its definition, a line.
  std::string table_name() const;
  std::string table_definition() const;
  // "int32_t NAME[] = {5, 1};", which C has as well.
  std::string table_declaration(const std::string& name) const;

  bool operator==(const SizeFormula& other) const = default;

 private:
  bool fit(const Values& values, std::int64_t divisor);
  bool fit_square(const Values& values);
  bool gives(const Values& values) const;

  // square * size * size + slope * (size / divisor) + rest * (size % divisor) + constant
  std::int64_t square_ = 0, slope_ = 0, rest_ = 0, constant_ = 0;
  std::int64_t divisor_ = 1;
  std::int64_t most_ = 0;
  Values table_;
};

// A condition on `size` that holds for `these` of the sizes `all` and for no other of them, both
// ascending: "size >= 4 && size % 4 == 1". Empty if it needs a table.
std::string size_condition(const std::vector<std::int64_t>& these,
                           const std::vector<std::int64_t>& all);

}  // namespace etch
