// Generate, build, exchange tensors with the program as raw files; see network.h.
#include "compiler/host/network.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/host/data_set.h"
#include "compiler/host/footprint.h"
#include "compiler/host/instruction_count.h"
#include "compiler/host/progress.h"
#include "compiler/host/single_step.h"
#include "compiler/host/stack_use.h"
#include "compiler/import/file.h"
#include "compiler/program/sized_step.h"
#include "compiler/program/state.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// Identifier of the network in the program around it.
constexpr char kName[] = "network";
constexpr std::chrono::hours kRunTimeout{1};
constexpr std::chrono::minutes kEmulatorTimeout{10};
// Exit codes of templates/files/firmware_harness.h and of what starts it.
constexpr int kTooLittleRam = 3;
constexpr int kFault = 125;

bool write_bytes(const fs::path& path, const char* data, std::size_t size, Reporter& reporter) {
  errno = EIO;  // if nothing more specific is set
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(data, static_cast<std::streamsize>(size));
  file.close();
  if (!file) reporter.io_error(path.string(), cat("cannot write: ", std::strerror(errno)));
  return static_cast<bool>(file);
}

// Again if a signal cut it short.
void make_folders(const fs::path& path, std::error_code& error) {
  do {
    error.clear();
    fs::create_directories(path, error);
  } while (error == std::errc::interrupted);
}

bool is_cc_file(const OutputFile& file) { return fs::path(file.path).extension() == ".cc"; }

// Below the work folder, where programs run.
constexpr char kSampleFolder[] = "sample_";  // with a number
std::string sample_folder(std::size_t index) { return cat(kSampleFolder, index); }

bool is_firmware(const Toolchain& toolchain) {
  return toolchain.machine != nullptr && toolchain.machine->kind == Machine::Kind::kFirmware;
}

// Of an image's line "stack N".
std::optional<std::int64_t> stack_in(const std::string& said) {
  constexpr std::string_view kStart = "stack ";
  const std::size_t at = said.find(kStart);
  if (at == std::string::npos) return std::nullopt;
  std::int64_t bytes = 0;
  const char* const digits = said.data() + at + kStart.size();
  const auto result = std::from_chars(digits, said.data() + said.size(), bytes);
  return result.ec == std::errc() ? std::optional(bytes) : std::nullopt;
}

// Threads are there where there is an operating system.
bool can_have_threads(const Toolchain& toolchain, const Program& program, Reporter& reporter) {
  const Machine* machine = toolchain.machine;
  if (program.shares == 1 || machine == nullptr || machine->kind == Machine::Kind::kLinux) {
    return true;
  }
  reporter.io_error(cat("target ", program.isa.name), "runs one thread only: leave out --threads");
  return false;
}

// Of the network, the program around it, and the machine.
std::vector<OutputFile> files_of(const Program& program, Timing timing, const Machine* machine) {
  EmitOptions options;
  options.name = kName;
  options.profile = timing == Timing::kSteps;
  std::vector<OutputFile> files = emit(program, options);
  for (OutputFile& file : harness_files(program, kName, timing, machine)) {
    files.push_back(std::move(file));
  }
  if (machine == nullptr) return files;
  for (OutputFile& file : machine_files(*machine)) files.push_back(std::move(file));
  return files;
}

}  // namespace

bool write_files(const std::vector<OutputFile>& files, const fs::path& folder, Reporter& reporter) {
  for (const OutputFile& file : files) {
    const fs::path path = folder / file.path;
    std::error_code error;  // shows when the file is opened
    make_folders(path.parent_path(), error);
    if (!write_bytes(path, file.content.data(), file.content.size(), reporter)) return false;
  }
  return true;
}

std::unique_ptr<Network> Network::build(std::unique_ptr<Program> program, Timing timing,
                                        const fs::path& keep, Reporter& reporter) {
  auto toolchain = find_toolchain(program->isa, reporter);
  return build_by(std::move(toolchain), std::move(program), timing, keep, reporter);
}

std::unique_ptr<Network> Network::build_to_count(std::unique_ptr<Program> program,
                                                 Reporter& reporter) {
  auto toolchain = find_counter(program->isa, reporter);
  return build_by(std::move(toolchain), std::move(program), Timing::kSteps, {}, reporter);
}

