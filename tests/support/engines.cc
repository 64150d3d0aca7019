// See engines.h.
#include "tests/support/engines.h"

#include <gtest/gtest.h>

#include <utility>

#include "compiler/base/text.h"
#include "compiler/host/data_set.h"
#include "compiler/ops/evaluate.h"
#include "compiler/passes/resolve.h"
#include "compiler/program/tunable.h"
#include "compiler/stage/native.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace etch {

std::vector<Tensor> reference_outputs(const Case& each) {
  Sink sink;
  std::optional<Graph> graph = import_model(each.model, {}, sink);
  if (graph) graph->float_steps = each.float_steps;
  if (graph) resolve(*graph, sink);
  if (!graph || sink.has_errors()) {
    ADD_FAILURE() << each.name << " is refused:\n" << errors_of(sink);
    return {};
  }
  return evaluate(*graph, each.inputs);
}

std::unique_ptr<Program> compiled(const Case& each, std::string_view target,
                                  RequantizeMode requantize) {
  CompileOptions options;
  options.target = std::string(target);
  options.requantize = requantize;
  return compiled(each, options);
}

std::unique_ptr<Program> compiled(const Case& each, const CompileOptions& chosen) {
  Sink sink;
  CompileOptions options = chosen;
  if (each.float_steps == FloatSteps::kFused) options.float_steps = each.float_steps;
  std::unique_ptr<Program> program = compile(each.model, options, sink);
  if (program == nullptr)
    ADD_FAILURE() << each.name << " is refused on " << options.target << ":\n" << errors_of(sink);
  return program;
}

Case case_of_file(const std::filesystem::path& model) {
  Case out{model.parent_path().filename().string(), contents_of(model), {}};
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  if (const auto program = compiled(out, "scalar")) {
    out.inputs =
        cli::read_inputs(model.parent_path() / "test_data_set_0", program->inputs, reporter)
            .value_or(std::vector<Tensor>());
  }
  return out;
}

Tuning candidate_tuning(const Program& program, std::size_t number, std::size_t most) {
  Tuning tuning;
  for (const auto& step : program.steps) {
    const TunableTiles* const tiles = step->tunable();
    if (tiles == nullptr) continue;
    const auto choices = tiles->candidates(program.isa, most);
    if (choices.empty()) continue;
    const std::pair key{std::string(program.isa.name), tiles->key};
    tuning.entries[key] = {choices[number % choices.size()], 1};
  }
  return tuning;
}

std::vector<Tensor> native_outputs(const Program& program, const std::vector<Tensor>& inputs) {
  std::vector<const std::byte*> in;
  for (const Tensor& input : inputs) in.push_back(input.bytes().data());
  std::vector<Tensor> outputs;
  for (const Port& port : program.outputs) outputs.emplace_back(port.dtype, port.shape);
  std::vector<std::byte*> out;
  for (Tensor& output : outputs) out.push_back(output.mutable_bytes().data());
  run_native(program, in, out);
  return outputs;
}

namespace {
std::string element(const Tensor& tensor, std::int64_t i) {
  switch (tensor.dtype()) {
    case DType::kF32:
    case DType::kF64:
    case DType::kF16:
    case DType::kBF16:
      return decimal(tensor.real(i));
    default:
      return cat(tensor.integer(i));
  }
}

std::string difference_of(const Tensor& actual, const Tensor& expected) {
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape()) {
    return cat("is ", name_of(actual.dtype()), to_string(actual.shape()), ", not ",
               name_of(expected.dtype()), to_string(expected.shape()));
  }
  const auto size = static_cast<std::size_t>(bytes_of(actual.dtype()));
  std::int64_t count = 0;
  std::int64_t first = -1;
  for (std::int64_t i = 0; i < actual.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    if (std::memcmp(&actual.bytes()[at], &expected.bytes()[at], size) == 0) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return "";
  return cat(count, " of ", actual.size(), " elements of ", to_string(actual.shape()),
             " differ; number ", first, " is ", element(actual, first), ", not ",
             element(expected, first));
}
}  // namespace

std::string difference_of(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  if (actual.size() != expected.size())
    return cat(actual.size(), " outputs, not ", expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const std::string what = difference_of(actual[i], expected[i]);
    if (!what.empty()) return cat("output ", i, ": ", what);
  }
  return "";
}

}  // namespace etch
