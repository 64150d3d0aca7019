// `etch compile`: from a model to a folder of C++.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "compiler/base/observation.h"
#include "compiler/base/text.h"
#include "compiler/cli/json.h"
#include "compiler/cli/making.h"
#include "compiler/cli/model_name.h"
#include "compiler/cli/options.h"
#include "compiler/cli/quantization.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/evidence/evidence.h"
#include "compiler/emit/output_folder.h"
#include "compiler/emit/package/package.h"
#include "compiler/emit/report/report.h"
#include "compiler/host/compile_file.h"
#include "compiler/host/interrupt.h"
#include "compiler/host/library.h"
#include "compiler/host/network.h"
#include "compiler/program/certificate.h"
#include "compiler/program/requantization.h"
#include "compiler/program/sized_step.h"
#include "compiler/program/state.h"
#include "compiler/schedule/memory.h"
#include "compiler/text/names.h"

namespace etch::cli {
namespace {

struct CompileArguments : ModelOptions {
  std::string output;
  std::string name;
  std::string library;   // file; empty: none
  std::string evidence;  // folder; empty: none
  std::string weights = "embed";
  std::string weights_section;
  std::vector<std::string> package;  // names of forms, or "all"; empty: no package
  bool single_file = false;
  bool force = false;
  bool prove = false;
  bool json = false;
};

std::string check_name(const std::string& name) {
  if (is_usable_name(name)) return {};
  return cat("'", printable(name),
             "' cannot be a name in C++: use letters, digits and single _, start with a letter, "
             "no keyword, no _t at the end, at most 40 characters");
}

std::string check_section(const std::string& name) {
  if (is_usable_section(name)) return {};
  return cat("'", printable(name),
             "' cannot be a section: use letters, digits, _ and ., no digit at the start, at most "
             "64 characters");
}

EmitOptions emit_options(const CompileArguments& arguments) {
  EmitOptions options;
  options.name = arguments.name.empty() ? name_from_path(arguments.model) : arguments.name;
  options.weights = weights_form(arguments.weights);
  options.weights_section = arguments.weights_section;
  options.layout = arguments.single_file ? FileLayout::kSingleFile : FileLayout::kFolder;
  return options;
}

// What the options cannot mean together.
bool accept(const CompileArguments& arguments, const EmitOptions& options, const Program& program,
            Reporter& reporter) {
  if (options.weights != WeightsForm::kBinary) return true;
  if (!program.variants.empty()) {
    reporter.usage_error(cat("--weights binary is for one target; ", program.isa.name,
                             " has weights for each of several"));
  }
  if (!options.weights_section.empty()) {
    reporter.usage_error("--weights binary has no section: the linker places the file");
  }
  if (!arguments.library.empty()) {
    reporter.usage_error("--library contains its weights: leave out --weights binary");
  }
  return !reporter.failed();
}

// The forms of a package that are asked for; "all": those that the network can have.
std::vector<PackageForm> chosen_forms(const std::vector<std::string>& names, const Program& program,
                                      const EmitOptions& options, Reporter& reporter) {
  const bool all = std::find(names.begin(), names.end(), "all") != names.end();
  std::vector<PackageForm> out;
  for (const PackageFormFacts& facts : package_forms()) {
    const bool named = std::find(names.begin(), names.end(), facts.name) != names.end();
    if (!named && !all) continue;
    const std::string reason = why_not(facts.form, program, options);
    if (reason.empty()) out.push_back(facts.form);
    if (!reason.empty() && (named || facts.form == PackageForm::kCMake)) {
      reporter.usage_error(cat("no package for ", facts.title, ": ", reason));
    }
  }
  return out;
}

std::vector<std::string> form_names() {
  std::vector<std::string> out = {"all"};
  for (const PackageFormFacts& facts : package_forms()) out.emplace_back(facts.name);
  return out;
}

// How many channels are on each rung of the integer ladder; nothing with floats.
void print_requantization(const Program& program) {
  const RungCounts counts = count_rungs(program);
  if (counts.total() == 0) return;
  print_line(cat("  rungs   of ", with_thousands(counts.total()), " ",
                 plural(counts.total(), "channel"), ", requantized in integers:"));
  for (int i = 0; i < kRungs; ++i) {
    const Rung rung = static_cast<Rung>(i);
    print_line(cat("          ", with_thousands(counts.of(rung)), " ", name_of(rung)));
  }
}

// "+14 %" of the chosen way's number.
std::string compared(std::int64_t number, std::int64_t chosen) {
  if (chosen == 0 || number == chosen) return "";
  const auto percent = static_cast<long long>(
      std::llround(100.0 * static_cast<double>(number - chosen) / static_cast<double>(chosen)));
  return cat(" (", percent < 0 ? "" : "+", percent, " %)");
}

// What was tried for an objective or a limit, the chosen way and the steps up and down from it.
void print_budget(const Program& program) {
  const auto chosen = std::ranges::find_if(program.budget, &BudgetOption::chosen);
  if (chosen == program.budget.end()) return;
  print_line("  budget  * is chosen; arena, flash with code as estimated, MACs:");
  for (const BudgetOption& option : program.budget) {
    print_line(cat(
        "        ", option.chosen ? "* " : "  ", option.what, ": ",
        with_thousands(option.arena_bytes), compared(option.arena_bytes, chosen->arena_bytes), ", ",
        with_thousands(option.flash_bytes), compared(option.flash_bytes, chosen->flash_bytes), ", ",
        with_thousands(option.macs), compared(option.macs, chosen->macs)));
  }
}

std::string about_arena(const Program& program) {
  const std::int64_t saved = saved_in_place(program);
  const std::string live = with_thousands(program.most_live_bytes);
  if (saved == 0) return cat("; at most ", live, " bytes live at once");
  return cat("; results that overwrite their inputs save ", with_thousands(saved));
}

// report.json among the files; empty if there is none.
Json report_among(const std::vector<OutputFile>& files) {
  const auto report = std::ranges::find_if(
      files, [](const OutputFile& file) { return file.path.ends_with("report.json"); });
  return report == files.end() ? Json::object() : Json::parse(report->content);
}

// report.json, with what only the one who wrote it knows.
void print_report(const std::vector<OutputFile>& files, const CompileArguments& arguments) {
  Json report = report_among(files);
  report["output"] = arguments.output;
  report["written"] = Json::array();
  for (const OutputFile& file : files) report["written"].push_back(file.path);
  print_json(report);
}

void print_summary(const Program& program, const std::vector<OutputFile>& files,
                   const CompileArguments& arguments, const std::string& name) {
  std::size_t file_bytes = 0;
  for (const OutputFile& file : files) file_bytes += file.content.size();
  print_line(cat(name, " for ", program.isa.name, " (", program.isa.title, ")"));
  print_line(cat("  arena   ", with_thousands(program.arena_bytes), " ",
                 plural(program.arena_bytes, "byte"), " of RAM", about_arena(program)));
  if (const std::int64_t state = state_of(program).bytes(); state > 0) {
    print_line(cat("  state   ", with_thousands(state), " bytes of RAM for each stream"));
  }
  print_line(cat("  flash   ", with_thousands(constant_bytes(program)), " ",
                 plural(constant_bytes(program), "byte"), " of weights and tables, and the code"));
  const Program& first = program.variants.empty() ? program : program.variants.front();
  print_requantization(first);
  print_line(cat("  work    ", with_thousands(program.macs), " MACs in ",
                 counted(steps_at_greatest(first), "step"),
                 share_of_floats(program.macs, program.float_macs)));
  if (first.pruning.removed > 0) print_line(cat("  pruned  ", describe(first.pruning)));
  const Json report = report_among(files);
  for (const Json& sentence : report.value("verdict", Json::array()))
    print_line(cat("          ", with_advice(sentence.get<std::string>())));
  print_budget(program);
  if (program.shares > 1) {
    const auto divided = std::count_if(program.steps.begin(), program.steps.end(),
                                       [](const auto& step) { return step->partition.shares > 1; });
    print_line(cat("  threads ", program.shares, " in ", divided, " of the steps"));
  }
  print_line(cat("  files   ", files.size(), " in ", one_line(arguments.output), ", ",
                 with_thousands(static_cast<long long>(file_bytes)), " ",
                 plural(static_cast<long long>(file_bytes), "byte")));
  for (const OutputFile& file : files) print_line(cat("          ", file.path));
}

// The folder, and what is claimed of it: each is complete or not there, also after Ctrl-C.
void write_folders(const CompileArguments& arguments, const std::vector<OutputFile>& files,
                   const std::vector<OutputFile>& evidence, Reporter& reporter) {
  const InterruptGuard guard;
  const auto overwrite = arguments.force ? Overwrite::kAnything : Overwrite::kOwnFiles;
  Sink sink;
  if (write_output_folder(files, arguments.output, overwrite, sink) && !evidence.empty())
    write_output_folder(evidence, arguments.evidence, overwrite, sink, kEvidenceMark);
  reporter.diagnostics(sink, arguments.output);
}

// Whether one of two folders is the other or in it.
bool overlap(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto whole = [](const std::filesystem::path& path) {
    std::error_code error;  // what cannot be resolved is compared as it is written
    const auto out = std::filesystem::weakly_canonical(path, error);
    return (error ? path : out) / "";
  };
  const std::string first = whole(a).string(), second = whole(b).string();
  return first.starts_with(second) || second.starts_with(first);
}

ExitCode compile_model(const CompileArguments& arguments, Reporter& reporter) {
  if (arguments.json && arguments.prove) {
    reporter.usage_error(
        "--json prints one object: run `etch prove --json` on the folder after it");
    return reporter.exit_code();
  }
  if (!arguments.evidence.empty() && overlap(arguments.output, arguments.evidence)) {
    reporter.usage_error("--output and --evidence need folders apart from each other");
    return reporter.exit_code();
  }
  if (!arguments.evidence.empty() && refuse_bounds(arguments, "--evidence", reporter))
    return reporter.exit_code();
  if (arguments.prove && refuse_bounds(arguments, "--prove", reporter)) return reporter.exit_code();
  CertificateLog certificates;
  KeptChannelsLog kept;
  std::optional<Observation<CertificateLog>> listening;
  std::optional<Observation<KeptChannelsLog>> pruning;
  if (!arguments.evidence.empty()) {
    listening.emplace(certificates);
    pruning.emplace(kept);
  }
  const std::unique_ptr<Program> program = compile_file(arguments, reporter);
  if (program == nullptr) return reporter.exit_code();
  const EmitOptions options = emit_options(arguments);
  if (!accept(arguments, options, *program, reporter)) return reporter.exit_code();
  const std::vector<PackageForm> forms =
      chosen_forms(arguments.package, *program, options, reporter);
  if (reporter.failed()) return reporter.exit_code();
  const std::vector<OutputFile> files =
      arguments.package.empty() ? emit(*program, options) : emit_package(*program, options, forms);
  if (!arguments.library.empty() &&
      !build_library(*program, options, arguments.library, reporter)) {
    return reporter.exit_code();
  }
  std::vector<OutputFile> evidence;
  if (listening) evidence = evidence_files(*program, options, files, certificates, &kept);
  write_folders(arguments, files, evidence, reporter);
  if (!reporter.failed() && arguments.json) {
    print_report(files, arguments);
  } else if (!reporter.failed() && !reporter.quiet()) {
    print_summary(*program, files, arguments, options.name);
  }
  if (!reporter.failed() && arguments.prove)
    return prove_output(arguments.output, arguments, reporter);
  return reporter.exit_code();
}

}  // namespace

Command add_compile(const Parser& root) {
  const Parser parser = root.add_subcommand("compile", "Compile a model to a folder of C++");
  auto arguments = std::make_shared<CompileArguments>();
  add_model_options(parser, *arguments);
  add_code_options(parser, *arguments);
  add_budget_options(parser, *arguments);
  add_schedule_options(parser, *arguments);
  parser.add_option("-o,--output", arguments->output, "folder to write to")
      .required()
      .type_name("DIR");
  parser
      .add_option("--name", arguments->name,
                  "C++ namespace and file stem (default: the model file's name)")
      .check(check_name)
      .type_name("NAME");
  parser.add_flag("--single-file", arguments->single_file, "one .cc file instead of several");
  parser
      .add_option("--weights", arguments->weights,
                  "embed: in the C++ files; file: in a binary file that the assembler includes; "
                  "binary: in one that is linked or programmed by itself, at NAME_weights")
      .one_of({"embed", "file", "binary"})
      .type_name("FORM")
      .show_default();
  parser
      .add_option("--weights-section", arguments->weights_section,
                  "linker section of weights and tables, e.g. .ext_flash")
      .check(check_section)
      .type_name("SECTION");
  parser
      .add_option("--package", arguments->package,
                  "a tree for build systems, in one or several forms: all, cmake, cmsis-pack, "
                  "zephyr, esp-idf, platformio, arduino")
      .separated_by_commas()
      .one_of(form_names())
      .type_name("FORM,...");
  parser
      .add_option("--library", arguments->library,
                  "also build a shared library of the network, for this machine; it exports the "
                  "functions of the generated header")
      .type_name("FILE.so");
  parser
      .add_option("--evidence", arguments->evidence,
                  "also write what the code claims, for tools/check-evidence: the trace from nodes "
                  "to functions, bounds of all sums, requantization, memory, accesses, hashes")
      .type_name("DIR");
  parser.add_flag("-f,--force", arguments->force, "overwrite files that Etch did not write");
  parser.add_flag("--prove", arguments->prove, "then prove the folder as `etch prove` does");
  add_json_flag(parser, arguments->json);
  group_options(parser);
  parser.footer(
      "Nothing is written when the model is refused.\n"
      "\n"
      "Examples:\n"
      "  etch compile digits.onnx -o generated/digits\n"
      "  etch compile mobilenet.onnx -o mobilenet --target avx2 --dim batch=1 --name mobilenet_v2");
  return {parser, [arguments](Reporter& reporter) { return compile_model(*arguments, reporter); }};
}

}  // namespace etch::cli
