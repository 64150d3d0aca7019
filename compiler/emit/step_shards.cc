// The functions of the steps, recorded and cut into files; see parts.h.
#include "compiler/base/text.h"
#include "compiler/emit/parts.h"
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
  for (const auto& step : context.program.steps) {
    if (step->shares_code()) continue;
    Recorder recorder(*step);
    recorder.set_isa(context.program.isa);
    step->run(recorder);
    if (statements > 0 && statements + recorder.statements() > kShardStatements) {
      shards.emplace_back();
      statements = 0;
    }
    statements += recorder.statements();
    shards.back() += "\n" + recorder.text();
  }
  return shards;
}

}  // namespace etch
