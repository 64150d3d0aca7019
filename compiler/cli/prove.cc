// `etch prove`: is the compiled code of every layer in a generated folder exact for all inputs?
#include "compiler/prove/prove.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/cli/json.h"
#include "compiler/cli/options.h"
#include "compiler/host/colour.h"
#include "compiler/text/names.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

struct ProveArguments {
  std::string folder;
  std::string model;
  std::string tuning;
  std::vector<std::string> layers;
  double work = 0;
  bool json = false;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// What the folder's header says of how it was made.
struct Making {
  std::string stem;
  std::string sha256;
  std::vector<std::string> words;
};

// What follows `before` in the text up to `end`; empty if it is not there.
std::string part_after(const std::string& text, const std::string& before, char end) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const std::size_t from = at + before.size();
  return text.substr(from, text.find(end, from) - from);
}

std::optional<Making> making_of(const fs::path& folder, Reporter& reporter) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".h") continue;
    const std::string text = text_of(entry.path());
    const std::string line = part_after(text, "// etch compile MODEL.onnx -o DIR", '\n');
    if (line.empty()) continue;
    Making out{entry.path().stem().string(), part_after(text, "kModelSha256[] =\n    \"", '"'), {}};
    std::istringstream words(line);
    for (std::string word; words >> word;) out.words.push_back(word);
    return out;
  }
  reporter.io_error(folder.string(), "no header in it says how Etch made it");
  return std::nullopt;
}

// The options that the words stand for. Those of the files' form mean nothing here.
std::optional<ModelOptions> options_of(const Making& making, Reporter& reporter) {
  ModelOptions options;
  std::string name, weights, section, package, tuning;
  bool single_file = false;
  const Parser parser("", "", Parser::Help::kNone);
  add_model_options(parser, options);
  add_code_options(parser, options);
  add_budget_options(parser, options);
  add_schedule_options(parser, options);
  parser.option("MODEL").required(false);
  parser.add_option("--name", name, "");
  parser.add_option("--weights", weights, "");
  parser.add_option("--weights-section", section, "");
  parser.add_option("--package", package, "");
  parser.add_flag("--single-file", single_file, "");
  std::vector<std::string> words = making.words;
  const auto at = std::find(words.begin(), words.end(), "--tuning");
  const bool tuned = at != words.end();  // "FILE" stands for it
  if (tuned) words.erase(at, at + std::min<std::ptrdiff_t>(2, words.end() - at));
  std::string what;
  if (parser.parse(words, what) == Parser::Outcome::kParsed) return options;
  reporter.io_error(making.stem + ".h", cat("how the folder was made: ", what));
  return std::nullopt;
}

// The model with this hash: the one that is named, else one in the folder or above it.
std::string model_with(const ProveArguments& arguments, const Making& making, Reporter& reporter) {
  const auto has_hash = [&](const fs::path& path) {
    return sha256_hex(text_of(path)) == making.sha256;
  };
  if (!arguments.model.empty()) {
    if (has_hash(arguments.model)) return arguments.model;
    reporter.io_error(arguments.model, cat("is not the model that the folder was made of (SHA-256 ",
                                           making.sha256, ")"));
    return {};
  }
  const fs::path folder = fs::absolute(arguments.folder);
  for (const fs::path& place : {folder, folder.parent_path(), fs::current_path()}) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
      if (entry.path().extension() == ".onnx" && has_hash(entry.path())) return entry.path();
    }
  }
  reporter.usage_error(cat("--model is needed: no model with SHA-256 ", making.sha256,
                           " is in the folder, above it or here"));
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
  if (!step.is_layer()) {
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
  if (step.weights_from.empty())
    print_line("  its weights are no tensor of the file: a pass has changed them");
}

