// The functions of the steps, recorded and cut into files; see parts.h.
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/code/shared_bodies.h"
#include "compiler/emit/code/shared_tiles.h"
#include "compiler/stage/recording.h"

namespace etch {
namespace {

// Statements of one file: two to three seconds of compilation, of which the headers take 0.2.
constexpr int kShardStatements = 10000;

// Above the functions of the step.
std::string layer_lines(const Program& program, const Step& step) {
  std::string out;
  for (const std::string& line : layer_comments(program, step)) out += line + "\n";
  return out;
}

}  // namespace

std::string kernel_pragmas(const IsaTraits& isa) {
  const std::string_view ahead =
      isa.loads_too_far_ahead
          ? "// Here it also loads so far ahead that sums do not stay in registers.\n"
            "#pragma GCC optimize(\"no-schedule-insns\")\n"
          : "";
  // Where integer products are assembly, sums in C++ are floats, which the first one moves.
  const std::string_view coalesce =
      isa.assembly == Assembly::kNone ? "\"no-tree-coalesce-vars\", " : "";
  // Helium's float instructions make 0 of subnormal numbers, and gcc does not ask whether it may.
  const std::string_view scalars =
      isa.assembly == Assembly::kMve
          ? "// It also would compute floats in vectors, which take subnormal numbers for 0.\n"
            "#pragma GCC optimize(\"no-tree-loop-vectorize\", \"no-tree-slp-vectorize\")\n"
          : "";
  return cat(
      "#if defined(__GNUC__) && !defined(__clang__)\n"
      "// Without these gcc 12 moves accumulators between registers and stack: up to 2.2 times\n"
      "// slower. They must come before the includes.\n"
      "#pragma GCC optimize(",
      coalesce, "\"no-predictive-commoning\")\n", ahead, scalars, "#endif\n");
}

namespace {

// The functions of one step in the order of the files, and how much work they are for a compiler.
struct Definition {
  StepText code;
  int statements = 0;
  std::string origin;        // comment lines: which layer it computes; empty: see handing_over
  std::string handing_over;  // to `code`, with each layer; empty: that is the step's own function
};

std::vector<Definition> definitions_of(const Program& program) {
  std::vector<Definition> out;
  const std::map<std::string, std::string> bodies = shared_bodies(program);
  std::map<std::string, std::size_t> defined;
  for (const auto& step : program.steps) {
    if (step->shares_code()) continue;
    const auto body = bodies.find(step->name);
    const std::string origin = layer_lines(program, *step);
    const bool hands_over = body != bodies.end();
    const auto first = hands_over ? defined.find(body->second) : defined.end();
    if (first != defined.end()) {
      out[first->second].handing_over += cat("\n", origin, handing_over(*step, body->second));
      continue;
    }
    Recording recording = record(*step, program.isa);
    Definition& one = out.emplace_back();
    one.statements = recording.statements;
    one.code = {step->name, step->kind, std::move(recording.functions)};
    if (!hands_over) {
      one.origin = origin;
      continue;
    }
    defined[body->second] = out.size() - 1;
    one.code.name = body->second;
    one.code.functions = body_definition(*step, program.isa, body->second);
    one.handing_over = cat("\n", origin, handing_over(*step, body->second));
  }
  return out;
}

}  // namespace

StepCode step_code(const EmitContext& context) {
  std::vector<Definition> definitions = definitions_of(context.program);
  std::vector<StepText> texts;
  texts.reserve(definitions.size());
  for (Definition& one : definitions) texts.push_back(std::move(one.code));
  StepCode out;
  for (const RecordedFunction& tile : extract_shared_tiles(texts)) {
    out.tiles.text += cat("\n", definition_of(tile), "\n");
    out.tiles.spaces.add(tile.spaces);
  }
  int statements = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const int more = definitions[i].statements;
    if (i == 0 || (statements > 0 && statements + more > kShardStatements)) {
      out.shards.emplace_back();
      statements = 0;
    }
    statements += more;
    Code& shard = out.shards.back();
    shard.text += cat("\n", definitions[i].origin, text_of_functions(texts[i].functions),
                      definitions[i].handing_over);
    for (const RecordedFunction& function : texts[i].functions) shard.spaces.add(function.spaces);
  }
  return out;
}

}  // namespace etch
