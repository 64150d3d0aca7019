// See pack_weights.h.
#include "compiler/passes/pack_weights.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ops/cast/op.h"
#include "compiler/ops/dequantize_linear/op.h"
#include "compiler/ops/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A matrix of constant integers [depth, cols], or [cols, depth], and what makes floats of them.
struct Matrix {
  std::int64_t depth = 0, cols = 0, block = 0, blocks = 1;
  bool transposed = false;
  QuantizationAxis axis;
  std::vector<std::int64_t> values, zeros;  // zeros: one for all or one per scale
  std::vector<float> scales;

  std::int64_t element(std::int64_t k, std::int64_t n) const {
    return transposed ? n * depth + k : k * cols + n;
  }
  std::int64_t value(std::int64_t k, std::int64_t n) const { return values[at(element(k, n))]; }
  // Which scale belongs to block i of column n.
  std::size_t entry(std::int64_t n, std::int64_t i) const {
    return at(axis.entry_of(element(i * block, n)));
  }
  std::int64_t zero(std::int64_t n, std::int64_t i) const {
    return zeros[entry(n, i) % zeros.size()];
  }
};

const Tensor* constant_of(const Graph& graph, const Node& node, std::size_t i) {
  const bool given = i < node.inputs.size() && node.inputs[i] != kNoValue;
  return given ? graph.value(node.inputs[i]).constant.get() : nullptr;
}

// Blocks along the depth, or one that is all of it; nothing where a scale belongs to less.
bool find_blocks(Matrix& m) {
  const std::int64_t depth_axis = m.transposed ? 1 : 0;
  m.block = m.depth;
  if (m.axis.granularity == QuantizationGranularity::kTensor) return true;
  if (m.axis.granularity == QuantizationGranularity::kAxis) return m.axis.axis != depth_axis;
  m.block = std::min(m.axis.block, m.depth);
  m.blocks = (m.depth - 1) / m.block + 1;
  return m.axis.axis == depth_axis;
}

// The constants of a DequantizeLinear as a matrix.
std::optional<Matrix> matrix_of(const Graph& graph, const Node& node, bool transposed) {
  const Tensor* const x = constant_of(graph, node, 0);
  const Tensor* const scale = constant_of(graph, node, 1);
  const Tensor* const zero = constant_of(graph, node, 2);
  const bool has_zero = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  if (x == nullptr || scale == nullptr || (has_zero && zero == nullptr)) return std::nullopt;
  if (!is_8bit(x->dtype()) || x->shape().size() != 2 || x->size() == 0) return std::nullopt;
  Matrix m;
  m.transposed = transposed;
  m.depth = x->shape()[transposed ? 1 : 0];
  m.cols = x->shape()[transposed ? 0 : 1];
  m.axis = params_of<DequantizeLinearParams>(node).axis;
  if (!find_blocks(m)) return std::nullopt;
  m.values = x->integers();
  m.zeros = has_zero ? zero->integers() : std::vector<std::int64_t>{0};
  const auto scales = scale->as<float>();
  m.scales.assign(scales.begin(), scales.end());
  return m;
}

// How the integers are packed: `least` becomes 0.
struct Packing {
  std::int64_t bits = 8, least = 0;
  bool default_zeros = false;  // 2^(bits - 1), as a node without zero points has them
};

Packing packing_of(const Matrix& m) {
  const auto [low, high] = std::minmax_element(m.values.begin(), m.values.end());
  const auto [low_zero, high_zero] = std::minmax_element(m.zeros.begin(), m.zeros.end());
  const std::int64_t least = std::min(*low, *low_zero), most = std::max(*high, *high_zero);
  Packing out{8, least, false};
  for (const std::int64_t bits : {8, 4, 2}) {
    if (most - least < std::int64_t{1} << bits) out.bits = bits;
  }
  const std::int64_t half = std::int64_t{1} << (out.bits - 1);
  if (*low_zero == 0 && *high_zero == 0 && least >= -half && most < half) {
    out.least = -half;
    out.default_zeros = true;
  }
  return out;
}

// Writes values of `bits` bits one after the other, the first in the low bits of a byte.
class BitWriter {
 public:
  BitWriter(Tensor& to, std::int64_t bits) : to_(to.as<std::uint8_t>()), bits_(bits) {}
  void put(std::int64_t start, std::int64_t i, std::int64_t value) {
    const std::int64_t bit = i * bits_;
    to_[at(start + bit / 8)] |= static_cast<std::uint8_t>(value << (bit % 8));
  }

