// Integer products with a float result; see integer_products.h.
#include "compiler/passes/integer_products.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/dead_code.h"
#include "compiler/ops/gemm/op.h"
#include "compiler/ops/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/qdq_group.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

// No sum of so many products of 8 bits less their zero points leaves int32.
constexpr std::int64_t kMostTerms = std::numeric_limits<std::int32_t>::max() / (255 * 255);

class IntegerProducts {
 public:
  explicit IntegerProducts(Graph& graph) : graph_(graph), makers_(graph.values.size()) {}

  int run() {
    int count = 0;
    const std::vector<Node> before = std::exchange(graph_.nodes, {});
    for (const Node& node : before) {
      const auto product = product_of(node);
      if (product && make(node, *product)) {
        std::ranges::move(made_, std::back_inserter(graph_.nodes));
        graph_.fusions.fused(node, "became a product of integers with a float result");
        ++count;
      } else {
        graph_.nodes.push_back(node);
      }
      made_by(node);
    }
    if (count > 0) remove_dead(graph_);
    return count;
  }

  // Says what would make integers of products that stay float.
  void offer() {
    for (const Node& node : graph_.nodes) {
      if (product_of(node)) graph_.fusions.offer(node, "--qdq all");
      made_by(node);
    }
  }

 private:
  const Shape& shape_of(ValueId id) const { return *graph_.value(id).shape; }

  struct Product {
    QuantizedOperand a, b;
  };

  void made_by(const Node& node) {
    for (const ValueId output : node.outputs) {
      if (output != kNoValue) makers_[static_cast<std::size_t>(output)] = &node;
    }
  }

  // The operands of a node that can be computed in integers.
  std::optional<Product> product_of(const Node& node) const {
    if (node.domain != kOnnx || !is_one_of(node.op_type, {"Conv", "MatMul", "Gemm"}))
      return std::nullopt;
    const auto a = operand(node.inputs[0]), b = operand(node.inputs[1]);
    if (!a || !b || !a->is_8bit_per_tensor() || !is_8bit(b->dtype)) return std::nullopt;
    if (graph_.value(node.outputs[0]).dtype != DType::kF32) return std::nullopt;
    const Shape& right = shape_of(b->value);
    if (node.op_type == "Gemm" && !is_plain(node)) return std::nullopt;
    const bool rows = node.op_type == "Conv" || is_transposed(node);  // each makes a channel
    if (!rows && right.size() < 2) return std::nullopt;
    const bool along = b->axis.granularity == QuantizationGranularity::kAxis &&
                       (rows ? b->axis.axis == 0 : right.size() == 2 && b->axis.axis == 1);
    if (!b->per_tensor() && !along) return std::nullopt;
    if (node.op_type == "Conv" && graph_.value(b->value).constant == nullptr) return std::nullopt;
    const std::int64_t terms =
        rows ? element_count(right) / std::max<std::int64_t>(right[0], 1) : right[right.size() - 2];
    return fits(terms, *a, *b) ? std::optional(Product{*a, *b}) : std::nullopt;
  }

  static bool is_plain(const Node& gemm) {
    const auto& params = params_of<GemmParams>(gemm);
    return params.alpha == 1 && params.beta == 1 && int_attribute(gemm, "transA", 0) == 0;
  }

  static bool is_transposed(const Node& node) {
    return node.op_type == "Gemm" && int_attribute(node, "transB", 0) != 0;
  }

  std::optional<QuantizedOperand> operand(ValueId id) const {
    const Node* maker = makers_[static_cast<std::size_t>(id)];
    return maker == nullptr ? std::nullopt : dequantized_by(graph_, *maker);
  }

  // Whether sums of `terms` products stay within int32, and what they stand for within the floats,
  // away from those that are not normal.
  bool fits(std::int64_t terms, const QuantizedOperand& a, const QuantizedOperand& b) const {
    if (terms > kMostTerms) return false;
    const Tensor& scales_b = *graph_.value(b.scale).constant;
    if (scales_b.dtype() != DType::kF32) return false;
    const float scale_a = a.quantization.scale_at(0);
    constexpr float kMost = std::numeric_limits<float>::max() / 0x1p31F;
    return std::ranges::all_of(scales_b.as<float>(), [&](float scale_b) {
      const float scale = scale_a * scale_b;
      return scale >= std::numeric_limits<float>::min() && scale <= kMost;
    });
  }

