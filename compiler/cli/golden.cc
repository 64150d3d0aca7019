// `etch golden`: keeps what Etch makes of a model, and says later what is different: hashes of
// files and steps, sizes, and hashes of the outputs, which have to be the same on every target.
#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/json.h"
#include "compiler/cli/model_name.h"
#include "compiler/cli/options.h"
#include "compiler/emit/code/parts.h"
#include "compiler/golden/compare.h"
#include "compiler/golden/folder.h"
#include "compiler/golden/target.h"
#include "compiler/host/colour.h"
#include "compiler/host/data_set.h"
#include "compiler/targets/targets.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::uintmax_t kMostInputBytes = 4 << 20;  // in the folder, unless one sample has more

struct RecordOptions : ModelOptions {
  std::vector<std::string> targets;
  std::vector<std::string> data;
  std::string output;
  std::uint32_t samples = 3;
  bool generate_only = false;
  bool force = false;
  bool json = false;
  std::vector<std::string> words;  // the options among the arguments, for the file
};

struct VerifyOptions {
  std::string folder;
  std::vector<std::string> targets;  // only these; empty: all that were recorded
  std::string model;
  double time_limit = 0;
  double max_growth = -1;  // percent; negative: any
  bool allow_code_change = false;
  bool generate_only = false;
  bool skip_missing = false;
  bool update = false;
  bool json = false;
};

// A golden has to be complete in its folder, and one from another user must not choose another
// folder to read from.
std::string refuse_external_data(const std::string&) {
  return "a golden keeps one file, model.onnx: save the model with its data inside that file "
         "(onnx.save(onnx.load(...), ...))";
}

// What of the command line is kept in the file and changes the generated code.
void add_kept_options(const Parser& parser, ModelOptions& options) {
  add_model_options(parser, options);
  add_code_options(parser, options);
  add_budget_options(parser, options);
  add_schedule_options(parser, options);
  parser.remove_option("--target");
  parser.option("--external-data")
      .check(refuse_external_data)
      .description("refused: the data has to be inside the model's file");
}

// The words that give these options again; the tuning file is that of the folder.
std::vector<std::string> words_of(const std::vector<Given>& given) {
  std::vector<std::string> words;
  for (const auto& [option, value] : given) {
    words.push_back(option);
    if (!value) continue;
    words.push_back(option == "--tuning" ? GoldenFolder{}.tuning().string() : *value);
  }
  return words;
}

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

std::string bytes_or_dash(const std::optional<std::int64_t>& bytes) {
  return bytes ? with_thousands(*bytes) : "-";
}

void print_target(const std::string& name, const GoldenTarget& target) {
  print_line(cat(name, ": arena ", with_thousands(target.arena_bytes), ", weights ",
                 with_thousands(target.weight_bytes), ", code ", bytes_or_dash(target.code_bytes),
                 ", stack ", bytes_or_dash(target.stack_bytes), " bytes, ", target.files.size(),
                 " files; ", target.not_run.empty() ? "ran" : cat("not run: ", target.not_run)));
}

// Adds the outputs of a target that ran. False, with a line for each, if they are not those of the
// targets before.
bool merge_outputs(const std::string& target, const std::vector<GoldenSample>& samples,
                   std::vector<GoldenSample>& all) {
  if (all.empty()) all = samples;
  for (const std::string& line : explain_outputs(all, samples)) {
    print_error_line(cat(target, ": ", line, " than on the targets before"));
  }
  if (!explain_outputs(all, samples).empty()) return false;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (all[i].outputs.empty()) all[i].outputs = samples[i].outputs;
  }
  return true;
}

bool has_outputs(const Golden& golden) {
  return std::any_of(golden.samples.begin(), golden.samples.end(),
                     [](const GoldenSample& sample) { return !sample.outputs.empty(); });
}

// Generates, builds and runs every target and fills in `golden`.
ExitCode record_targets(const GoldenTask& task, const std::vector<std::string>& targets, bool print,
                        Golden& golden) {
  for (const std::string& name : targets) {
    TargetResult result = make_target(task, name);
    if (result.code != ExitCode::kOk) return result.code;
    result.target.files = hashes_of(result.files, ETCH_VERSION);
    if (!merge_outputs(name, result.samples, golden.samples)) return ExitCode::kDiffer;
    if (print) print_target(name, result.target);
    golden.targets[name] = std::move(result.target);
  }
  return ExitCode::kOk;
}

GoldenTask task_of(const RecordOptions& options) {
  GoldenTask task{options, name_from_path(options.model), {}, 0, GoldenDepth::kBuildAndRun};
  std::vector<fs::path> data(options.data.begin(), options.data.end());
  if (data.empty()) data = find_data_sets(options.model);
  data.resize(std::min<std::size_t>(data.size(), options.samples));
  task.data = first_data_sets(std::move(data), kMostInputBytes);
  if (task.data.empty()) task.seeds = options.samples;
  if (options.generate_only) task.depth = GoldenDepth::kGenerate;
  return task;
}