std::unique_ptr<Network> Network::build_by(std::optional<Toolchain> toolchain,
                                           std::unique_ptr<Program> program, Timing timing,
                                           const fs::path& keep, Reporter& reporter) {
  if (!toolchain) return nullptr;
  std::unique_ptr<Network> network(new Network);
  network->program_ = std::move(program);
  network->toolchain_ = std::move(*toolchain);
  if (!can_have_threads(network->toolchain_, *network->program_, reporter)) return nullptr;
  if (network->program_->shares > 1) network->toolchain_.flags.emplace_back("-pthread");
  const Machine* machine = network->toolchain_.machine;
  network->time_limit_ = machine == nullptr ? std::chrono::milliseconds(kRunTimeout)
                                            : std::chrono::milliseconds(kEmulatorTimeout);

  const Stopwatch emitting;
  const std::vector<OutputFile> files = files_of(*network->program_, timing, machine);
  network->folder_ = WorkFolder::make(keep, reporter);
  if (network->folder_ == nullptr || !write_files(files, network->folder_->path(), reporter)) {
    return nullptr;
  }
  network->emit_seconds_ = emitting.seconds();
  const Stopwatch building;
  std::vector<Source> sources;
  for (const OutputFile& file : files) {
    if (is_cc_file(file)) sources.push_back({file.path, file.target});
  }
  std::optional<BuildOutput> built =
      build_program(network->folder_->path(), sources, "program", network->toolchain_, reporter);
  if (!built) return nullptr;
  network->built_ = std::move(*built);
  network->build_seconds_ = building.seconds();
  return network;
}

// The bytes of a tensor in a file as large as the greatest size needs; what follows them is what
// the harness fills memory with.
constexpr char kUnused = '\xA5';

bool Network::write_sample(const std::vector<Tensor>& sample, const fs::path& folder,
                           Reporter& reporter) const {
  std::error_code error;
  make_folders(folder, error);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const auto bytes = sample[i].bytes();
    const Port& port = program_->inputs[i];
    std::string content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    content.resize(static_cast<std::size_t>(element_count(port.shape) * bytes_of(port.dtype)),
                   kUnused);
    if (!write_bytes(folder / cat("input_", i, ".bin"), content.data(), content.size(), reporter))
      return false;
  }
  return bound_of(*program_) == nullptr || write_size(sample, folder, reporter);
}

// One more input, a little-endian int32.
bool Network::write_size(const std::vector<Tensor>& sample, const fs::path& folder,
                         Reporter& reporter) const {
  const std::int64_t size = size_of_sample(*program_, sample).value_or(0);
  char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>((size >> (8 * i)) & 0xff);
  return write_bytes(folder / cat("input_", sample.size(), ".bin"), bytes, sizeof bytes, reporter);
}

