// `etch run`: generates and builds a model, runs it on samples in their order and stores its
// outputs.
#include <filesystem>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/options.h"
#include "compiler/host/compile_file.h"
#include "compiler/host/data_set.h"
#include "compiler/host/file_output.h"
#include "compiler/host/network.h"
#include "compiler/host/sample_folders.h"
#include "compiler/import/tensor_proto.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

struct RunOptions : ModelOptions {
  std::string data;
  std::string output;
};

bool write_outputs(const std::vector<Tensor>& outputs, const fs::path& folder, Reporter& reporter) {
  std::vector<std::pair<std::string, std::string>> files;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = cat("output_", i);
    files.emplace_back(name + ".pb", tensor_file(outputs[i], name));
  }
  return write_named_files(folder, files, reporter);
}

// Of one sample to the folder, of several to folders in it, as test data are.
bool write_all(const std::vector<std::vector<Tensor>>& outputs, const fs::path& folder,
               Reporter& reporter) {
  if (outputs.size() == 1) return write_outputs(outputs.front(), folder, reporter);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!write_outputs(outputs[i], folder / cat("test_data_set_", i), reporter)) return false;
  }
  return true;
}

ExitCode run(const RunOptions& options, Reporter& reporter) {
  const std::optional<SampleFolders> data =
      sample_folders(options, {options.data}, SampleParts::kInputs, reporter);
  if (!data) return reporter.exit_code();
  std::unique_ptr<Program> program = compile_file(options, reporter, data->folders.front());
  if (program == nullptr) return reporter.exit_code();
  std::vector<std::vector<Tensor>> samples;
  for (const fs::path& folder : data->folders) {
    std::optional<std::vector<Tensor>> inputs = read_inputs(folder, *program, reporter);
    if (!inputs) return reporter.exit_code();
    samples.push_back(std::move(*inputs));
  }
  const std::unique_ptr<Network> network =
      Network::build(std::move(program), Timing::kNone, {}, reporter);
  if (network == nullptr) return reporter.exit_code();
  network->limit_time(options.time_limit);
  const auto outputs = network->run_in_order(samples, reporter);
  if (!outputs) return reporter.exit_code();
  write_all(*outputs, options.output, reporter);
  return reporter.exit_code();
}

}  // namespace

Command add_run(const Parser& root) {
  const Parser parser =
      root.add_subcommand("run", "Run a model on given inputs and store its outputs");
  auto options = std::make_shared<RunOptions>();
  add_model_options(parser, *options);
  add_code_options(parser, *options);
  add_budget_options(parser, *options);
  add_time_limit(parser, *options);
  add_schedule_options(parser, *options);
  parser
      .add_option("--data", options->data,
                  "folder with input_I.pb, .npy or .bin, one for each input; .npz file with\n"
                  "samples along the first axis of arrays that have the names of inputs")
      .required()
      .type_name("DIR|FILE.npz");
  parser
      .add_option("-o,--output", options->output,
                  "folder to write output_I.pb to; of several samples to test_data_set_* in it")
      .required()
      .type_name("OUT");
  group_options(parser);
  parser.footer(
      "Example:\n"
      "  etch run model.onnx --data test_data_set_0 -o /tmp/outputs");
  return {parser, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace etch::cli
