// Where operators have their quantized tensors, and what their scales say; see
// quantized_tensors.h.
#include "compiler/lower/quantized_tensors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/quantization.h"

namespace etch {

namespace {

constexpr int kOutput = -1;  // the tensor is output 0

// Positions among a node's inputs.
struct Place {
  std::string_view role;
  int tensor;
  int scale;
  int zero_point;
};

struct Places {
  std::string_view op_type;
  std::array<Place, 4> places;  // unused ones have no role
};

constexpr Places kPlaces[] = {
    {"QuantizeLinear", {{{"y", kOutput, 1, 2}}}},
    {"DequantizeLinear", {{{"x", 0, 1, 2}}}},
    {"QLinearConv", {{{"x", 0, 1, 2}, {"w", 3, 4, 5}, {"y", kOutput, 6, 7}}}},
    {"QLinearConvTranspose", {{{"x", 0, 1, 2}, {"w", 3, 4, 5}, {"y", kOutput, 6, 7}}}},
    {"QLinearConv16", {{{"x", 0, 1, 2}, {"w", 3, 4, 5}, {"y", kOutput, 6, 7}}}},
    {"QLinearConvTranspose16", {{{"x", 0, 1, 2}, {"w", 3, 4, 5}, {"y", kOutput, 6, 7}}}},
    {"QLinearMatMul16", {{{"x", 0, 1, 2}, {"w", 3, 4, 5}, {"y", kOutput, 6, 7}}}},
    {"QLinearMul16", {{{"a", 0, 1, 2}, {"b", 5, 6, 7}, {"y", kOutput, 3, 4}}}},
    {"QLinearProduct16", {{{"a", 0, 1, 2}, {"b", 5, 6, 7}, {"y", kOutput, 3, 4}}}},
    {"QLinearSum16", {{{"a", 0, 1, 2}, {"b", 5, 6, 7}, {"y", kOutput, 3, 4}}}},
    {"QLinearAveragePool16", {{{"x", 0, 1, 2}, {"y", kOutput, 3, 4}}}},
    {"QLinearGlobalAveragePool16", {{{"x", 0, 1, 2}, {"y", kOutput, 3, 4}}}},
    {"QLinearReduceMean16", {{{"x", 0, 1, 2}, {"y", kOutput, 3, 4}}}},
    {"QLinearMatMul", {{{"a", 0, 1, 2}, {"b", 3, 4, 5}, {"y", kOutput, 6, 7}}}},
    {"QGemm", {{{"a", 0, 1, 2}, {"b", 3, 4, 5}, {"y", kOutput, 7, 8}}}},
    {"QLinearConvAdd",
     {{{"x", 0, 1, 2}, {"w", 3, 4, 5}, {"residual", 9, 10, 11}, {"y", kOutput, 12, 13}}}},
    {"QLinearAdd", {{{"a", 0, 1, 2}, {"b", 3, 4, 5}, {"y", kOutput, 6, 7}}}},
    {"QLinearMul", {{{"a", 0, 1, 2}, {"b", 3, 4, 5}, {"y", kOutput, 6, 7}}}},
    {"QLinearWhere", {{{"a", 1, 2, 3}, {"b", 4, 5, 6}, {"y", kOutput, 7, 8}}}},
    {"QLinearAveragePool", {{{"x", 0, 1, 2}, {"y", kOutput, 3, 4}}}},
    {"QLinearGlobalAveragePool", {{{"x", 0, 1, 2}, {"y", kOutput, 3, 4}}}},
    {"QLinearSoftmax", {{{"x", 0, 1, 2}, {"y", kOutput, 3, 4}}}},
    {"QLinearSigmoid", {{{"x", 0, 1, 2}, {"y", kOutput, 3, 4}}}},
    {"QLinearLeakyRelu", {{{"x", 0, 1, 2}, {"y", kOutput, 3, 4}}}},
    {"QLinearConcat", {{{"y", kOutput, 0, 1}}}},
};

const Tensor* constant_at(const Graph& graph, const Node& node, int input) {
  if (static_cast<std::size_t>(input) >= node.inputs.size()) return nullptr;
  const ValueId id = node.inputs[static_cast<std::size_t>(input)];
  return id == kNoValue ? nullptr : graph.value(id).constant.get();
}

std::optional<QuantizedTensor> tensor_at(const Graph& graph, const Node& node, const Place& place) {
  if (place.tensor >= static_cast<int>(node.inputs.size())) return std::nullopt;
  const ValueId id = place.tensor == kOutput ? node.outputs[0]
                                             : node.inputs[static_cast<std::size_t>(place.tensor)];
  const Tensor* const scale = constant_at(graph, node, place.scale);
  if (scale == nullptr || scale->dtype() != DType::kF32 || scale->size() == 0) return std::nullopt;
  const std::vector<int> zero_points = zero_points_of(constant_at(graph, node, place.zero_point));
  if (zero_points.empty()) return std::nullopt;
  const Value& value = graph.value(id);
  std::vector<float> scales(scale->as<float>().begin(), scale->as<float>().end());
  std::ranges::sort(scales);
  const auto [least, greatest] = std::ranges::minmax(zero_points);
  return QuantizedTensor{node.index,
                         std::string(place.role),
                         value.constant != nullptr,
                         *value.dtype,
                         static_cast<std::int64_t>(scales.size()),
                         scales.front(),
                         scales[scales.size() / 2],
                         scales.back(),
                         least,
                         greatest};
}

}  // namespace

void describe_quantization(const Graph& graph, Program& program) {
  for (const Node& node : graph.nodes) {
    const auto* const found = std::ranges::find(kPlaces, node.op_type, &Places::op_type);
    if (found == std::end(kPlaces)) continue;
    for (const Place& place : found->places) {
      if (place.role.empty()) continue;
      const auto tensor = tensor_at(graph, node, place);
      if (!tensor) continue;
      // Bands of rows of one convolution all say the same.
      const auto known = std::ranges::find(program.quantization, *tensor);
      if (known == program.quantization.end()) program.quantization.push_back(*tensor);
    }
  }
}

}  // namespace etch
