// Finds the steps that --unroll means; see unroll_steps.h.
#include "compiler/schedule/unroll_steps.h"

#include "compiler/base/text.h"
#include "compiler/program/tunable.h"

namespace etch {
namespace {

void unroll(Step& step, const IsaTraits& isa, const Unrolling& unrolling, Sink& sink) {
  TunableTiles& tiles = *step.tunable();
  if (tiles.unroll(isa, unrolling)) {
    step.facts.push_back(cat("unrolling as asked for: ", text_of(unrolling)));
    return;
  }
  const std::string what =
      cat("unrolling ", text_of(unrolling), " would be too long (", kMostTileStatements,
          " statements in a function, ", kMostUnrolledStatements,
          " in a step): ", counted(tiles.tile_summary(isa).unrolled_groups, "group"),
          " of 4 bytes of K at a time");
  step.facts.push_back(what);
  sink.note(DiagKind::kLimit, step.name, what);
}

// Names of the steps that can be unrolled.
std::string choices(const Program& program) {
  constexpr int kMost = 40;
  std::string out;
  int count = 0;
  for (const auto& step : program.steps) {
    if (step->tunable() == nullptr) continue;
    if (count < kMost) out += cat(count == 0 ? "" : ", ", step->name);
    ++count;
  }
  if (count > kMost) out += cat(" and ", count - kMost, " more, see report.html");
  return count == 0 ? "no layer can be unrolled" : cat("those that can be unrolled are ", out);
}

void refuse_unknown(const Program& program, const UnrollRequest& request, Sink& sink) {
  for (const auto& [name, unrolling] : request.layers) {
    const Step* found = nullptr;
    for (const auto& step : program.steps) {
      if (step->name == name) found = step.get();
    }
    if (found != nullptr && found->tunable() != nullptr) continue;
    const std::string where = cat("--unroll ", printable(name), "=", text_of(unrolling));
    sink.error(DiagKind::kName, where,
               cat(found == nullptr ? "there is no layer of this name; "
                                    : cat("this layer (", found->kind, ") has no loop over K; "),
                   choices(program)));
  }
}

}  // namespace

void unroll_steps(Program& program, const UnrollRequest& request, Sink& sink) {
  refuse_unknown(program, request, sink);
  for (const auto& step : program.steps) {
    if (step->tunable() == nullptr) continue;
    const auto it = request.layers.find(step->name);
    const Unrolling& unrolling = it == request.layers.end() ? request.all : it->second;
    if (unrolling.kind != Unrolling::Kind::kAuto) unroll(*step, program.isa, unrolling, sink);
  }
}

}  // namespace etch
