// See golden_target.h.
#include "compiler/golden/target.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/host/compile_file.h"
#include "compiler/host/data_set.h"
#include "compiler/host/measure.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

GoldenBytes constants_of(const Step& step) {
  std::string all;
  for (const ConstantArray& constant : step.constants) all += view_of(constant.bytes);
  return {static_cast<std::int64_t>(all.size()), sha256_hex(all)};
}

// The text of a step and of the assembly that it calls.
std::string code_of(const Step& step, const std::map<std::string, std::string>& texts) {
  const auto found = texts.find(step.called());
  std::string code = found == texts.end() ? "" : found->second;
  for (const AssemblyFunction& function : step.assembly) {
    code += cat(function.condition, "\n", function.fallback, "\n");
    for (const std::string& line : function.lines) code += line + "\n";
  }
  return code;
}

// Of one network: the program, or one variant of it, whose steps are called "avx2/n03_conv".
void add_steps(const Program& program, const std::vector<OutputFile>& files,
               const std::string& stem, const std::string& prefix, GoldenTarget& target) {
  std::vector<std::string> functions;
  for (const auto& step : program.steps) functions.push_back(step->called());
  const std::map<std::string, std::string> texts = texts_of_steps(files, stem, functions);
  for (const auto& step : program.steps) {
    target.steps.push_back({prefix + step->name, step->summary, sha256_hex(code_of(*step, texts)),
                            constants_of(*step), std::nullopt});
  }
}

GoldenTarget describe(const Program& program, const std::vector<OutputFile>& files,
                      const std::string& name) {
  GoldenTarget target;
  target.arena_bytes = program.arena_bytes;
  target.weight_bytes = constant_bytes(program);
  if (program.variants.empty()) add_steps(program, files, name, "", target);
  for (const Program& variant : program.variants) {
    add_steps(variant, files, variant_name(name, variant.isa), cat(variant.isa.name, "/"), target);
  }
  return target;
}

// "g++ (Debian 12.2.0-14) 12.2.0"
std::string version_of(const std::string& compiler) {
  const ProcessResult result = run_process({compiler, "--version"}, std::chrono::seconds(20));
  const std::string line = result.output.substr(0, result.output.find('\n'));
  return line.empty() ? compiler : printable(line);
}

void add_code_sizes(const Network& network, GoldenTarget& target) {
  const ObjectSizes sizes = object_sizes(network);
  const std::int64_t all = code_bytes_of(sizes.all);
  if (all == 0) return;  // objects in a format that we do not read (WebAssembly)
  target.code_bytes = all;
  const Program& program = network.program();
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    target.steps[i].code_bytes = code_bytes_of(*program.steps[i], sizes.measured);
  }
}

using Inputs = std::vector<std::vector<Tensor>>;

// Null after an error.
std::optional<Inputs> read_samples(const GoldenTask& task, const Program& program,
                                   Reporter& reporter) {
  Inputs inputs;
  for (const fs::path& folder : task.data) {
    std::optional<std::vector<Tensor>> sample = read_inputs(folder, program, reporter);
    if (!sample) return std::nullopt;
    inputs.push_back(std::move(*sample));
  }
  if (!task.data.empty()) return inputs;
  for (std::uint32_t seed = 1; seed <= task.seeds; ++seed) {
    std::vector<Tensor> sample;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      sample.push_back(
          made_up(program.inputs[i], seed + static_cast<std::uint32_t>(i) * 0x9e3779b9));
    }
    inputs.push_back(std::move(sample));
  }
  return inputs;
}

std::vector<GoldenSample> samples_without_outputs(const GoldenTask& task) {
  std::vector<GoldenSample> samples(task.data.empty() ? task.seeds : task.data.size());
  for (std::size_t i = 0; task.data.empty() && i < samples.size(); ++i) {
    samples[i].seed = static_cast<std::uint32_t>(i + 1);
  }
  return samples;
}

// Fills in the outputs of every sample.
bool run_samples(const Network& network, const Inputs& inputs, std::vector<GoldenSample>& samples,
                 Reporter& reporter) {
  auto outputs = network.run(inputs, reporter);
  if (!outputs) return false;
  const std::vector<Port>& ports = network.program().outputs;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      Tensor& tensor = (*outputs)[s][i];
      samples[s].outputs.push_back({printable(ports[i].name),
                                    type_and_shape(tensor.dtype(), tensor.shape()),
                                    hash_of_values(std::move(tensor))});
    }
  }
  return true;
}

