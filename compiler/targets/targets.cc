// See targets.h. An instruction set of this machine's kind is its folder and its line in isas.def;
// for another machine see cross_targets.cc.
#include "compiler/targets/targets.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "compiler/base/check.h"
#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "compiler/targets/aliases.h"
#include "compiler/targets/multi.h"
#include "generated/isa_traits.h"
#if defined(__x86_64__)
#include "runtime/etch_cpu.h"
#endif

namespace etch {
namespace {

constexpr std::array kBestFirst = {
#define ETCH_ISA(folder) &isa::k_##folder,
#include "templates/isa/isas.def"
#undef ETCH_ISA
};

// Whether this machine executes it, asked as the code for x86-64-multi asks.
struct Test {
  std::string_view name;
  bool (*runs_here)();
};

#if defined(__x86_64__)
bool has_scalar(const rt::Cpu&) { return true; }
#define ETCH_ISA(folder) {isa::k_##folder.name, [] { return has_##folder(rt::read_cpu()); }},
#else
#define ETCH_ISA(folder) {isa::k_##folder.name, [] { return isa::k_##folder.name == "scalar"; }},
#endif
constexpr Test kTests[] = {
#include "templates/isa/isas.def"
};
#undef ETCH_ISA

}  // namespace

std::span<const IsaTraits* const> all_targets() { return kBestFirst; }

std::span<const IsaTraits* const> multi_variants() { return kBestFirst; }

std::string folder_of_target(std::string_view name) {
  std::string folder(name);
  std::replace(folder.begin(), folder.end(), '-', '_');
  return folder;
}

std::vector<std::string> target_flags(std::string_view name) {
  if (is_multi(name)) return {};  // each variant's files have their own
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
#if defined(__x86_64__)
  if (name == kMultiTarget) return true;
#endif
  const auto* const found = std::ranges::find(kTests, name, &Test::name);
  return found != std::end(kTests) && found->runs_here();
}

const IsaTraits* find_target(std::string_view asked) {
  const std::string_view name = without_alias(asked);
  if (const MultiTarget* const several = multi_target(name)) return several->isa;
  for (const IsaTraits* isa : all_targets()) {
    if (name == "native" ? target_runs_here(isa->name) : isa->name == name) return isa;
  }
  for (const CrossTarget& target : cross_targets()) {
    if (target.isa->name == name) return target.isa;
  }
  return nullptr;
}

}  // namespace etch
