// `etch golden verify`: generates, builds and runs again what was recorded, and says of each target
// what is different.
#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/golden.h"
#include "compiler/cli/json.h"
#include "compiler/emit/code/parts.h"
#include "compiler/golden/compare.h"
#include "compiler/golden/target.h"
#include "compiler/host/colour.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch::cli {
namespace {

// The options that the words of a file stand for; null and an I/O error if they are none.
std::optional<ModelOptions> options_of(const Golden& golden, const GoldenFolder& folder,
                                       Reporter& reporter) {
  ModelOptions options;
  const Parser parser("", "", Parser::Help::kNone);
  add_kept_options(parser, options);
  parser.option("MODEL").required(false);
  std::string what;
  if (parser.parse(golden.options, what) != Parser::Outcome::kParsed) {
    reporter.io_error(folder.file().string(), cat("options: ", what));
    return std::nullopt;
  }
  if (!options.model.empty()) {
    reporter.io_error(folder.file().string(), "options: one of them is not an option");
    return std::nullopt;
  }
  options.model = folder.model().string();
  if (!options.tuning.empty()) options.tuning = folder.tuning().string();
  return options;
}

// The state of one `etch golden verify`.
struct Verification {
  const VerifyOptions& options;
  const Golden& then;
  Golden now;                         // for --update
  std::vector<std::string> changed;   // targets whose code changed
  std::vector<std::string> grown;     // those that grew by more than --max-growth
  std::vector<std::string> missing;   // those that ran when recorded and cannot run here
  std::vector<std::string> unproved;  // those that changed without being run
  Json rows = Json::object();         // what --json says of each target
  bool outputs_differ = false;
  int ran = 0;
};

void print_indented(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) print_line("  " + line);
}

// Compares one target and prints what is different.
void judge(const std::string& name, TargetResult result, Verification& verification) {
  const GoldenTarget& then = verification.then.targets.at(name);
  GoldenTarget as_then = result.target;
  as_then.files = hashes_of(result.files, verification.then.etch_version);
  const TargetChange change = explain(then, as_then);
  const std::vector<std::string> outputs =
      explain_outputs(verification.then.samples, result.samples);
  const bool ran = result.target.not_run.empty();
  const bool compared = ran && has_outputs(verification.then);
  if (compared) ++verification.ran;
  const std::string state = !outputs.empty() ? "OUTPUTS DIFFER"
                            : change.code    ? "code changed"
                                             : "as recorded";
  Json& row = verification.rows[name];
  row = {{"code_changed", change.code},
         {"outputs_differ", !outputs.empty()},
         {"compared", compared},
         {"growth_percent", change.growth},
         {"arena_bytes", result.target.arena_bytes},
         {"weight_bytes", result.target.weight_bytes},
         {"words", outputs}};
  for (const std::string& line : change.lines) row["words"].push_back(line);
  if (!ran) row["not_run"] = result.target.not_run;
  if (!verification.options.json) {
    print_line(cat(name, ": ", state,
                   compared ? (outputs.empty() ? "; outputs equal" : "")
                            : cat("; outputs not compared: ",
                                  ran ? "none were recorded" : result.target.not_run)));
    print_indented(outputs);
    print_indented(change.lines);
  }
  if (!outputs.empty()) verification.outputs_differ = true;
  if (change.code) verification.changed.push_back(name);
  const double most = verification.options.max_growth;
  if (most >= 0 && change.growth > most) verification.grown.push_back(name);
  if (!ran && then.not_run.empty() && !verification.options.generate_only) {
    verification.missing.push_back(name);
  }
  result.target.files = hashes_of(result.files, ETCH_VERSION);
  const bool less = !ran && then.not_run.empty();  // than what was recorded, which then stays
  if (less && change.code) verification.unproved.push_back(name);
  if (less && !change.code) verification.now.targets[name].files = std::move(result.target.files);
  if (!less) verification.now.targets[name] = std::move(result.target);
}

void print_versions(const Golden& golden) {
  if (golden.etch_version == ETCH_VERSION && golden.output_format == kOutputFormat) return;
  print_line(cat("recorded by Etch ", printable(golden.etch_version), " (output format ",
                 golden.output_format, "), this is Etch ", ETCH_VERSION, " (output format ",
                 kOutputFormat, ")"));
}

// How a verification ends.
struct Conclusion {
  ExitCode code = ExitCode::kOk;
  std::string why;  // it failed; empty: it did not
};

Conclusion judge_all(const Verification& verification) {
  const VerifyOptions& options = verification.options;
  const auto count = [&](const std::vector<std::string>& some) {
    return cat(some.size(), " of ", verification.rows.size(), " targets");
  };
  if (verification.outputs_differ) {
    return {ExitCode::kDiffer, "outputs differ: a defect of Etch, or of a compiler"};
  }
  if (!verification.missing.empty() && !options.skip_missing) {
    return {ExitCode::kIo, cat(count(verification.missing),
                               " ran when recorded and cannot run here; --skip-missing "
                               "accepts that")};
  }
  if (!verification.grown.empty()) {
    return {ExitCode::kChanged, cat(count(verification.grown), " grew by more than ",
                                    fixed(options.max_growth, 1), " %")};
  }
  if (!verification.changed.empty() && !options.allow_code_change && !options.update) {
    return {ExitCode::kChanged, cat("generated code changed on ", count(verification.changed),
                                    "; --allow-code-change accepts that, --update records it")};
  }
  if (options.update && !verification.unproved.empty()) {
    return {ExitCode::kIo, cat(count(verification.unproved),
                               " changed and did not run, so that they are not recorded")};
  }
  return {};
}