Json json_of(const FolderProof& proof) {
  Json out;
  out["target"] = proof.target;
  out["holds"] = proof.holds();
  out["files_that_differ"] = proof.differing_files;
  for (const StepProof& step : proof.steps) {
    Json one;
    one["step"] = step.name;
    one["origin"] = step.origin;
    if (!step.is_layer()) one["not_proved"] = step.not_proved;
    if (step.is_layer()) one["holds"] = step.holds();
    if (step.is_layer()) one["complete"] = step.complete();
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

void print_verdict(const FolderProof& proof) {
  const auto count = [&](auto what) {
    return std::count_if(proof.steps.begin(), proof.steps.end(), what);
  };
  const auto layers = count([](const StepProof& s) { return s.is_layer(); });
  const auto complete = count([](const StepProof& s) { return s.complete(); });
  if (proof.differing_files > 0)
    print_line(cat(counted(proof.differing_files, "file"),
                   " of the folder are not what this Etch generates; what is there was proved"));
  print_line(cat("etch prove: ", verdict_word(proof.holds()), " on ", proof.target, ": ", complete,
                 " of ", counted(layers, "layer"), " proved completely, ",
                 count([](const StepProof& s) { return s.holds() && !s.complete(); }),
                 " by samples, ", std::ssize(proof.steps) - layers, " other steps not proved"));
}

ExitCode prove(const ProveArguments& arguments, Reporter& reporter) {
  const std::optional<Making> making = making_of(arguments.folder, reporter);
  if (!making) return reporter.exit_code();
  std::optional<ModelOptions> options = options_of(*making, reporter);
  if (!options) return reporter.exit_code();
  options->model = model_with(arguments, *making, reporter);
  options->tuning = arguments.tuning;
  if (reporter.failed()) return reporter.exit_code();
  const ProofTask task{*options, arguments.folder, making->stem, arguments.layers, arguments.work};
  const std::optional<FolderProof> proof = prove_folder(task, reporter);
  if (!proof) return reporter.exit_code();
  if (arguments.json) {
    print_json(json_of(*proof));
  } else {
    for (const StepProof& step : proof->steps) print_step(step);
    print_verdict(*proof);
  }
  return proof->holds() ? ExitCode::kOk : ExitCode::kDiffer;
}

}  // namespace

ExitCode prove_output(const std::string& folder, const std::string& model,
                      const std::string& tuning, Reporter& reporter) {
  ProveArguments arguments;
  arguments.folder = folder;
  arguments.model = model;
  arguments.tuning = tuning;
  return prove(arguments, reporter);
}

Command add_prove(const Parser& root) {
  const Parser parser = root.add_subcommand(
      "prove", "Prove that the compiled code of each integer layer is exact for all inputs");
  auto arguments = std::make_shared<ProveArguments>();
  parser.add_option("DIR", arguments->folder, "folder that `etch compile` wrote")
      .required()
      .type_name("DIR");
  parser
      .add_option("--model", arguments->model,
                  "the model (default: the file in DIR, above it or here that has its hash)")
      .type_name("FILE");
  parser.add_option("--tuning", arguments->tuning, "the tuning file that DIR was made with")
      .type_name("FILE");
  parser.add_option("--layer", arguments->layers, "prove this step of report.json only")
      .one_argument()
      .type_name("STEP");
  parser
      .add_option("--work", arguments->work,
                  "multiplications per layer and part, beyond which only samples are tried\n"
                  "(default: 2e10 on this CPU, 1e10 in an emulator, 1e9 for its vectors)")
      .not_negative()
      .type_name("N");
  add_json_flag(parser, arguments->json);
  parser.footer(
      "Builds the folder's sources and calls each layer's own compiled function over inputs and\n"
      "constants that determine it; docs/proof.md says what that proves. The exit code is 4 if a\n"
      "layer is wrong.\n"
      "\n"
      "Examples:\n"
      "  etch prove generated/digits\n"
      "  etch prove generated/net --model net.onnx --layer n23_conv --json");
  return {parser, [arguments](Reporter& reporter) { return prove(*arguments, reporter); }};
}

}  // namespace etch::cli
