// Also the fuzzing programs' own check_failed(): the compiler's leaves the process with exit code
// 70, which libFuzzer would not take for a finding. Defined here, the one in the library is not
// linked.
#include "fuzz/finding.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/base/check.h"

namespace etch {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "etch: internal error: %s:%d: %s\n", file, line, condition);
  std::abort();
}

namespace fuzz {

void finding(std::string_view what) {
  std::fprintf(stderr, "finding: %s\n", std::string(what).c_str());
  std::abort();
}

}  // namespace fuzz
}  // namespace etch