void print_conclusion(const Conclusion& conclusion, const Verification& verification) {
  if (verification.options.json) {
    Json out{{"name", verification.then.name},
             {"pass", conclusion.why.empty()},
             {"recorded_by", verification.then.etch_version},
             {"version", ETCH_VERSION},
             {"updated", verification.options.update && conclusion.why.empty()},
             {"targets", verification.rows}};
    if (!conclusion.why.empty()) out["why"] = conclusion.why;
    print_json(out);
    return;
  }
  if (!conclusion.why.empty()) {
    print_line(cat("etch golden verify: ", verdict_word(false), ": ", conclusion.why));
    return;
  }
  const std::size_t targets = verification.rows.size();
  print_line(cat("etch golden verify: ", verdict_word(true), ": code as recorded on ",
                 targets - verification.changed.size(), " of ", targets,
                 " targets, outputs equal on ", verification.ran,
                 verification.options.update ? "; updated" : ""));
}

ExitCode conclude(const GoldenFolder& folder, const Verification& verification,
                  Reporter& reporter) {
  const Conclusion conclusion = judge_all(verification);
  const bool update = verification.options.update && conclusion.why.empty();
  if (update && !folder.write(verification.now, reporter)) return reporter.exit_code();
  print_conclusion(conclusion, verification);
  return conclusion.code;
}

// False if the model in the folder, or the one that --model names, is not the recorded one.
bool is_recorded_model(const VerifyOptions& options, const GoldenFolder& folder,
                       const Golden& golden, Reporter& reporter, ExitCode& code) {
  const std::optional<std::string> own = hash_of_file(folder.model(), reporter);
  code = reporter.exit_code();
  if (!own) return false;
  if (*own != golden.model_sha256) {
    reporter.io_error(folder.model().string(), "is not the model that was recorded");
    code = reporter.exit_code();
    return false;
  }
  if (options.model.empty()) return true;
  const std::optional<std::string> other = hash_of_file(options.model, reporter);
  code = reporter.exit_code();
  if (!other) return false;
  if (*other == golden.model_sha256) return true;
  const std::string why =
      cat(one_line(options.model),
          " is not the model that was recorded; record it with `etch golden record --force`");
  if (options.json) {
    print_json({{"name", golden.name}, {"pass", false}, {"why", why}});
  } else {
    print_line(cat("etch golden verify: ", verdict_word(false), ": ", why));
  }
  code = ExitCode::kChanged;
  return false;
}

// False if a target that --targets names was not recorded.
bool were_recorded(const VerifyOptions& options, const Golden& golden, Reporter& reporter) {
  for (const std::string& name : options.targets) {
    if (golden.targets.count(name) != 0) continue;
    std::string recorded;
    for (const auto& [each, target] : golden.targets) recorded += cat(" ", each);
    reporter.usage_error(cat("target '", printable(name), "' was not recorded, but", recorded));
  }
  return !reporter.failed();
}

}  // namespace

ExitCode verify_golden(const VerifyOptions& options, Reporter& reporter) {
  const GoldenFolder folder{options.folder};
  const std::optional<Golden> golden = folder.read(reporter);
  if (!golden || !were_recorded(options, *golden, reporter)) return reporter.exit_code();
  ExitCode code = ExitCode::kOk;
  if (!is_recorded_model(options, folder, *golden, reporter, code)) return code;
  if (options.update && !options.targets.empty() &&
      (golden->etch_version != ETCH_VERSION || golden->output_format != kOutputFormat)) {
    reporter.usage_error(cat("--update of some targets: the others would keep what Etch ",
                             golden->etch_version,
                             " generated; update all of them at once, without --targets"));
    return reporter.exit_code();
  }
  const std::optional<ModelOptions> kept = options_of(*golden, folder, reporter);
  if (!kept) return reporter.exit_code();
  GoldenTask task{*kept, golden->name, {}, 0, GoldenDepth::kBuildAndRun};
  task.options.time_limit = options.time_limit;
  const bool generate = options.generate_only || !has_outputs(*golden);
  if (generate) task.depth = GoldenDepth::kGenerate;
  for (std::size_t i = 0; i < golden->samples.size(); ++i) {
    if (golden->samples[i].seed) ++task.seeds;
    if (!golden->samples[i].seed) task.data.push_back(folder.sample(i));
  }
  if (!options.json) print_versions(*golden);
  Verification verification{options, *golden, *golden, {}, {}, {}, {}, Json::object(), false, 0};
  verification.now.etch_version = ETCH_VERSION;
  verification.now.output_format = kOutputFormat;
  for (const auto& [name, target] : golden->targets) {
    if (!options.targets.empty() && std::ranges::count(options.targets, name) == 0) {
      verification.now.targets[name] = target;
      continue;
    }
    TargetResult result = make_target(task, name);
    if (result.code != ExitCode::kOk) return result.code;
    judge(name, std::move(result), verification);
  }
  return conclude(folder, verification, reporter);
}

}  // namespace etch::cli
