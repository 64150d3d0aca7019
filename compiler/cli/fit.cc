// `etch fit`: on which targets a network fits into a device's RAM and flash, and what the others
// would need.
#include "compiler/host/fit.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/columns.h"
#include "compiler/cli/json.h"
#include "compiler/cli/options.h"
#include "compiler/compile.h"
#include "compiler/host/data_set.h"
#include "compiler/import/file.h"
#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch::cli {
namespace {

struct FitOptions : ModelOptions {
  std::vector<std::string> targets;  // empty: all
  std::string ram, flash, clock;     // checked while parsing; empty: no clock
  bool estimate = false;
  bool json = false;
};

// Hertz of "16000000", "64k", "120M" or "1.2G". Null if malformed or not positive.
std::optional<double> parse_clock(std::string_view text) {
  double unit = 1;
  if (!text.empty()) {
    const char last = text.back();
    unit = last == 'k' ? 1e3 : last == 'M' ? 1e6 : last == 'G' ? 1e9 : 1;
    if (unit > 1) text.remove_suffix(1);
  }
  const std::optional<double> value = parse_double(text);
  const bool fixed = text.find_first_of("eE") == std::string_view::npos;
  if (!value || !fixed || *value <= 0 || *value * unit >= 1e12) return std::nullopt;
  return *value * unit;
}

std::string check_clock(const std::string& text) {
  return parse_clock(text) ? "" : cat("expected a frequency like 120M or 1.2G, got '", text, "'");
}

std::vector<std::string> targets_of(const FitOptions& options) {
  if (!options.targets.empty()) return options.targets;
  std::vector<std::string> names;
  for (const CrossTarget& target : cross_targets()) names.emplace_back(target.isa->name);
  for (const IsaTraits* isa : all_targets()) names.emplace_back(isa->name);
  for (const MultiTarget& target : multi_targets()) names.emplace_back(target.isa->name);
  return names;
}

// Milliseconds at one instruction per cycle.
double milliseconds(std::int64_t instructions, double hertz) {
  return static_cast<double>(instructions) / hertz * 1e3;
}

Json json_of(const TargetFit& row, double hertz) {
  Json out{{"target", row.isa->name}, {"title", row.isa->title}};
  if (!row.refused.empty()) {
    out["refused"] = row.refused;
    return out;
  }
  out["fits"] = row.fits;
  out["flash"] = {{"bytes", row.flash_bytes()},
                  {"weights", row.weight_bytes},
                  {"code", row.code_bytes},
                  {"code_is", row.code_is_measured ? "measured" : "estimated"}};
  out["ram"] = {{"bytes", row.ram_bytes()},
                {"arena", row.arena_bytes},
                {"state", row.state_bytes},
                {"inputs_and_outputs", row.port_bytes}};
  if (row.stack_bytes) out["ram"]["stack"] = *row.stack_bytes;
  if (row.instructions) {
    out["instructions"] = *row.instructions;
    out["estimated_ms"] = milliseconds(*row.instructions, hertz);
  }
  out["advice"] = row.advice;
  return out;
}

void print_row(const TargetFit& row, double hertz) {
  const std::string name = left_aligned(row.isa->name, 17);
  if (!row.refused.empty()) {
    print_line(cat(name, "refused: ", row.refused));
    return;
  }
  const std::string stack = row.stack_bytes ? with_thousands(*row.stack_bytes) : "-";
  std::string line = cat(
      name, right_aligned(with_thousands(row.flash_bytes()), 11),
      right_aligned(with_thousands(row.weight_bytes), 11),
      right_aligned(cat(row.code_is_measured ? "" : "~", with_thousands(row.code_bytes)), 10),
      right_aligned(with_thousands(row.ram_bytes()), 11),
      right_aligned(with_thousands(row.arena_bytes), 11),
      right_aligned(with_thousands(row.state_bytes + row.port_bytes), 10), right_aligned(stack, 8));
  if (hertz > 0) {
    const bool counted = row.instructions.has_value();
    line += right_aligned(counted ? with_thousands(*row.instructions) : "-", 14);
    line += right_aligned(
        counted ? cat("~", fixed(milliseconds(*row.instructions, hertz), 2)) : "-", 10);
  }
  print_line(cat(line, row.fits ? "  yes" : "  no: ", joined(row.advice, "; ")));
}

void print_head(const FitOptions& options, double hertz) {
  print_line(cat(one_line(options.model), ": ", with_thousands(*parse_bytes(options.flash)),
                 " bytes of flash, ", with_thousands(*parse_bytes(options.ram)), " bytes of RAM"));
  print_line(cat("target                 flash    weights      code        RAM      arena  ",
                 "in, out   stack", hertz > 0 ? "  instructions        ms" : "", "  fits"));
}

void print_foot(const std::vector<TargetFit>& rows, double hertz) {
  print_line(
      "Bytes. flash: weights, tables and code; RAM: arena, inputs, outputs, states and stack.");
  const bool any_measured =
      std::ranges::any_of(rows, [](const TargetFit& row) { return row.code_is_measured; });
  print_line(any_measured
                 ? "Measured: code with the compiler that is here, -O2; stack from its call graph, "
                   "for run()\nalone, - where it is not known and not counted. ~: estimated."
                 : "~: estimated. The stack is not known and not counted.");
  if (hertz > 0) {
    print_line(
        "instructions are counted in the emulator; ms is an estimate at one instruction per "
        "cycle,\n"
        "which memory that waits makes longer and a core that starts two at once shorter.");
  }
  std::size_t fitting = 0;
  for (const TargetFit& row : rows) fitting += row.fits ? 1 : 0;
  print_line(cat("fits ", fitting, " of ", rows.size(), rows.size() == 1 ? " target" : " targets"));
}

void print_rows_as_json(const FitOptions& options, const std::vector<TargetFit>& rows,
                        double hertz) {
  Json report{{"model", one_line(options.model)},
              {"ram_bytes", *parse_bytes(options.ram)},
              {"flash_bytes", *parse_bytes(options.flash)}};
  if (hertz > 0) report["clock_hz"] = hertz;
  report["targets"] = Json::array();
  for (const TargetFit& row : rows) report["targets"].push_back(json_of(row, hertz));
  print_json(report);
}

// Null after an error. What is wrong with the model itself is said once.
std::optional<std::vector<TargetFit>> rows_of(const FitOptions& options, double hertz,
                                              Reporter& reporter) {
  std::optional<CompileOptions> completed = complete_options(options, reporter);
  if (!completed) return std::nullopt;
  CompileOptions& compile_options = *completed;
  const std::vector<std::filesystem::path> data = find_data_sets(options.model);
  if (!data.empty()) compile_options.import.data_shapes = shapes_of_inputs(data.front());
  Sink sink;
  const std::optional<std::string> model =
      read_model_file(options.model, compile_options.import.limits, sink);
  if (model) load_graph(*model, compile_options, sink);
  reporter.diagnostics(sink, options.model);
  if (reporter.failed() || !model) return std::nullopt;
  const FitQuestion question{*parse_bytes(options.ram), *parse_bytes(options.flash),
                             !options.estimate, hertz > 0 && !options.estimate};
  std::vector<TargetFit> rows;
  Reporter own(Verbosity::kQuiet);  // a compiler that fails leaves an estimate
  for (const std::string& target : targets_of(options)) {
    compile_options.target = target;
    rows.push_back(fit(*model, options.model, compile_options, question, own));
  }
  return rows;
}

ExitCode show_fit(const FitOptions& options, Reporter& reporter) {
  if (refuse_bounds(options, "fit", reporter)) return reporter.exit_code();
  const double hertz = options.clock.empty() ? 0 : *parse_clock(options.clock);
  const std::optional<std::vector<TargetFit>> rows = rows_of(options, hertz, reporter);
  if (!rows) return reporter.exit_code();
  if (options.json) {
    print_rows_as_json(options, *rows, hertz);
  } else {
    print_head(options, hertz);
    for (const TargetFit& row : *rows) print_row(row, hertz);
    print_foot(*rows, hertz);
  }
  const bool any = std::ranges::any_of(*rows, &TargetFit::fits);
  return any ? ExitCode::kOk : ExitCode::kRefused;
}

}  // namespace

