// `etch prove`: is the compiled code of every layer in a generated folder exact for all inputs?
#include "compiler/prove/prove.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/cli/json.h"
#include "compiler/cli/making.h"
#include "compiler/cli/options.h"
#include "compiler/host/colour.h"
#include "compiler/import/file.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

struct ProveArguments {
  std::string folder;
  ModelOptions given;  // the model, and options that read files: no header has their paths
  std::vector<std::string> layers;
  double work = 0;
  bool json = false;
};

// Of this hash in the folder, above it or here; empty: none.
std::string find_model(const fs::path& folder, const Making& making, const ModelOptions& options,
                       Reporter& reporter) {
  const Limits limits = options.compile_options().import.limits;
  const fs::path whole = fs::absolute(folder);
  for (const fs::path& place : {whole, whole.parent_path(), fs::current_path()}) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
      if (entry.path().extension() != ".onnx") continue;
      Sink ignored;
      const auto bytes = read_model_file(entry.path().string(), limits, ignored);
      if (bytes && sha256_hex(*bytes) == making.sha256) return entry.path();
    }
  }
  reporter.usage_error(cat("--model is needed: no model with SHA-256 ", making.sha256,
                           options.external_data.empty()
                               ? " is in the folder, above it or here"
                               : " is looked for, as the hash covers its external data, too"));
  return {};
}

std::string line_of(const PhaseResult& part) {
  std::string out = cat(part.name, " ", with_thousands(part.done));
  if (part.done != part.possible) out += cat(" of ", with_thousands(part.possible));
  if (part.failed) return out + ": NOT CARRIED OUT";
  if (part.mismatch.count > 0)
    out += cat(": WRONG at ", with_thousands(part.mismatch.count), " bytes, first at ",
               part.mismatch.first);
  return out;
}

void print_step(const StepProof& step) {
  if (!step.is_looked_at()) {
    print_line(cat(step.name, ": not proved: ", step.not_proved));
    return;
  }
  print_line(cat(step.name, ": ",
                 !step.holds()     ? "WRONG"
                 : step.complete() ? "proved"
                                   : "sampled",
                 " (", step.summary, ")"));
  std::string line;
  for (const PhaseResult& part : step.parts) {
    if (!part.good()) print_line(cat("  ", line_of(part)));
    if (part.good()) line += cat(line.empty() ? "" : ", ", line_of(part));
  }
  print_line(cat("  ", line));
  if (step.has_weights && step.weights_from.empty())
    print_line("  its weights are no tensor of the file: a pass has changed them");
}

const char* name_of(Verdict verdict) {
  if (verdict == Verdict::kFail) return "FAIL";
  return verdict == Verdict::kPass ? "PASS" : "NOTHING PROVED";
}

std::string shown(Verdict verdict) {
  if (verdict != Verdict::kNothingProved) return verdict_word(verdict == Verdict::kPass);
  return in_colour(name_of(verdict), Colour::kYellow, stdout);
}

Json json_of(const FolderProof& proof) {
  Json out;
  out["target"] = proof.target;
  out["verdict"] = name_of(proof.verdict());
  out["files_that_differ"] = proof.differing_files;
  for (const StepProof& step : proof.steps) {
    Json one;
    one["step"] = step.name;
    one["origin"] = step.origin;
    one["has_sums"] = step.products > 0;
    one["multiplications"] = step.products;
    if (!step.is_looked_at()) one["not_proved"] = step.not_proved;
    if (step.is_looked_at()) one["holds"] = step.holds();
    if (step.is_looked_at()) one["complete"] = step.complete();
    if (!step.weights_from.empty()) one["weights"] = step.weights_from;
    for (const PhaseResult& part : step.parts) {
      one[part.name] = {{"done", part.done},
                        {"possible", part.possible},
                        {"calls", part.calls},
                        {"wrong", part.mismatch.count},
                        {"first", part.mismatch.first}};
    }
    out["steps"].push_back(std::move(one));
  }
  return out;
}

// In percent with one digit, cut off, so that only all of them are 100.0.
std::string percent_of(std::int64_t part, std::int64_t all) {
  if (all == 0) return "0.0";
  const double share = static_cast<double>(part) / static_cast<double>(all);
  const auto tenths = static_cast<std::int64_t>(share * 1000);
  return cat(tenths / 10, '.', tenths % 10);
}

// What the counts of layers do not tell: one may have most of the work.
std::string share_of(const FolderProof& proof) {
  std::int64_t all = 0, proved = 0;
  for (const StepProof& step : proof.steps) {
    all += step.products;
    if (step.complete()) proved += step.products;
  }
  return cat("multiplications of integers: ", with_thousands(all),
             ", in layers that are proved completely ", percent_of(proved, all), " %");
}