// Builds the network and runs it; of several variants the one that is best here.
void build_and_run(const GoldenTask& task, std::unique_ptr<Program> program, TargetResult& result) {
  const TargetStatus status = status_of(program->isa);
  if (!status.runs_here()) {
    result.target.not_run = status.missing;
    return;
  }
  Reporter reporter(Verbosity::kQuiet);
  const std::optional<Inputs> inputs = read_samples(task, *program, reporter);
  if (!inputs) {
    result.code = reporter.exit_code();
    return;
  }
  const Machine* machine = machine_of(program->isa.name);
  const auto network = Network::build(std::move(program), Timing::kNone, {}, reporter);
  if (network != nullptr) {
    network->limit_time(task.options.time_limit);
    result.target.compiler = version_of(status.compiler);
    add_code_sizes(*network, result.target);
    if (run_samples(*network, *inputs, result.samples, reporter)) {
      if (const auto stack = network->stack()) result.target.stack_bytes = stack->bound;
      return;
    }
  }
  for (GoldenSample& sample : result.samples) sample.outputs.clear();
  if (reporter.exit_code() == ExitCode::kRefused && machine != nullptr) {
    result.target.not_run = cat("too large for the board ", machine->board);
  } else {
    result.code = reporter.exit_code();
  }
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

TargetResult make_target(const GoldenTask& task, const std::string& target) {
  TargetResult result;
  Reporter reporter(Verbosity::kQuiet);
  ModelOptions options = task.options;
  options.target = target;
  std::unique_ptr<Program> program =
      compile_file(options, reporter, task.data.empty() ? fs::path() : task.data.front());
  if (program == nullptr) {
    result.code = reporter.exit_code();
    return result;
  }
  EmitOptions emit_options;
  emit_options.name = task.name;
  result.files = emit(*program, emit_options);
  result.target = describe(*program, result.files, task.name);
  result.samples = samples_without_outputs(task);
  if (task.depth == GoldenDepth::kGenerate) {
    result.target.not_run = "only generated";
  } else {
    build_and_run(task, std::move(program), result);
  }
  return result;
}

std::map<std::string, GoldenBytes> hashes_of(const std::vector<OutputFile>& files,
                                             const std::string& version) {
  const std::string banner = "Generated by Etch ";
  std::map<std::string, GoldenBytes> hashes;
  for (const OutputFile& file : files) {
    std::string text = file.content;
    if (version != ETCH_VERSION) replace_all(text, banner + ETCH_VERSION, banner + version);
    hashes[file.path] = {static_cast<std::int64_t>(text.size()), sha256_hex(text)};
  }
  return hashes;
}

std::map<std::string, std::string> texts_of_steps(const std::vector<OutputFile>& files,
                                                  const std::string& stem,
                                                  const std::vector<std::string>& functions) {
  std::map<std::string, std::string> texts;
  for (const OutputFile& file : files) {
    if (file.path.rfind(stem + "_steps_", 0) != 0) continue;
    std::string text;
    std::string current;  // the step whose function begins in `text`
    for (std::size_t begin = 0; begin < file.content.size();) {
      const std::size_t end = std::min(file.content.find('\n', begin), file.content.size() - 1) + 1;
      const std::string line = file.content.substr(begin, end - begin);
      begin = end;
      text += line;
      if (line == "namespace steps {\n") text.clear();
      if (line.rfind("void ", 0) == 0) {
        const std::string name = line.substr(5, line.find('(') - 5);
        const bool known = std::find(functions.begin(), functions.end(), name) != functions.end();
        current = known ? name : "";
      }
      if (line != "}\n" || current.empty()) continue;
      texts[current] = std::exchange(text, "");
      current.clear();
    }
  }
  return texts;
}

std::string hash_of_values(Tensor tensor) {
  if (tensor.dtype() == DType::kF32) {
    for (float& value : tensor.as<float>()) {
      if (std::isnan(value)) value = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return sha256_hex(view_of(tensor.bytes()));
}

}  // namespace etch::cli
