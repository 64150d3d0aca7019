// See results.h.
#include "tests/support/results.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/paths.h"

namespace etch {

Tally::~Tally() {
  const char* const path = std::getenv("ETCH_RESULTS");
  if (path == nullptr) return;
  std::ofstream file(path, std::ios::app);
  for (const auto& [feature, count] : counts_)
    file << column_ << '\t' << feature << '\t' << count.passed << '\t' << count.total << '\n';
}

void Tally::count(const std::string& feature, bool passed) {
  Count& count = counts_[feature];
  ++count.total;
  if (passed) ++count.passed;
}

std::string feature_of(const std::string& case_name) {
  return case_name.substr(0, case_name.rfind('/'));
}

std::map<std::string, int> documented_rows(const std::string& operators) {
  std::ifstream file(source_dir() + "/docs/conformance.md");
  std::map<std::string, int> out;
  std::string op;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) op = line.substr(3);
    std::istringstream cells(line);
    std::string before, feature, models;
    std::getline(cells, before, '|');
    std::getline(cells, feature, '|');
    std::getline(cells, models, '|');
    const int count = std::atoi(models.c_str());
    if (op.rfind(operators, 0) != 0 || feature.size() < 3 || count == 0) continue;
    out[op + "/" + feature.substr(1, feature.size() - 2)] = count;
  }
  return out;
}

}  // namespace etch