std::optional<std::vector<Tensor>> Network::read_outputs(const std::vector<Tensor>& sample,
                                                         const fs::path& folder,
                                                         Reporter& reporter) const {
  std::vector<Tensor> outputs;
  const std::vector<Port> ports =
      outputs_at(*program_, size_of_sample(*program_, sample).value_or(0));
  for (std::size_t i = 0; i < program_->outputs.size(); ++i) {
    const std::string path = (folder / cat("output_", i, ".bin")).string();
    Tensor tensor(ports[i].dtype, ports[i].shape);
    const std::span<std::byte> bytes = tensor.mutable_bytes();
    const Port& greatest = program_->outputs[i];
    const auto all =
        static_cast<std::size_t>(element_count(greatest.shape) * bytes_of(greatest.dtype));
    Sink sink;
    const std::optional<std::string> content = read_file(path, all, "", sink);
    reporter.diagnostics(sink, path);
    if (!content) return std::nullopt;
    if (content->size() != all) {
      reporter.io_error(path, "too short");
      return std::nullopt;
    }
    if (content->find_first_not_of(kUnused, bytes.size()) != std::string::npos) {
      reporter.internal_error(cat("the network wrote after output ", i, " of this size"));
      return std::nullopt;
    }
    if (!bytes.empty()) std::memcpy(bytes.data(), content->data(), bytes.size());
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

// An emulator that cannot be run or crashes, and programs that the system cannot load. In an
// emulator of a whole machine or of WebAssembly no fault of the program becomes a signal.
bool Network::could_not_run(const ProcessResult& result) const {
  const Machine* machine = toolchain_.machine;
  const bool emulated = !toolchain_.runner.empty();
  if (result.end == ProcessResult::End::kSignal) {
    return machine != nullptr && machine->kind != Machine::Kind::kLinux;
  }
  if (result.end != ProcessResult::End::kExited) {
    return result.end != ProcessResult::End::kTimeout;
  }
  // 126 and 127 as shells and loaders say; 255 as qemu says without a library of the machine.
  const int code = result.exit_code;
  return code == 1 || code == 126 || code == 127 || (emulated && code == 255);
}

void Network::report_failure(const ProcessResult& result, Reporter& reporter) const {
  const Machine* machine = toolchain_.machine;
  std::string said = result.errors.empty() && machine != nullptr ? result.output : result.errors;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  const bool exited = result.end == ProcessResult::End::kExited;
  if (is_firmware(toolchain_) && exited && result.exit_code == kTooLittleRam) {
    report_too_large(*machine, said, reporter);
    return;
  }
  if (result.end == ProcessResult::End::kTimeout) {
    reporter.io_error(built_.program.string(), cat("did not end in ", time_limit_.count() / 1000,
                                                   " s; --time-limit says how long it may take"));
    return;
  }
  const bool fault = machine != nullptr && exited && result.exit_code == kFault;
  const bool emulated = !toolchain_.runner.empty();
  const std::string emulator = emulated ? toolchain_.runner.front() : "";
  const std::string words = cat(fault ? "" : describe(result) + (said.empty() ? "" : ": "), said);
  if (could_not_run(result)) {
    reporter.io_error(emulated ? emulator : built_.program.string(),
                      cat("running the generated program: ", words));
  } else {
    reporter.internal_error(
        cat("the generated program failed", emulated ? " in " : "", emulator, ": ", words));
  }
}

std::optional<ProcessResult> Network::execute(const std::vector<std::string>& arguments,
                                              const std::string& task, Reporter& reporter,
                                              const std::string& plugin) const {
  std::vector<std::string> all = arguments;
  if (!program_->variants.empty()) all.insert(all.begin(), variant_);
  const fs::path program = fs::absolute(built_.program);
  const std::vector<std::string> command = command_to_run(toolchain_, program, all, plugin);
  ProcessResult result;
  {
    const Progress progress(task, 0, reporter);
    result = run_process(command, time_limit_, folder_->path());
  }
  if (result.succeeded()) return result;
  report_failure(result, reporter);
  return std::nullopt;
}

std::optional<Network::Stack> Network::stack() const {
  if (!stack_used_) return std::nullopt;
  const CallGraph graph = call_graph_of(*program_, built_.objects);
  return Stack{*stack_used_, graph.deepest(cat(kName, "_run")), graph.deepest("etch_call")};
}

void Network::limit_time(double seconds) {
  if (seconds > 0) time_limit_ = std::chrono::milliseconds(static_cast<int>(seconds * 1000));
}

void Network::choose(std::size_t variant) {
  variant_ = cat(program_->variants.size() - 1 - variant);
}

std::optional<std::vector<std::vector<Tensor>>> Network::run(
    const std::vector<std::vector<Tensor>>& samples, Reporter& reporter) const {
  // The command line of an image is short: one run for each sample.
  const std::size_t at_once = is_firmware(toolchain_) ? 1 : samples.size();
  std::vector<std::string> arguments = {"run"};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::string folder = sample_folder(i);
    if (!write_sample(samples[i], folder_->path() / folder, reporter)) return std::nullopt;
    arguments.push_back(folder);
    if (arguments.size() <= at_once && i + 1 < samples.size()) continue;
    const std::optional<ProcessResult> result = execute(arguments, "running", reporter);
    if (!result) return std::nullopt;
    stack_used_ = std::max(stack_used_, stack_in(result->output + result->errors));
    arguments.resize(1);
  }
  std::vector<std::vector<Tensor>> outputs;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::optional<std::vector<Tensor>> one =
        read_outputs(samples[i], folder_->path() / sample_folder(i), reporter);
    if (!one) return std::nullopt;
    outputs.push_back(std::move(*one));
  }
  return outputs;
}

