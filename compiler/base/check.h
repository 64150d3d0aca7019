// ETCH_CHECK: an invariant of the compiler itself. A failure is our bug, never the user's: it
// prints the condition with file and line and aborts (the command line turns that into exit
// code 70). Faults of a model are diagnostics (compiler/diag), not checks.
#pragma once

namespace etch {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace etch

#define ETCH_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::etch::check_failed(#condition, __FILE__, __LINE__))
