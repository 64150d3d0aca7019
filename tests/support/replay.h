// Replays a model in ONNX's test-data layout (model.onnx beside test_data_set_K/input_I.pb and
// output_I.pb) through import, resolve and the operators' reference functions, and compares every
// output bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/import/import.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/op.h"
#include "compiler/passes/resolve.h"

namespace etch {

// Values of all graph outputs, computed node by node with OpDef::reference. `graph` is resolved;
// one tensor per graph input.
inline std::vector<Tensor> run_references(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<ValueId, Tensor> computed;
  for (std::size_t i = 0; i < inputs.size(); ++i) computed[graph.inputs[i]] = inputs[i];
  const auto find = [&](ValueId id) -> const Tensor* {
    if (id == kNoValue) return nullptr;
    const Tensor* constant = graph.value(id).constant.get();
    return constant != nullptr ? constant : &computed.at(id);
  };
  for (const Node& node : graph.nodes) {
    std::vector<const Tensor*> arguments;
    for (const ValueId id : node.inputs) arguments.push_back(find(id));
    const std::vector<Tensor> results = node.op->reference(node, arguments);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) computed[node.outputs[i]] = results[i];
    }
  }
  std::vector<Tensor> out;
  for (const ValueId id : graph.outputs) out.push_back(*find(id));
  return out;
}

inline std::string lines_of(const Sink& sink) {
  std::string out;
  for (const Diagnostic& each : sink.sorted()) out += format(each, "model") + "\n";
  return out;
}

// The resolved model in `path`, or what was wrong with it.
struct LoadedModel {
  std::optional<Graph> graph;
  std::string errors;
};

inline LoadedModel load_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Sink sink;
  LoadedModel out;
  out.graph = import_model(bytes, ImportOptions{}, sink);
  if (out.graph) resolve(*out.graph, sink);
  if (sink.has_errors()) out.graph.reset();
  if (!out.graph) out.errors = lines_of(sink);
  return out;
}

// The tensors role_0.pb, role_1.pb ... in `folder`.
inline std::vector<Tensor> read_all(const std::filesystem::path& folder, const std::string& role) {
  std::vector<Tensor> out;
  for (int i = 0;; ++i) {
    const auto path = folder / cat(role, "_", i, ".pb");
    if (!std::filesystem::exists(path)) return out;
    Sink sink;
    std::optional<Tensor> tensor = read_tensor_file(path.string(), sink);
    out.push_back(tensor ? *tensor : Tensor(DType::kF32, {-1}));
  }
}

// How float outputs are compared. Integer outputs are always exact.
enum class FloatOutputs {
  kExact,     // operators whose float steps the specification fixes
  kReordered  // sums of products: the other side added in another order, so within 1e-5 relative
};

inline bool same_floats(const Tensor& got, const Tensor& expected, FloatOutputs floats) {
  if (floats == FloatOutputs::kExact) return got == expected;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const float e = expected.real(i);
    if (!(std::fabs(got.real(i) - e) <= 1e-5F * std::max(1.0F, std::fabs(e)))) return false;
  }
  return true;
}

inline std::string difference(const Tensor& got, const Tensor& expected, FloatOutputs floats) {
  if (got.dtype() != expected.dtype() || got.shape() != expected.shape()) {
    return cat("got ", name_of(got.dtype()), to_string(got.shape()), ", expected ",
               name_of(expected.dtype()), to_string(expected.shape()));
  }
  if (got.dtype() == DType::kF32) {
    return same_floats(got, expected, floats) ? "" : "float elements differ";
  }
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) count += got.integer(i) != expected.integer(i);
  return count == 0 ? "" : cat(count, " of ", got.size(), " elements differ");
}

// "" when `model` reproduces every data set beside it; otherwise why not.
inline std::string replay(const std::filesystem::path& model,
                          FloatOutputs floats = FloatOutputs::kExact) {
  const LoadedModel loaded = load_file(model);
  if (!loaded.graph) return loaded.errors;
  int data_sets = 0;
  for (;; ++data_sets) {
    const auto folder = model.parent_path() / cat("test_data_set_", data_sets);
    if (!std::filesystem::exists(folder)) break;
    std::vector<Tensor> inputs = read_all(folder, "input");
    if (inputs.size() < loaded.graph->inputs.size()) return "too few inputs";
    inputs.resize(loaded.graph->inputs.size());
    const std::vector<Tensor> expected = read_all(folder, "output");
    const std::vector<Tensor> got = run_references(*loaded.graph, inputs);
    if (got.size() != expected.size()) return "wrong number of outputs";
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::string what = difference(got[i], expected[i], floats);
      if (!what.empty()) return cat("data set ", data_sets, " output ", i, ": ", what);
    }
  }
  return data_sets == 0 ? "no data set" : "";
}

}  // namespace etch