  // Fills made_; false where an operator refuses what it would get.
  bool make(const Node& node, const Product& product) {
    made_.clear();
    refused_ = false;
    if (node.op_type == "Conv") {
      make_conv(node, product.a, product.b);
    } else {
      make_matmul(node, product.a, product.b);
    }
    return !refused_;
  }

  void make_conv(const Node& node, const QuantizedOperand& x, const QuantizedOperand& w) {
    const Shape weights = shape_of(w.value);  // new values move the graph's
    const ValueId sum = add(node, "ConvInteger",
                            {x.value, w.value, zero_point_of(graph_, x), zero_point_of(graph_, w)});
    const ValueId real = add(node, "Cast", {sum});
    const ValueId scaled =
        add(node, "Mul", {real, scales(x, w, weights.size())}, unless_biased(node));
    if (has_bias(node)) add(node, "Add", {scaled, along_channels(node, weights)}, node.outputs[0]);
  }

  void make_matmul(const Node& node, const QuantizedOperand& a, const QuantizedOperand& b) {
    const ValueId right = is_transposed(node) ? add(node, "Transpose", {b.value}) : b.value;
    const ValueId product =
        add(node, "MatMulIntegerToFloat",
            {a.value, right, a.scale, b.scale, zero_point_of(graph_, a), zero_point_of(graph_, b)},
            unless_biased(node));
    if (has_bias(node)) add(node, "Add", {product, node.inputs[2]}, node.outputs[0]);
  }

  static bool has_bias(const Node& node) {
    return node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  }
  // What the product is, where nothing is added to it.
  static ValueId unless_biased(const Node& node) {
    return has_bias(node) ? kNoValue : node.outputs[0];
  }

  // fl(x_scale * w_scale[m]), broadcast over positions where there are several.
  ValueId scales(const QuantizedOperand& x, const QuantizedOperand& w, std::size_t rank) {
    std::vector<float> out;
    for (const float scale : graph_.value(w.scale).constant->as<float>())
      out.push_back(x.quantization.scale_at(0) * scale);
    Shape shape(out.size() == 1 ? 0 : rank - 1, 1);
    if (!shape.empty()) shape[0] = std::ssize(out);
    return graph_.add_constant(Tensor::of<float>(shape, out));
  }

  // The bias [M] of a convolution as [M, 1...].
  ValueId along_channels(const Node& node, const Shape& weights) {
    std::vector<std::int64_t> shape(weights.size() - 1, 1);
    shape[0] = weights[0];
    const auto rank = std::ssize(shape);
    const ValueId sizes = graph_.add_constant(Tensor::of<std::int64_t>({rank}, shape));
    return add(node, "Reshape", {node.inputs[2], sizes});
  }

  // Adds `type`, a new node in the place of `like`; returns its result, which is `y` where that is
  // given.
  ValueId add(const Node& like, std::string_view type, std::vector<ValueId> inputs,
              ValueId y = kNoValue) {
    Node node = like;
    node.domain = type == "MatMulIntegerToFloat" ? kMicrosoft : kOnnx;
    node.op_type = type;
    node.op = nullptr;
    node.params.reset();
    if (type != "ConvInteger") node.attributes.clear();
    if (type == "Cast") node.attributes["to"] = std::int64_t{1};  // float32
    node.inputs = std::move(inputs);
    if (y == kNoValue) y = graph_.add_value(Value{graph_.value(like.outputs[0]).name, {}, {}, {}});
    node.outputs = {y};
    Sink trial;
    refused_ = refused_ || !resolve_node(graph_, node, trial);
    made_.push_back(std::move(node));
    return y;
  }

  Graph& graph_;
  std::vector<const Node*> makers_;  // by value; null: an input, a constant, a new node
  std::vector<Node> made_;           // in place of one node
  bool refused_ = false;
};

}  // namespace

int integer_products(Graph& graph) { return IntegerProducts(graph).run(); }
void offer_integer_products(Graph& graph) { IntegerProducts(graph).offer(); }

}  // namespace etch