void print_verdict(const FolderProof& proof) {
  const auto count = [&](auto what) {
    return std::count_if(proof.steps.begin(), proof.steps.end(), what);
  };
  const auto layers = count([](const StepProof& s) { return s.products > 0; });
  const auto looked_at = count([](const StepProof& s) { return s.is_looked_at(); });
  const auto holding = count([](const StepProof& s) { return s.holds(); });
  const auto complete = count([](const StepProof& s) { return s.complete(); });
  if (proof.differing_files > 0)
    print_line(cat(counted(proof.differing_files, "file"),
                   " of the folder are not what this Etch generates; what is there was proved"));
  print_line(cat("etch prove: ", shown(proof.verdict()), " on ", proof.target, ": ", complete,
                 " of ", counted(layers, "layer"), " proved completely, ", holding - complete,
                 " by samples, ", looked_at - holding, " wrong, ", layers - looked_at,
                 " not proved; ", std::ssize(proof.steps) - layers, " other steps"));
  print_line(share_of(proof));
}

ExitCode exit_code_of(Verdict verdict) {
  if (verdict == Verdict::kFail) return ExitCode::kDiffer;
  return verdict == Verdict::kPass ? ExitCode::kOk : ExitCode::kRefused;
}

// `options`: how the folder of `making` was made.
ExitCode prove(const ProveArguments& arguments, const Making& making, const ModelOptions& options,
               Reporter& reporter) {
  if (refuse_bounds(options, "prove", reporter)) return reporter.exit_code();
  std::optional<CompileOptions> compile = complete_options(options, reporter);
  if (!compile) return reporter.exit_code();
  const ProofTask task{options.model,    std::move(*compile), making.emit,      making.sha256,
                       making.canonical, arguments.folder,    arguments.layers, arguments.work};
  const std::optional<FolderProof> proof = prove_folder(task, reporter);
  if (!proof) return reporter.exit_code();
  if (arguments.json) {
    print_json(json_of(*proof));
  } else {
    for (const StepProof& step : proof->steps) print_step(step);
    print_verdict(*proof);
  }
  return exit_code_of(proof->verdict());
}

ExitCode prove_folder_of(const ProveArguments& arguments, Reporter& reporter) {
  const std::optional<Making> making = making_of(arguments.folder, reporter);
  if (!making) return reporter.exit_code();
  std::optional<ModelOptions> options = options_of(*making, arguments.given, reporter);
  if (!options) return reporter.exit_code();
  options->model = arguments.given.model;
  if (options->model.empty())
    options->model = find_model(arguments.folder, *making, *options, reporter);
  if (reporter.failed()) return reporter.exit_code();
  return prove(arguments, *making, *options, reporter);
}

}  // namespace

ExitCode prove_output(const std::string& folder, const ModelOptions& options, Reporter& reporter) {
  const std::optional<Making> making = making_of(folder, reporter);
  if (!making) return reporter.exit_code();
  ProveArguments arguments;
  arguments.folder = folder;
  return prove(arguments, *making, options, reporter);
}

Command add_prove(const Parser& root) {
  const Parser parser = root.add_subcommand(
      "prove", "Prove that the compiled code of each integer layer is exact for all inputs");
  auto arguments = std::make_shared<ProveArguments>();
  parser.add_option("DIR", arguments->folder, "folder that `etch compile` wrote")
      .required()
      .type_name("DIR");
  parser
      .add_option("--model", arguments->given.model,
                  "the model (default: the file in DIR, above it or here that has its hash)")
      .change(model_in)
      .type_name("FILE");
  add_file_options(parser, arguments->given);
  parser.add_option("--layer", arguments->layers, "prove this step of report.json only")
      .one_argument()
      .type_name("STEP");
  parser
      .add_option("--work", arguments->work,
                  "multiplications per layer and part, beyond which only samples are tried\n"
                  "(default: 2e10 on this CPU, 1e10 in an emulator)")
      .not_negative()
      .type_name("N");
  add_json_flag(parser, arguments->json);
  parser.footer(
      "Builds the folder's sources and calls each layer's own compiled function over inputs and\n"
      "constants that determine it; docs/proof.md says what that proves. The exit code is 4 if a\n"
      "layer is wrong, 2 if nothing could be proved.\n"
      "\n"
      "Examples:\n"
      "  etch prove generated/digits\n"
      "  etch prove generated/net --model net.onnx --layer n23_conv --json");
  return {parser,
          [arguments](Reporter& reporter) { return prove_folder_of(*arguments, reporter); }};
}

}  // namespace etch::cli