 private:
  std::span<std::uint8_t> to_;
  std::int64_t bits_;
};

Tensor packed_values(const Matrix& m, const Packing& p) {
  const std::int64_t bytes = (m.block * p.bits + 7) / 8;
  Tensor out(DType::kU8, {m.cols, m.blocks, bytes});
  BitWriter writer(out, p.bits);
  for (std::int64_t n = 0; n < m.cols; ++n) {
    for (std::int64_t k = 0; k < m.depth; ++k)
      writer.put((n * m.blocks + k / m.block) * bytes, k % m.block, m.value(k, n) - p.least);
  }
  return out;
}

Tensor packed_zeros(const Matrix& m, const Packing& p) {
  const std::int64_t bytes = (m.blocks * p.bits + 7) / 8;
  Tensor out(DType::kU8, {m.cols, bytes});
  BitWriter writer(out, p.bits);
  for (std::int64_t n = 0; n < m.cols; ++n) {
    for (std::int64_t i = 0; i < m.blocks; ++i) writer.put(n * bytes, i, m.zero(n, i) - p.least);
  }
  return out;
}

Tensor scales_of(const Matrix& m) {
  Tensor out(DType::kF32, {m.cols, m.blocks});
  auto to = out.as<float>().begin();
  for (std::int64_t n = 0; n < m.cols; ++n) {
    for (std::int64_t i = 0; i < m.blocks; ++i) *to++ = m.scales[m.entry(n, i) % m.scales.size()];
  }
  return out;
}

template <class T>
T attribute(const Node& node, const char* name, T fallback) {
  const auto found = node.attributes.find(name);
  const T* const value = found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  return value == nullptr ? fallback : *value;
}

class WeightPacker {
 public:
  WeightPacker(Graph& graph, BlockedProducts blocked)
      : graph_(graph), blocked_(blocked), wiring_(graph) {}

