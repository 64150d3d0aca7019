// Reports a broken invariant and ends the process; see check.h.
#include "compiler/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace etch {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "etch: internal error: %s:%d: %s\n", file, line, condition);
  std::fflush(stderr);
  std::_Exit(70);
}

}  // namespace etch
