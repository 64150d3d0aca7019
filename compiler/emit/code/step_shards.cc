// The functions of the steps, recorded and cut into files; see parts.h.
#include <map>
#include <set>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/code/shared_bodies.h"
#include "compiler/stage/recorder.h"

namespace etch {
namespace {

// Statements of one file: a few seconds of compilation, and enough files for two cores.
constexpr int kShardStatements = 4000;

}  // namespace

std::string kernel_pragmas() {
  return "#if defined(__GNUC__) && !defined(__clang__)\n"
         "// Without these gcc 12 moves accumulators between registers and stack: up to 2.2 times\n"
         "// slower. They must stand before the includes.\n"
         "#pragma GCC optimize(\"no-tree-coalesce-vars\", \"no-predictive-commoning\")\n"
         "#endif\n";
}

std::vector<std::string> step_definitions(const EmitContext& context) {
  std::vector<std::string> shards;
  int statements = kShardStatements;
  const std::map<std::string, std::string> bodies = shared_bodies(context.program);
  std::set<std::string> defined;
  for (const auto& step : context.program.steps) {
    if (step->shares_code()) continue;
    const auto body = bodies.find(step->name);
    const bool hands_over = body != bodies.end();
    if (hands_over && !defined.insert(body->second).second) {
      shards.back() += "\n" + handing_over(*step, body->second);
      continue;
    }
    Recorder recorder(*step);
    recorder.set_isa(context.program.isa);
    step->run(recorder);
    if (statements > 0 && statements + recorder.statements() > kShardStatements) {
      shards.emplace_back();
      statements = 0;
    }
    statements += recorder.statements();
    if (hands_over) {
      shards.back() += "\n" + body_definition(*step, context.program.isa, body->second);
    }
    shards.back() += "\n" + (hands_over ? handing_over(*step, body->second) : recorder.text());
  }
  return shards;
}

}  // namespace etch
