// `etch golden record`: generates, builds and runs a model for each target and keeps the hashes of
// files and outputs, the sizes, and the model with its inputs.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/golden.h"
#include "compiler/cli/json.h"
#include "compiler/cli/model_name.h"
#include "compiler/emit/code/parts.h"
#include "compiler/golden/compare.h"
#include "compiler/golden/target.h"
#include "compiler/host/data_set.h"
#include "compiler/host/sample_folders.h"
#include "compiler/text/numbers.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::uintmax_t kMostInputBytes = 4 << 20;  // in the folder, unless one sample has more

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

// With the folders that are given, or else with those beside the model.
GoldenTask task_of(const RecordOptions& options, std::vector<fs::path> data) {
  GoldenTask task{options, name_from_path(options.model), {}, 0, GoldenDepth::kBuildAndRun};
  if (data.empty()) data = find_data_sets(options.model);
  data.resize(std::min<std::size_t>(data.size(), options.samples));
  task.data = first_data_sets(std::move(data), kMostInputBytes);
  if (task.data.empty()) task.seeds = options.samples;
  if (options.generate_only) task.depth = GoldenDepth::kGenerate;
  return task;
}

}  // namespace

bool has_outputs(const Golden& golden) {
  return std::any_of(golden.samples.begin(), golden.samples.end(),
                     [](const GoldenSample& sample) { return !sample.outputs.empty(); });
}

ExitCode record_golden(const RecordOptions& options, Reporter& reporter) {
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
  const std::optional<SampleFolders> data =
      sample_folders(options, options.data, SampleParts::kInputs, reporter);
  if (!data) return reporter.exit_code();
  const GoldenTask task = task_of(options, data->folders);
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

}  // namespace etch::cli
