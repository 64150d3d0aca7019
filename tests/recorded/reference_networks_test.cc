// Real quantized networks through import, resolve and fold_qdq, computed by the reference functions
// and compared bit for bit with what ONNX Runtime gave at its integer level. The networks are
// beside the project in ../shared/models/nets; without them these tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/import/file.h"
#include "compiler/import/import.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "compiler/passes/fold_qdq.h"
#include "compiler/passes/resolve.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

fs::path networks() { return fs::path(source_dir()) / ".." / "shared" / "models" / "nets"; }

std::optional<Graph> load_network(const fs::path& folder) {
  Sink sink;
  const auto bytes = read_model_file((folder / "model.onnx").string(), {}, sink);
  if (!bytes) return std::nullopt;
  auto graph = import_model(*bytes, {}, sink);
  if (graph) resolve(*graph, sink);
  if (graph && !sink.has_errors()) fold_qdq(*graph, sink);
  EXPECT_EQ(reports_of(sink).find("error"), std::string::npos) << reports_of(sink);
  if (sink.has_errors()) return std::nullopt;
  return graph;
}

Tensor read_tensor(const fs::path& path) {
  Sink sink;
  auto tensor = read_tensor_file(path.string(), sink);
  EXPECT_TRUE(tensor) << errors_of(sink);
  return tensor ? *tensor : Tensor();
}

// Operator types that compute on floats: all but what converts, and what only moves data.
std::vector<std::string> float_operators(const Graph& graph) {
  std::vector<std::string> types;
  for (const Node& node : graph.nodes) {
    const bool converts = node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear";
    const bool is_float = std::ranges::any_of(node.inputs, [&](ValueId id) {
      return id != kNoValue && !graph.value(id).constant && graph.value(id).dtype == DType::kF32;
    });
    if (is_float && !converts && !moves_data(node)) types.push_back(node.op_type);
  }
  return types;
}

std::size_t count_of(const Graph& graph, const std::string& op_type) {
  return static_cast<std::size_t>(std::ranges::count(graph.nodes, op_type, &Node::op_type));
}

struct Network {
  const char* name;
  std::vector<std::string> float_operators;  // what may remain, by type
  std::size_t quantizers, dequantizers;      // what must remain at the borders
};

void PrintTo(const Network& network, std::ostream* out) { *out << network.name; }

class ReferenceNetworks : public testing::TestWithParam<Network> {
 protected:
  void SetUp() override {
    folder_ = networks() / GetParam().name;
    if (!fs::exists(folder_ / "model.onnx")) {
      GTEST_SKIP() << "no " << folder_ << "; the shared networks are not here";
    }
  }
  fs::path folder_;
};

TEST_P(ReferenceNetworks, OnlyIntegerOperatorsRemainInside) {
  const auto graph = load_network(folder_);
  ASSERT_TRUE(graph);
  EXPECT_EQ(float_operators(*graph), GetParam().float_operators) << dump(*graph);
  EXPECT_EQ(count_of(*graph, "QuantizeLinear"), GetParam().quantizers) << dump(*graph);
  EXPECT_EQ(count_of(*graph, "DequantizeLinear"), GetParam().dequantizers) << dump(*graph);
}

TEST_P(ReferenceNetworks, OutputsEqualTheGoldensBitForBit) {
  const auto graph = load_network(folder_);
  ASSERT_TRUE(graph);
  int sets = 0;
  for (; fs::exists(folder_ / cat("test_data_set_", sets)); ++sets) {
    const fs::path data = folder_ / cat("test_data_set_", sets);
    std::vector<Tensor> inputs;
    inputs.reserve(graph->inputs.size());
    for (std::size_t i = 0; i < graph->inputs.size(); ++i) {
      inputs.push_back(read_tensor(data / cat("input_", i, ".pb")));
    }
    const std::vector<Tensor> outputs = evaluate(*graph, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(outputs[i], read_tensor(data / cat("output_", i, ".pb")))
          << "data set " << sets << ", output " << i;
    }
  }
  EXPECT_GT(sets, 0);
}

INSTANTIATE_TEST_SUITE_P(Qdq, ReferenceNetworks,
                         testing::Values(Network{"mlperftiny_ic_resnet8_qdq", {"Softmax"}, 1, 1},
                                         Network{"mlperftiny_kws_dscnn_qdq", {"Softmax"}, 1, 1},
                                         Network{"onnxflow_ad01_qdq", {}, 0, 0},
                                         Network{"ort_maui_mobilenetv2_qdq", {}, 1, 1}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace etch
