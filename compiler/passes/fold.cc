// See fold.h.
#include "compiler/passes/fold.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/ir/dead_code.h"
#include "compiler/ops/op.h"
#include "compiler/passes/fuse_qdq.h"
#include "compiler/passes/qdq.h"

namespace etch {

namespace {

const Tensor* constant_of(const Graph& graph, ValueId id) {
  return id == kNoValue ? nullptr : graph.value(id).constant.get();
}

// What one result or input costs where operators slide windows: at least the number of positions.
double window_of(const Graph& graph, const Node& node) {
  double positions = 1;
  for (const char* const name : {"kernel_shape", "size"}) {  // of pooling and of LRN
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) continue;
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second)) {
      for (const std::int64_t size : *list) positions *= static_cast<double>(size);
    } else if (const auto* size = std::get_if<std::int64_t>(&found->second)) {
      positions *= static_cast<double>(*size);
    }
  }
  if (node.op_type.find("Conv") == std::string::npos) return positions;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {  // the weights are among these
    const ValueId id = node.inputs[i];
    const Shape shape = id == kNoValue ? Shape{} : *graph.value(id).shape;
    double size = 1;
    for (std::size_t d = 1; d < shape.size(); ++d) size *= static_cast<double>(shape[d]);
    positions = std::max(positions, size);
  }
  return positions;
}

// An estimate of the work, right for elementwise operators and products of matrices alike: for
// [n,k] x [k,m] it is sqrt(nk * km * nm) = nkm.
double work_of(const Graph& graph, const Node& node) {
  if (node.op->needs_shapes_only) return 1;
  double product = 1;
  double most = 1;
  int factors = 0;
  const auto add = [&](ValueId id) {
    if (id == kNoValue) return;
    const auto size = static_cast<double>(element_count(*graph.value(id).shape));
    most = std::max(most, size);
    if (size > 1 && ++factors <= 3) product *= size;
  };
  for (const ValueId id : node.outputs) add(id);
  for (const ValueId id : node.inputs) add(id);
  return std::max(most, factors >= 3 ? std::sqrt(product) : 0.0) * window_of(graph, node);
}

}  // namespace

bool ConstantFolder::is_foldable(const Node& node) const {
  if (node.op == nullptr || node.op->reference == nullptr) return false;
  const auto is_known = [](ValueId id) { return id == kNoValue; };
  if (std::all_of(node.outputs.begin(), node.outputs.end(), is_known)) return false;
  if (node.op_type == "DequantizeLinear" && dequantize_ == FoldDequantize::kNo) return false;
  if (node.op_type == "OutputShape") return false;  // says what it is the shape of: lower/ports.cc
  if (node.op->needs_shapes_only) return true;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == kNoValue || constant_of(graph_, id) != nullptr;
  });
}

bool ConstantFolder::spend(const Node& node) {
  std::int64_t bytes = 0;
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const Value& value = graph_.value(id);
    bytes += element_count(*value.shape) * bytes_of(*value.dtype);
  }
  const double work = work_of(graph_, node);
  if (work > static_cast<double>(operations_left_) || bytes > graph_.computed_bytes_left) {
    return false;
  }
  operations_left_ -= static_cast<std::int64_t>(work);
  graph_.computed_bytes_left -= bytes;
  return true;
}

const Tensor* ConstantFolder::number_of(ValueId id) const {
  const auto found = numbers_.find(id);
  return found != numbers_.end() ? &found->second.value : constant_of(graph_, id);
}

ConstantFolder::Since ConstantFolder::since_dequantize(const Node& node) const {
  if (node.op_type == "DequantizeLinear" || is_quantize(node)) return Since::kMoves;
  if (may_become_integers(node)) return Since::kGroup;
  Since since = moves_data(node) ? Since::kMoves : Since::kFunctions;
  for (const ValueId id : node.inputs) {
    const auto found = numbers_.find(id);
    if (found != numbers_.end()) since = std::max(since, found->second.since);
  }
  return since;
}

// Whether integers may take the node's place and round otherwise: products, and the groups that a
// QuantizeLinear ends; of 16 bits also one that follows a DequantizeLinear alone.
bool ConstantFolder::may_round_otherwise(const Node& node) const {
  constexpr std::string_view kProducts[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  if (std::ranges::find(kProducts, node.op_type) != std::end(kProducts)) return true;
  const auto found = numbers_.find(node.inputs[0]);
  if (!is_quantize(node) || found == numbers_.end()) return false;
  const Since since = found->second.since;
  const DType type = *graph_.value(node.outputs[0]).dtype;
  return since == Since::kGroup || (since == Since::kMoves && !is_8bit(type));
}

// Computes a node of few numbers, which is only kept where it becomes an integer: a size.
bool ConstantFolder::fold_size(const Node& node) {
  constexpr std::int64_t kMost = 8;  // numbers: as many as a tensor has axes
  const bool starts = node.op_type == "DequantizeLinear";
  const auto is_few = [&](ValueId id) {
    return id != kNoValue && element_count(*graph_.value(id).shape) <= kMost;
  };
  if (node.op == nullptr || node.op->reference == nullptr || node.inputs.empty() ||
      node.outputs.size() != 1 || !std::ranges::all_of(node.outputs, is_few) ||
      !std::ranges::all_of(node.inputs, is_few))
    return false;
  std::vector<const Tensor*> inputs;
  bool continues = false;
  for (const ValueId id : node.inputs) {
    inputs.push_back(number_of(id));
    continues = continues || numbers_.contains(id);
  }
  if (!(starts || continues) || std::ranges::count(inputs, nullptr) > 0 ||
      may_round_otherwise(node) || !spend(node))
    return false;
  Tensor result = node.op->reference(node, inputs).at(0);
  Value& value = graph_.value(node.outputs[0]);
  const bool is_size = value.dtype == DType::kS64 || value.dtype == DType::kS32;
  if (node.op_type != "Cast" || !is_size) {
    numbers_.insert_or_assign(node.outputs[0], Number{std::move(result), since_dequantize(node)});
    return false;
  }
  value.constant = std::make_shared<const Tensor>(std::move(result));
  return true;
}

bool ConstantFolder::fold(const Node& node) {
  if (dequantize_ == FoldDequantize::kNo && fold_size(node)) return true;
  if (!is_foldable(node) || !spend(node)) return false;
  std::vector<const Tensor*> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(constant_of(graph_, id));
  std::vector<Tensor> outputs = node.op->reference(node, inputs);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;  // nothing uses it, or it was known to resolve
    ETCH_CHECK(i < outputs.size());
    Value& value = graph_.value(node.outputs[i]);
    ETCH_CHECK(value.dtype == outputs[i].dtype() && value.shape == outputs[i].shape());
    value.constant = std::make_shared<const Tensor>(std::move(outputs[i]));
  }
  return true;
}

void fold_constants(Graph& graph, FoldDequantize dequantize) {
  ConstantFolder folder(graph, dequantize);
  for (const Node& node : graph.nodes) folder.fold(node);
  remove_dead(graph);
}

}  // namespace etch
