// Counts for docs/conformance.md, taken while the tests run. With the environment variable
// ETCH_RESULTS=FILE every tally appends its lines "column, feature, passed, total", separated by
// tabs, to that file (tools/conformance-table sets it); otherwise nothing is written.
#pragma once

#include <map>
#include <string>

namespace etch {

// The results of one column of the table, such as "avx2 compiled float", by feature.
class Tally {
 public:
  explicit Tally(std::string column) : column_(std::move(column)) {}
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  ~Tally();  // writes

  void count(const std::string& feature, bool passed);

 private:
  struct Count {
    int passed = 0;
    int total = 0;
  };
  std::string column_;
  std::map<std::string, Count> counts_;
};

// "QLinearConv/strides" of a recorded case called "QLinearConv/strides/0".
std::string feature_of(const std::string& case_name);

// The rows that docs/conformance.md has for operators whose name begins with `operators`: the
// number of models by feature, "QLinearConv/strides" -> 12.
std::map<std::string, int> documented_rows(const std::string& operators);

}  // namespace etch