  void run() {
    std::vector<Product> found;
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      const Node& node = graph_.nodes[at(i)];
      if (!is_product(node)) continue;
      const Node* weights = wiring_.producer(node.inputs[1]);
      const bool apart = weights != nullptr && (is_shared(*weights) || is_cast(*weights));
      if (apart && is_cast(*weights)) weights = wiring_.producer(weights->inputs[0]);
      if (weights == nullptr || !is_dequantize(*weights)) continue;
      const auto matrix = matrix_of(graph_, *weights, attribute<std::int64_t>(node, "transB", 0));
      if (matrix) found.push_back({i, *matrix, apart});
    }
    // Products that are packed no longer read the floats.
    for (const Product& each : found) pack(each);
    wiring_.finish();
  }

 private:
  struct Product {
    int node;
    Matrix weights;
    bool apart;  // others read the floats, too, or a Cast comes between, as after float16
  };

  static bool is_cast(const Node& node) {
    return node.domain == kOnnx && node.op_type == "Cast" &&
           params_of<Cast>(node).from == params_of<Cast>(node).to;
  }

  bool is_shared(const Node& weights) const {
    const ValueId floats = weights.outputs[0];
    return wiring_.consumers(floats).size() > 1 || wiring_.is_graph_output(floats);
  }

  // A product that MatMulNBits can compute: MatMul, or Gemm that only adds one value per column.
  bool is_product(const Node& node) const {
    if (node.domain != kOnnx || graph_.value(node.inputs[0]).constant != nullptr) return false;
    if (node.op_type == "MatMul") return true;
    if (node.op_type != "Gemm" || attribute<std::int64_t>(node, "transA", 0) != 0) return false;
    if (attribute(node, "alpha", 1.0F) != 1 || attribute(node, "beta", 1.0F) != 1) return false;
    if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return true;
    const Shape& y = *graph_.value(node.outputs[0]).shape;
    const Shape& c = *graph_.value(node.inputs[2]).shape;
    return c == Shape{y[1]} || c == Shape{1, y[1]};
  }

  bool quantizes_rows(const Node& node, const Product& product) const {
    const Matrix& m = product.weights;
    const bool blocks = m.axis.granularity == QuantizationGranularity::kBlock;
    return blocked_ == BlockedProducts::kAsOnnxRuntime && blocks && !m.transposed &&
           m.axis.block >= 16 && std::has_single_bit(static_cast<std::uint64_t>(m.axis.block)) &&
           !product.apart && !keeps_rows(node);
  }

  const Node* only_reader(const Node& node) const {
    const std::vector<int>& readers = wiring_.consumers(node.outputs[0]);
    return readers.size() == 1 ? &graph_.nodes[at(readers[0])] : nullptr;
  }

  // The Add that ONNX Runtime makes a Gemm of with this MatMul; null: none.
  const Node* add_of(const Node& node) const {
    const Node* const add = only_reader(node);
    if (node.op_type != "MatMul" || add == nullptr || add->op_type != "Add") return nullptr;
    if (wiring_.is_graph_output(node.outputs[0]) || !fits_gemm(node, *add)) return nullptr;
    const Node* const other = wiring_.only_producer(added(node, *add));
    return other != nullptr && is_first(*other, node) && fits_gemm(*other, *add) ? nullptr : add;
  }

  bool fits_gemm(const Node& product, const Node& add) const {
    const Shape& y = shape_of(product.outputs[0]);
    const Shape& c = shape_of(added(product, add));
    for (const std::size_t i : {0U, 1U}) {
      if (shape_of(product.inputs[i]).size() != 2) return false;
    }
    return c == Shape{y[1]} || c == Shape{1, y[1]} || c == Shape{y[0], 1} || c == y;
  }

  // Of two products that are added the last one of the file becomes the Gemm: ONNX Runtime goes
  // through a graph from its end.
  bool is_first(const Node& other, const Node& node) const {
    return other.op_type == "MatMul" && &other > wiring_.producer(node.outputs[0]);
  }

  static ValueId added(const Node& product, const Node& add) {
    return add.inputs[add.inputs[0] == product.outputs[0] ? 1 : 0];
  }
  const Shape& shape_of(ValueId id) const { return *graph_.value(id).shape; }

  // True where ONNX Runtime quantizes no rows: of a Gemm that adds more than a vector, and of what
  // it takes for a group that ends in the limits of a QuantizeLinear.
  bool keeps_rows(const Node& node) const {
    const Node* const add = add_of(node);
    const ValueId bias = add != nullptr           ? added(node, *add)
                         : node.inputs.size() > 2 ? node.inputs[2]
                                                  : kNoValue;
    if (bias != kNoValue && shape_of(bias).size() != 1) return true;
    return is_limited(add != nullptr ? *add : node);
  }

  // One node alone reads the product, a Relu or Clip, which one node alone reads and is no output.
  bool is_limited(const Node& product) const {
    const Node* const limit = only_reader(product);
    if (limit == nullptr || (limit->op_type != "Relu" && limit->op_type != "Clip")) return false;
    return only_reader(*limit) != nullptr && !wiring_.is_graph_output(limit->outputs[0]);
  }

  void pack(const Product& product) {
    const int i = product.node;
    const Matrix& matrix = product.weights;
    const Packing packing = packing_of(matrix);
    const bool blocks = matrix.axis.granularity == QuantizationGranularity::kBlock;
    if (packing.bits > 4 && !blocks) return;
    Node node = graph_.nodes[at(i)];
    const std::int64_t accuracy_level = quantizes_rows(node, product) ? 4 : 0;
    const ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : kNoValue;
    const ValueId values = graph_.add_constant(packed_values(matrix, packing));
    const ValueId scales = graph_.add_constant(scales_of(matrix));
    const ValueId zeros =
        packing.default_zeros ? kNoValue : graph_.add_constant(packed_zeros(matrix, packing));
    graph_.fusions.fused(node, cat("keeps its weights in ", packing.bits, " bits"));
    node.inputs = {node.inputs[0], values, scales, zeros, kNoValue, bias};
    while (node.inputs.back() == kNoValue) node.inputs.pop_back();
    node.domain = kEtch;
    node.op_type = "MatMulNBits";
    node.op = nullptr;
    node.params.reset();
    node.attributes = {{"K", matrix.depth},
                       {"N", matrix.cols},
                       {"bits", packing.bits},
                       {"block_size", matrix.block},
                       {"accuracy_level", accuracy_level}};
    graph_.opsets.emplace(kEtch, 1);
    Sink none;
    ETCH_CHECK(resolve_node(graph_, node, none));
    wiring_.replace(i, std::move(node));
  }

  Graph& graph_;
  BlockedProducts blocked_;
  Wiring wiring_;
};

}  // namespace

void pack_weights(Graph& graph, BlockedProducts blocked) { WeightPacker(graph, blocked).run(); }

}  // namespace etch