ExitCode record(const RecordOptions& options, Reporter& reporter) {
  const GoldenFolder folder{options.output};
  std::error_code error;
  if (fs::exists(folder.file(), error) && !options.force) {
    reporter.io_error(folder.file().string(), "is there already; --force records again");
    return reporter.exit_code();
  }
  if (folder.holds_other_files()) {
    reporter.io_error(folder.path.string(), "holds files but no golden: choose another folder");
    return reporter.exit_code();
  }
  const GoldenTask task = task_of(options);
  Golden golden{ETCH_VERSION, kOutputFormat, task.name, "", options.words, {}, {}};
  const std::optional<std::string> hash = hash_of_file(options.model, reporter);
  if (!hash) return reporter.exit_code();
  golden.model_sha256 = *hash;
  const bool print = !options.json && !reporter.quiet();
  const ExitCode code = record_targets(task, options.targets, print, golden);
  if (code != ExitCode::kOk) return code;
  if (!has_outputs(golden) && !options.generate_only) {
    reporter.io_error("outputs", "no target can be run here; --generate-only does without");
    return reporter.exit_code();
  }
  const Recording recording{golden, options.model, task.data, options.tuning};
  if (!write_recording(recording, folder, reporter)) return reporter.exit_code();
  if (options.json) print_json(Json::parse(to_json(golden)));
  if (print) {
    print_line(cat("recorded ", golden.targets.size(), " targets and ", golden.samples.size(),
                   task.data.empty() ? " made-up" : " given", " inputs in ",
                   one_line(options.output)));
  }
  return ExitCode::kOk;
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

ExitCode verify(const VerifyOptions& options, Reporter& reporter) {
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

std::string check_target(const std::string& name) {
  const IsaTraits* isa = find_target(name);
  if (isa != nullptr && isa->name == name) return {};
  return isa == nullptr ? cat("there is no target '", printable(name), "'")
                        : cat("'", name, "' is another target on another machine; name one");
}

Parser add_record(const Parser& parent, const std::shared_ptr<RecordOptions>& options) {
  const Parser parser = parent.add_subcommand("record", "Record a model for `etch golden verify`");
  add_kept_options(parser, *options);
  parser.take_given(
      [options](const std::vector<Given>& given) { options->words = words_of(given); });
  add_time_limit(parser, *options);
  parser.add_option("--targets", options->targets, "instruction sets, separated by commas")
      .required()
      .separated_by_commas()
      .one_argument()
      .check(check_target)
      .type_name("A,B,...");
  parser.add_option("-o,--output", options->output, "folder to write to")
      .required()
      .type_name("DIR");
  parser
      .add_option("--data", options->data,
                  "folder with input_I.pb (default: test_data_set_* beside the model, or made-up "
                  "inputs)")
      .one_argument()
      .type_name("DIR");
  parser.add_option("--samples", options->samples, "the most inferences to record")
      .between(std::int64_t{1}, std::int64_t{kMostGoldenSamples})
      .type_name("N")
      .show_default();
  parser.add_flag("--generate-only", options->generate_only, "no outputs and sizes of code");
  parser.add_flag("-f,--force", options->force, "replace an earlier recording");
  add_json_flag(parser, options->json);
  group_options(parser);
  parser.footer("Example:\n  etch golden record net.onnx --targets cortex-m4,avx2 -o goldens/net");
  return parser;
}

Parser add_verify(const Parser& parent, const std::shared_ptr<VerifyOptions>& options) {
  const Parser parser =
      parent.add_subcommand("verify", "Report differences from what was recorded");
  parser.add_option("DIR", options->folder, "what `etch golden record` wrote")
      .required()
      .type_name("DIR");
  parser.add_option("--model", options->model, "also require that this is the recorded model")
      .type_name("FILE.onnx");
  parser
      .add_option(
          "--targets", options->targets,
          "verify these of the recorded targets only, separated by commas, e.g. one in each "
          "of several jobs")
      .separated_by_commas()
      .one_argument()
      .type_name("A,B,...");
  parser.add_flag("--allow-code-change", options->allow_code_change,
                  "accept other code as long as the outputs are equal");
  parser
      .add_option("--max-growth", options->max_growth,
                  "refuse code, weights, arena or stack that grew by more than P percent")
      .between(0.0, 1e6)
      .type_name("P");
  parser.add_flag("--generate-only", options->generate_only, "compare generated files only");
  parser.add_flag("--skip-missing", options->skip_missing,
                  "accept that a target that ran when recorded cannot run here");
  parser.add_flag("--update", options->update, "record the new code if the outputs are equal");
  parser.add_option("--time-limit", options->time_limit, "end a program that runs longer than this")
      .between(0.01, 1e6)
      .type_name("S");
  add_json_flag(parser, options->json);
  parser.footer(
      "Exit codes: 0 as recorded, 4 outputs differ, 5 code, size or model changed, 3 a target "
      "that\n"
      "ran when recorded cannot be run here.\n"
      "\n"
      "Example:\n  etch golden verify goldens/net --allow-code-change --max-growth 2");
  return parser;
}

}  // namespace

Command add_golden(const Parser& root) {
  const Parser parser =
      root.add_subcommand("golden", "Record what is generated, and report later what changed");
  parser.require_subcommand();
  auto record_options = std::make_shared<RecordOptions>();
  auto verify_options = std::make_shared<VerifyOptions>();
  const Parser recording = add_record(parser, record_options);
  add_verify(parser, verify_options);
  parser.footer("Example:\n  etch golden verify goldens/net");
  return {parser, [=](Reporter& reporter) {
            return recording.parsed() ? record(*record_options, reporter)
                                      : verify(*verify_options, reporter);
          }};
}

}  // namespace etch::cli