std::optional<std::vector<std::vector<Tensor>>> Network::run_in_order(
    const std::vector<std::vector<Tensor>>& samples, Reporter& reporter) const {
  const StateLayout state = state_of(*program_);
  if (state.empty()) return run(samples, reporter);
  std::vector<std::vector<Tensor>> outputs;
  for (std::vector<Tensor> frame : samples) {
    for (const StatePort& port : state.ports) {
      if (outputs.empty()) break;
      frame[static_cast<std::size_t>(port.input)] =
          outputs.back()[static_cast<std::size_t>(port.output)];
    }
    auto one = run({std::move(frame)}, reporter);
    if (!one) return std::nullopt;
    outputs.push_back(std::move(one->front()));
  }
  return outputs;
}

std::optional<std::string> Network::bench(const std::vector<Tensor>& sample, double seconds,
                                          Reporter& reporter) const {
  const std::string folder = sample_folder(0);
  if (!write_sample(sample, folder_->path() / folder, reporter)) return std::nullopt;
  const std::optional<ProcessResult> result =
      execute({"bench", std::to_string(seconds), folder}, "measuring", reporter);
  if (!result) return std::nullopt;
  return result->output;
}

bool Network::counts() const {
  return toolchain_.machine != nullptr && toolchain_.machine->kind != Machine::Kind::kWasi;
}

bool Network::can_count() const {
  return counts() || (toolchain_.machine == nullptr && can_single_step());
}

std::optional<std::vector<std::vector<std::int64_t>>> Network::count(
    const std::vector<std::vector<Tensor>>& samples, Reporter& reporter) const {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!write_sample(samples[i], folder_->path() / sample_folder(i), reporter))
      return std::nullopt;
  }
  return toolchain_.runner.empty() ? count_here(samples.size(), reporter)
                                   : count_emulated(samples.size(), false, reporter);
}

std::optional<Network::Cycles> Network::count_cycles(const std::vector<Tensor>& sample,
                                                     const PipelineModel& model,
                                                     Reporter& reporter) const {
  if (!can_model_cycles(reporter) ||
      !write_sample(sample, folder_->path() / sample_folder(0), reporter))
    return std::nullopt;
  auto counts = count_emulated(1, true, reporter);
  if (!counts) return std::nullopt;
  std::vector<std::int64_t>& instructions = counts->front();
  auto blocks = parse_blocks(read_block_counts(folder_->path()));
  // As read_counts() has it: what was before the first mark, a call of nothing, the pieces.
  if (!blocks || blocks->size() != instructions.size() + 2) {
    reporter.io_error(toolchain_.runner.front(), "did not say which blocks it executed");
    return std::nullopt;
  }
  blocks->erase(blocks->begin());
  const Progress progress("modelling cycles", 0, reporter);
  std::optional<ModelledCycles> modelled =
      model_cycles(model, built_.program, *blocks, folder_->path(), reporter);
  if (!modelled) return std::nullopt;
  return Cycles{std::move(instructions),
                {pieces_of(modelled->cycles), pieces_of(modelled->unknown)}};
}

std::optional<Network::Counts> Network::count_emulated(std::size_t samples, bool blocks,
                                                       Reporter& reporter) const {
  const fs::path root = fs::absolute(folder_->path());
  const std::optional<std::string> plugin = build_counter(root, built_.program, blocks, reporter);
  forget_counts(root);
  if (!plugin || !execute({"count", kSampleFolder, cat(samples)}, "counting", reporter, *plugin))
    return std::nullopt;
  Counts out = samples_of(read_counts(root), samples, program_->steps.size() + 1);
  if (!out.empty()) return out;
  reporter.io_error(toolchain_.runner.front(),
                    "the emulator did not count instructions; has it been built with plugins?");
  return std::nullopt;
}

std::optional<Network::Counts> Network::count_here(std::size_t samples, Reporter& reporter) const {
  const fs::path program = fs::absolute(built_.program);
  const std::size_t pieces = program_->steps.size() + 1;
  // As harness.h sets marks.
  const CountedPart part{address_of_mark(program), samples, pieces + 2};
  std::string why;
  const Progress progress("counting", 0, reporter);
  const std::vector<std::string> command =
      command_to_run(toolchain_, program, {"count", kSampleFolder, cat(samples)});
  const std::vector<std::int64_t> counts =
      single_step(command, folder_->path(), part, time_limit_, why);
  if (why.empty()) return samples_of(counts, samples, pieces);
  reporter.io_error(program.string(), cat("counting its instructions: ", why));
  return std::nullopt;
}

}  // namespace etch::cli
