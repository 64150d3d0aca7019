// See targets.h. Supporting another instruction set of x86-64 takes its folder, its line in
// isas.def, and here its include, its place in the ranking and its CPU test; for another machine
// see cross_targets.cc.

#include "compiler/targets/targets.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>

#include "compiler/base/check.h"
#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "templates/isa/avx2/traits.h"
#include "templates/isa/avx512_vnni/traits.h"
#include "templates/isa/avx_vnni/traits.h"
#include "templates/isa/scalar/traits.h"
#include "templates/isa/sse41/traits.h"

namespace etch {
namespace {

constexpr std::array kBestFirst = {&isa::k_avx512_vnni, &isa::k_avx_vnni, &isa::k_avx2,
                                   &isa::k_sse41, &isa::k_scalar};

// Not an instruction set; its facts are those of the best variant.
constexpr IsaTraits multi_traits() {
  IsaTraits out = isa::k_avx512_vnni;
  out.name = kMultiTarget;
  out.title = "x86-64, chosen by CPUID";
  return out;
}
constexpr IsaTraits kMulti = multi_traits();

constexpr int kListed = 0
#define ETCH_ISA(folder) +1
#include "templates/isa/isas.def"
#undef ETCH_ISA
    ;
static_assert(kBestFirst.size() == kListed, "every line of isas.def has a place in the ranking");

#if defined(__x86_64__)
// The compiler's CPU test includes what the operating system saves on a context switch.
bool cpu_has_avx512_vnni() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("fma");
}
bool cpu_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
// clang 14 does not know this one by name.
bool cpu_has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return cpu_has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}
bool cpu_has_sse41() { return __builtin_cpu_supports("sse4.1"); }
#else
bool cpu_has_avx512_vnni() { return false; }
bool cpu_has_avx_vnni() { return false; }
bool cpu_has_avx2() { return false; }
bool cpu_has_sse41() { return false; }
#endif

}  // namespace

std::span<const IsaTraits* const> all_targets() { return kBestFirst; }

std::span<const IsaTraits* const> multi_variants() { return kBestFirst; }

std::string folder_of_target(std::string_view name) {
  std::string folder(name);
  std::replace(folder.begin(), folder.end(), '-', '_');
  return folder;
}

std::vector<std::string> target_flags(std::string_view name) {
  if (name == kMultiTarget) return {};  // each variant's files have their own
  constexpr std::string_view kBegin = "set(ETCH_ISA_FLAGS";
  constexpr std::string_view kSpace = " \n";
  const std::string_view file =
      embedded_file(cat("templates/isa/", folder_of_target(name), "/flags.cmake"));
  const std::size_t begin = file.find(kBegin);
  ETCH_CHECK(begin != std::string_view::npos);
  std::string_view rest = file.substr(begin + kBegin.size());
  rest = rest.substr(0, rest.find(')'));
  std::vector<std::string> flags;
  for (;;) {
    const std::size_t start = rest.find_first_not_of(kSpace);
    if (start == std::string_view::npos) return flags;
    rest = rest.substr(start);
    const std::size_t length = std::min(rest.find_first_of(kSpace), rest.size());
    flags.emplace_back(rest.substr(0, length));
    rest = rest.substr(length);
  }
}

bool target_runs_here(std::string_view name) {
  if (name == "avx512_vnni") return cpu_has_avx512_vnni();
  if (name == "avx_vnni") return cpu_has_avx_vnni();
  if (name == "avx2") return cpu_has_avx2();
  if (name == "sse41") return cpu_has_sse41();
#if defined(__x86_64__)
  if (name == kMultiTarget) return true;
#endif
  return name == "scalar";
}

const IsaTraits* find_target(std::string_view name) {
  if (name == kMultiTarget) return &kMulti;
  for (const IsaTraits* isa : all_targets()) {
    if (name == "native" ? target_runs_here(isa->name) : isa->name == name) return isa;
  }
  for (const CrossTarget& target : cross_targets()) {
    if (target.isa->name == name) return target.isa;
  }
  return nullptr;
}

}  // namespace etch
