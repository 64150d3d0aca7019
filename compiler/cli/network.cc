// Generate, build, exchange tensors with the program as raw files; see network.h.
#include "compiler/cli/network.h"

#include <chrono>
#include <cstring>
#include <fstream>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/data_set.h"
#include "compiler/cli/progress.h"
#include "compiler/import/file.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// Identifier of the network in the program around it.
constexpr char kName[] = "network";
constexpr std::chrono::hours kRunTimeout{1};

bool write_bytes(const fs::path& path, const char* data, std::size_t size, Reporter& reporter) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(data, static_cast<std::streamsize>(size));
  file.close();
  if (!file) reporter.io_error(path.string(), "cannot write this file");
  return static_cast<bool>(file);
}

bool is_source(const OutputFile& file) { return fs::path(file.path).extension() == ".cc"; }

fs::path sample_folder(const fs::path& work, std::size_t index) {
  return work / cat("sample_", index);
}

}  // namespace

std::unique_ptr<Program> compile_file(const ModelOptions& options, Reporter& reporter,
                                      const fs::path& data) {
  CompileOptions compile_options = options.compile_options();
  if (!data.empty()) compile_options.import.data_shapes = shapes_of_inputs(data);
  Sink sink;
  std::unique_ptr<Program> program;
  {
    const Progress progress("compiling", 0, reporter);
    const std::optional<std::string> bytes =
        read_file(options.model, compile_options.import.limits.file_bytes, "", sink);
    if (bytes) program = compile(*bytes, compile_options, sink);
  }
  reporter.diagnostics(sink, options.model);
  if (program == nullptr && !reporter.failed()) {
    reporter.internal_error(cat(options.model, ": refused without a reason"));
  }
  return reporter.failed() ? nullptr : std::move(program);
}

bool write_files(const std::vector<OutputFile>& files, const fs::path& folder, Reporter& reporter) {
  for (const OutputFile& file : files) {
    const fs::path path = folder / file.path;
    std::error_code error;  // shows when the file is opened
    fs::create_directories(path.parent_path(), error);
    if (!write_bytes(path, file.content.data(), file.content.size(), reporter)) return false;
  }
  return true;
}

std::unique_ptr<Network> Network::build(std::unique_ptr<Program> program, Timing timing,
                                        const fs::path& keep, Reporter& reporter) {
  std::unique_ptr<Network> network(new Network);
  network->program_ = std::move(program);
  std::optional<Toolchain> toolchain = find_toolchain(network->program_->isa, reporter);
  if (!toolchain) return nullptr;
  network->toolchain_ = std::move(*toolchain);
  if (network->program_->shares > 1) network->toolchain_.flags.emplace_back("-pthread");

  const Stopwatch emitting;
  EmitOptions options;
  options.name = kName;
  options.profile = timing == Timing::kSteps;
  std::vector<OutputFile> files = emit(*network->program_, options);
  for (OutputFile& file : harness_files(*network->program_, kName, timing)) {
    files.push_back(std::move(file));
  }
  network->folder_ = WorkFolder::make(keep, reporter);
  if (network->folder_ == nullptr || !write_files(files, network->folder_->path(), reporter)) {
    return nullptr;
  }
  network->emit_seconds_ = emitting.seconds();
  const Stopwatch building;
  std::vector<Source> sources;
  for (const OutputFile& file : files) {
    if (is_source(file)) sources.push_back({file.path, file.target});
  }
  std::optional<BuildOutput> built =
      build_program(network->folder_->path(), sources, "program", network->toolchain_, reporter);
  if (!built) return nullptr;
  network->built_ = std::move(*built);
  network->build_seconds_ = building.seconds();
  return network;
}

bool Network::write_sample(const std::vector<Tensor>& sample, const fs::path& folder,
                           Reporter& reporter) const {
  std::error_code error;
  fs::create_directories(folder, error);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const auto bytes = sample[i].bytes();
    if (!write_bytes(folder / cat("input_", i, ".bin"), reinterpret_cast<const char*>(bytes.data()),
                     bytes.size(), reporter)) {
      return false;
    }
  }
  return true;
}

std::optional<std::vector<Tensor>> Network::read_outputs(const fs::path& folder,
                                                         Reporter& reporter) const {
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < program_->outputs.size(); ++i) {
    const std::string path = (folder / cat("output_", i, ".bin")).string();
    Tensor tensor(program_->outputs[i].dtype, program_->outputs[i].shape);
    const std::span<std::byte> bytes = tensor.mutable_bytes();
    Sink sink;
    const std::optional<std::string> content = read_file(path, bytes.size(), "", sink);
    reporter.diagnostics(sink, path);
    if (!content) return std::nullopt;
    if (content->size() != bytes.size()) {
      reporter.io_error(path, "too short");
      return std::nullopt;
    }
    if (!bytes.empty()) std::memcpy(bytes.data(), content->data(), bytes.size());
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

std::optional<ProcessResult> Network::execute(const std::vector<std::string>& arguments,
                                              const std::string& task, Reporter& reporter) const {
  std::vector<std::string> command = toolchain_.runner;
  command.push_back(built_.program.string());
  if (!program_->variants.empty()) command.push_back(variant_);
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessResult result;
  {
    const Progress progress(task, 0, reporter);
    result = run_process(command, kRunTimeout);
  }
  if (result.succeeded()) return result;
  while (!result.errors.empty() && result.errors.back() == '\n') result.errors.pop_back();
  const std::string what = cat("the generated program failed: ", describe(result),
                               result.errors.empty() ? "" : ": ", result.errors);
  if (result.end == ProcessResult::End::kNotStarted ||
      result.end == ProcessResult::End::kInterrupted ||
      (result.end == ProcessResult::End::kExited && result.exit_code == 1)) {
    reporter.io_error(built_.program.string(), what);
  } else {
    reporter.internal_error(what);
  }
  return std::nullopt;
}

void Network::choose(std::size_t variant) {
  variant_ = cat(program_->variants.size() - 1 - variant);
}

std::optional<std::vector<std::vector<Tensor>>> Network::run(
    const std::vector<std::vector<Tensor>>& samples, Reporter& reporter) const {
  std::vector<std::string> arguments = {"run"};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const fs::path folder = sample_folder(folder_->path(), i);
    if (!write_sample(samples[i], folder, reporter)) return std::nullopt;
    arguments.push_back(folder.string());
  }
  if (!execute(arguments, "running", reporter)) return std::nullopt;
  std::vector<std::vector<Tensor>> outputs;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::optional<std::vector<Tensor>> one =
        read_outputs(sample_folder(folder_->path(), i), reporter);
    if (!one) return std::nullopt;
    outputs.push_back(std::move(*one));
  }
  return outputs;
}

std::optional<std::string> Network::bench(const std::vector<Tensor>& sample, double seconds,
                                          Reporter& reporter) const {
  const fs::path folder = sample_folder(folder_->path(), 0);
  if (!write_sample(sample, folder, reporter)) return std::nullopt;
  const std::optional<ProcessResult> result =
      execute({"bench", std::to_string(seconds), folder.string()}, "measuring", reporter);
  if (!result) return std::nullopt;
  return result->output;
}

}  // namespace etch::cli
