// Compares the file's layers with the program's; see unused_tuning.h.
#include "compiler/schedule/unused_tuning.h"

#include <set>

#include "compiler/base/text.h"
#include "compiler/program/tunable.h"

namespace etch {
namespace {

// Adds (target, layer) of every step.
void add_layers(const Program& program, std::set<std::pair<std::string, std::string>>& layers,
                std::set<std::string>& targets) {
  targets.emplace(program.isa.name);
  for (const auto& step : program.steps) {
    if (step->tunable() != nullptr) layers.emplace(program.isa.name, step->tunable()->key);
  }
  for (const Program& variant : program.variants) add_layers(variant, layers, targets);
}

}  // namespace

void note_unused(const Tuning& tuning, const Program& program, Sink& sink) {
  std::set<std::pair<std::string, std::string>> layers;
  std::set<std::string> targets;
  add_layers(program, layers, targets);
  int elsewhere = 0;
  for (const auto& [key, entry] : tuning.entries) {
    if (layers.count(key) > 0) continue;
    if (targets.count(key.first) == 0) {
      ++elsewhere;
      continue;
    }
    sink.note(DiagKind::kName, cat("line ", entry.line, " of the tuning file"),
              cat("no layer is '", printable(key.second), "'; ignored"));
  }
  if (elsewhere == 0) return;
  sink.note(DiagKind::kName, "the tuning file",
            cat(elsewhere, elsewhere == 1 ? " line is" : " lines are", " for other targets"));
}

}  // namespace etch
