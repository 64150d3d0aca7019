// See cpu_features.h. Another feature takes its line in kFeatures.
#include "compiler/targets/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <iterator>

#include "compiler/base/check.h"

namespace etch {

namespace {

struct Feature {
  std::string_view name;
  bool (*is_there)();
};

#if defined(__x86_64__)
// clang 14 does not know this one by name.
bool has_avxvnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 &&
         (a >> 4 & 1) != 0;
}
// The compiler's CPU test includes what the operating system saves on a context switch. It takes
// literals only.
#define ETCH_FEATURE(text)                                 \
  {                                                        \
    text, [] { return __builtin_cpu_supports(text) != 0; } \
  }
#else
bool has_avxvnni() { return false; }
#define ETCH_FEATURE(text)     \
  {                            \
    text, [] { return false; } \
  }
#endif

constexpr Feature kFeatures[] = {
    ETCH_FEATURE("sse4.1"),   ETCH_FEATURE("avx2"),       ETCH_FEATURE("fma"),
    ETCH_FEATURE("avx512f"),  ETCH_FEATURE("avx512bw"),   ETCH_FEATURE("avx512vl"),
    ETCH_FEATURE("avx512dq"), ETCH_FEATURE("avx512vnni"), {"avxvnni", has_avxvnni},
};

#undef ETCH_FEATURE

bool cpu_has(std::string_view feature) {
  const auto* const found = std::ranges::find(kFeatures, feature, &Feature::name);
  ETCH_CHECK(found != std::end(kFeatures));
  return found->is_there();
}

}  // namespace

bool cpu_has_all(std::string_view features) {
  while (!features.empty()) {
    const std::size_t end = std::min(features.find(' '), features.size());
    if (!cpu_has(features.substr(0, end))) return false;
    features.remove_prefix(std::min(end + 1, features.size()));
  }
  return true;
}

}  // namespace etch
