// `etch targets`: what can be generated, and what of it can be built and run on this machine.
#include "compiler/targets/targets.h"

#include "compiler/base/text.h"
#include "compiler/cli/columns.h"
#include "compiler/cli/options.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/aliases.h"

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
  for (const TargetAlias& alias : target_aliases()) {
    print_line(cat(left_aligned(alias.name, kName), "takes the code of ", alias.target));
  }
  return ExitCode::kOk;
}

}  // namespace

Command add_targets(const Parser& root) {
  const Parser parser =
      root.add_subcommand("targets", "List the targets and what can be built and run here");
  return {parser, [](Reporter&) { return list_targets(); }};
}

}  // namespace etch::cli
