// Lowering of QLinearConcat: inputs with the output's quantization are Concat's; the others go
// through a table of 256 bytes.
#include "compiler/kernels/move/join.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_concat/op.h"

namespace etch {

namespace {
constexpr int kFirst = 2;  // of the inputs, each followed by two parameters

std::vector<PlacedInput> places(const Graph& graph, const Node& node) {
  const auto& params = params_of<QLinearConcat>(node);
  std::vector<PlacedInput> out;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < params.x.size(); ++i) {
    const int input = kFirst + 3 * static_cast<int>(i);
    const Shape& shape = *graph.value(node.inputs[static_cast<std::size_t>(input)]).shape;
    out.push_back(placed_along(input, shape.size(), params.axis, start));
    start += shape[static_cast<std::size_t>(params.axis)];
  }
  return out;
}
}  // namespace

std::vector<PlacedInput> qlinear_concat_placed(const Graph& graph, const Node& node) {
  const auto& params = params_of<QLinearConcat>(node);
  std::vector<PlacedInput> out;
  for (const PlacedInput& place : places(graph, node)) {
    if (params.x[static_cast<std::size_t>((place.input - kFirst) / 3)] == params.y)
      out.push_back(place);
  }
  return out;
}

void lower_qlinear_concat(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QLinearConcat>(node);
  std::vector<JoinedInput> parts;
  for (const PlacedInput& place : places(lowering.graph(), node)) {
    const ScalarQuantization& x = params.x[static_cast<std::size_t>((place.input - kFirst) / 3)];
    JoinedInput part{place, std::nullopt};
    if (!(x == params.y)) {
      part.requantize = [&params, x](std::int32_t q) {
        return quantized(dequantized(q, x), params.y, params.dtype);
      };
    }
    parts.push_back(std::move(part));
  }
  add_join(lowering, node, params.axis, parts);
}

}  // namespace etch
