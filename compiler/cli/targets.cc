// `etch targets`: what can be generated, and what of it can be built and run on this machine.
#include "compiler/targets/targets.h"

#include <memory>

#include "compiler/base/text.h"
#include "compiler/cli/columns.h"
#include "compiler/cli/json.h"
#include "compiler/cli/options.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/aliases.h"
#include "compiler/targets/multi.h"

namespace etch::cli {
namespace {

std::string sentence(const TargetStatus& status) {
  if (status.compiler.empty()) return cat("cannot be built here: ", status.missing);
  const std::string builds = cat("builds with ", status.compiler);
  if (status.cpu_has_it) return cat(builds, ", runs on this CPU");
  if (!status.emulator.empty()) return cat(builds, ", runs in ", status.emulator);
  return cat(builds, ", cannot run here: ", status.missing);
}

ExitCode list_targets() {
  constexpr std::size_t kName = 17;
  constexpr std::size_t kTitle = 32;
  const IsaTraits* native = find_target("native");
  for (const IsaTraits* isa : all_targets()) {
    print_line(cat(left_aligned(isa->name, kName), left_aligned(isa->title, kTitle),
                   sentence(status_of(*isa)), isa == native ? "  <- native" : ""));
  }
  const IsaTraits& several = *find_target(kMultiTarget);
  print_line(cat(left_aligned(several.name, kName), left_aligned(several.title, kTitle),
                 sentence(status_of(several)), "; all of the above in one"));
  for (const CrossTarget& target : cross_targets()) {
    const std::string board =
        target.machine->board.empty() ? "" : cat(", board ", target.machine->board);
    print_line(cat(left_aligned(target.isa->name, kName), left_aligned(target.isa->title, kTitle),
                   sentence(status_of(*target.isa)), board));
  }
  const IsaTraits& arm = *find_target(kArmMultiTarget);
  print_line(cat(left_aligned(arm.name, kName), left_aligned(arm.title, kTitle),
                 sentence(status_of(arm)), "; aarch64, -dotprod and -i8mm in one"));
  for (const TargetAlias& alias : target_aliases()) {
    print_line(cat(left_aligned(alias.name, kName), "takes the code of ", alias.target));
  }
  return ExitCode::kOk;
}

Json json_of(const IsaTraits& isa) {
  const TargetStatus status = status_of(isa);
  Json out{{"target", isa.name},
           {"title", isa.title},
           {"builds_here", !status.compiler.empty()},
           {"runs_here", status.runs_here()}};
  if (!status.compiler.empty()) out["compiler"] = status.compiler;
  if (!status.emulator.empty()) out["emulator"] = status.emulator;
  if (!status.missing.empty()) out["missing"] = status.missing;
  const Machine* const machine = machine_of(isa.name);
  if (machine != nullptr && !machine->board.empty()) out["board"] = machine->board;
  return out;
}

ExitCode list_targets_as_json() {
  Json targets = Json::array();
  for (const IsaTraits* isa : all_targets()) targets.push_back(json_of(*isa));
  targets.push_back(json_of(*find_target(kMultiTarget)));
  for (const CrossTarget& target : cross_targets()) targets.push_back(json_of(*target.isa));
  targets.push_back(json_of(*find_target(kArmMultiTarget)));
  Json aliases = Json::array();
  for (const TargetAlias& alias : target_aliases()) {
    aliases.push_back({{"name", alias.name}, {"target", alias.target}});
  }
  print_json({{"native", find_target("native")->name},
              {"targets", std::move(targets)},
              {"aliases", std::move(aliases)}});
  return ExitCode::kOk;
}

}  // namespace

Command add_targets(const Parser& root) {
  const Parser parser =
      root.add_subcommand("targets", "List the targets and what can be built and run here");
  auto json = std::make_shared<bool>(false);
  add_json_flag(parser, *json);
  return {parser, [json](Reporter&) { return *json ? list_targets_as_json() : list_targets(); }};
}

}  // namespace etch::cli