Command add_fit(const Parser& root) {
  const Parser parser =
      root.add_subcommand("fit", "Which targets a model fits into so much RAM and flash on");
  auto options = std::make_shared<FitOptions>();
  add_model_options(parser, *options);
  parser.remove_option("--target");
  parser
      .add_option("-t,--target", options->targets,
                  "look at this target only; several are separated by commas")
      .separated_by_commas()
      .one_argument()
      .check(check_any_target)
      .type_name("A,B,...");
  add_code_options(parser, *options);
  parser.add_option("--ram", options->ram, "bytes of RAM that the device has for it (k: 1024)")
      .required()
      .check(check_bytes)
      .type_name("BYTES");
  parser.add_option("--flash", options->flash, "the same of flash")
      .required()
      .check(check_bytes)
      .type_name("BYTES");
  parser
      .add_option("--clock", options->clock,
                  "also count instructions in the emulators of microcontrollers, and estimate the "
                  "time at this frequency")
      .check(check_clock)
      .type_name("HERTZ");
  parser.add_flag("--estimate", options->estimate, "build nothing: code is estimated");
  add_json_flag(parser, options->json);
  group_options(parser);
  parser.footer(
      "Code is measured where the target's compiler is here, otherwise estimated. Ends with exit\n"
      "code 2 if the model fits none of the targets.\n"
      "\n"
      "Examples:\n"
      "  etch fit model.onnx --ram 256k --flash 1M\n"
      "  etch fit model.onnx --ram 64k --flash 256k --target cortex-m4,cortex-m55 --clock 120M");
  return {parser, [options](Reporter& reporter) { return show_fit(*options, reporter); }};
}

}  // namespace etch::cli
