// See targets.h.
#include "tests/support/targets.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "compiler/base/text.h"

namespace etch {
namespace {

// Names of targets are literals, so they end with a NUL.
const char* literal(const IsaTraits& isa) { return isa.name.data(); }

std::vector<const char*> names_but(std::span<const IsaTraits* const> targets,
                                   std::initializer_list<LeftOut> left_out) {
  for (const LeftOut& each : left_out) {
    const auto known = [&](const IsaTraits* isa) { return isa->name == each.target; };
    if (std::ranges::none_of(targets, known) || each.reason.empty()) {
      throw std::invalid_argument(cat("left out without a reason, or no target: ", each.target));
    }
  }
  std::vector<const char*> names;
  for (const IsaTraits* const isa : targets) {
    const auto same = [&](const LeftOut& each) { return each.target == isa->name; };
    if (std::none_of(left_out.begin(), left_out.end(), same)) names.push_back(literal(*isa));
  }
  return names;
}

}  // namespace

std::vector<const char*> all_targets_but(std::initializer_list<LeftOut> left_out) {
  return names_but(all_targets(), left_out);
}

std::vector<const char*> one_for_each_assembly_but(std::initializer_list<LeftOut> left_out) {
  std::vector<const IsaTraits*> first;
  for (const CrossTarget& target : cross_targets()) {
    const auto same = [&](const IsaTraits* isa) { return isa->assembly == target.isa->assembly; };
    if (target.isa->assembly != Assembly::kNone && std::ranges::none_of(first, same))
      first.push_back(target.isa);
  }
  return names_but(first, left_out);
}

std::vector<const char*> targets_where(bool (*wanted)(const IsaTraits&)) {
  std::vector<const char*> names;
  for (const IsaTraits* const isa : all_targets()) {
    if (wanted(*isa)) names.push_back(literal(*isa));
  }
  if (names.empty()) throw std::invalid_argument("no target fulfils the condition");
  return names;
}

std::vector<const IsaTraits*> plans() {
  std::vector<const IsaTraits*> out(all_targets().begin(), all_targets().end());
  for (const CrossTarget& target : cross_targets()) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const IsaTraits* isa) {
      return isa->assembly == target.isa->assembly && isa->vocabulary == target.isa->vocabulary;
    });
    if (!known) out.push_back(target.isa);
  }
  return out;
}

std::string name_of_target(const testing::TestParamInfo<const char*>& each) {
  return folder_of_target(each.param);
}

}  // namespace etch
