// See expand.h.
#include "compiler/passes/expand.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/ops/arithmetic/op.h"
#include "compiler/ops/cast/op.h"
#include "compiler/ops/matmul_integer_to_float/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qgemm/op.h"
#include "compiler/passes/expand_recurrent.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

bool is_16bit(DType type) { return type == DType::kU16 || type == DType::kS16; }
bool is_narrow(DType type) { return is_8bit(type) || is_16bit(type); }
bool is_wide_unsigned(DType type) { return type == DType::kU32 || type == DType::kU64; }
DType signed_of(DType type) { return type == DType::kU32 ? DType::kS32 : DType::kS64; }
constexpr float kTwoTo63 = 9223372036854775808.0F;

// Casts that ops/cast does not lower itself: it does between an unsigned type and the signed one of
// the same width.
bool is_unsigned_cast(const Node& node) {
  if (node.op->folder != "cast") return false;
  const auto& params = params_of<Cast>(node);
  const auto is_relabel = [](DType a, DType b) {
    return is_wide_unsigned(a) && (b == a || b == signed_of(a));
  };
  return (is_wide_unsigned(params.from) || is_wide_unsigned(params.to)) &&
         !is_relabel(params.from, params.to) && !is_relabel(params.to, params.from);
}

// Takes the nodes of a graph one by one and writes them back, some as several.
class Expander {
 public:
  Expander(Graph& graph, Sink& sink) : graph_(graph), sink_(sink) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      const std::size_t first = graph_.nodes.size();
      if (expand(node)) {
        // The last node's output takes the place of the expanded one's.
        graph_.nodes.back().outputs = node.outputs;
        log(node, first);
      } else {
        graph_.nodes.push_back(std::move(node));
      }
    }
  }

 private:
  // Writes the parts of `node`; false where it has none.
  bool expand(const Node& node) {
    const std::string_view folder = node.op->folder;
    if (folder == "recurrent") {  // output 0 may be omitted
      expand_recurrent(graph_, node, sink_);
      return true;
    }
    if (node.outputs.empty() || node.outputs[0] == kNoValue) return false;  // loops may omit it
    const DType type = *graph_.value(node.outputs[0]).dtype;
    if (folder == "matmul_integer_to_float") {
      integer_product(node);
    } else if (folder == "qgemm" && !has_own_kernel(node)) {
      gemm(node);
    } else if (node.op_type == "Mean") {
      mean(node);
    } else if (is_unsigned_cast(node)) {
      unsigned_cast(node);
    } else if (folder == "where" && is_wide_unsigned(type)) {
      choice(node, signed_of(type));
    } else if (folder == "arithmetic" && is_narrow(type) && !computes_bytes(node, type)) {
      narrow_arithmetic(node, type);
    } else if (folder == "arithmetic" && is_wide_unsigned(type)) {
      unsigned_arithmetic(node, type);
    } else if (folder == "compare" && is_16bit(*graph_.value(node.inputs[0]).dtype)) {
      wide_comparison(node);
    } else if (folder == "compare" && is_wide_unsigned(*graph_.value(node.inputs[0]).dtype)) {
      add(node, node.op_type.c_str(), ordered_inputs(node));
    } else if ((folder == "activation" || folder == "float_function") && type != DType::kF32) {
      integer_function(node, type);
    } else {
      return false;
    }
    return true;
  }

  // Whether there are rows of bytes for it.
  static bool computes_bytes(const Node& node, DType type) {
    using Kind = Arithmetic::Kind;
    const auto kind = params_of<Arithmetic>(node).kind;
    return is_8bit(type) && kind != Kind::kShiftLeft && kind != Kind::kShiftRight;
  }

  // Notes what `node` became: the nodes from `first` on.
  void log(const Node& node, std::size_t first) {
    std::string parts;
    for (std::size_t i = first; i < graph_.nodes.size(); ++i)
      parts += cat(i == first ? "" : ", ", graph_.nodes[i].op_type);
    graph_.fusions.fused(node, cat("is computed as ", parts));
  }

  bool is_constant(ValueId id) const { return graph_.value(id).constant != nullptr; }

  // What ops/qgemm lowers by itself.
  bool has_own_kernel(const Node& node) const {
    const auto& params = params_of<QGemmParams>(node);
    const ValueId c = input_of(node, 6);
    return params.output == QGemmOutput::kQuantized && params.a && params.b && params.y &&
           is_constant(node.inputs[3]) && !is_constant(node.inputs[0]) &&
           (c == kNoValue || is_constant(c)) &&
           (params.geometry.c_row_stride == 0 || params.geometry.rows == 1);
  }

  // A node of ai.onnx that comes from `origin`; its outputs.
  std::vector<ValueId> add(const Node& origin, const char* type, std::vector<ValueId> inputs,
                           std::size_t outputs = 1,
                           std::map<std::string, Attribute> attributes = {}) {
    Node node;
    node.index = origin.index;
    node.name = origin.name;
    node.op_type = type;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value({}));
    ETCH_CHECK(resolve_node(graph_, node, sink_));
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().outputs;
  }

  static ValueId input_of(const Node& node, int i) {
    const bool given = i >= 0 && static_cast<std::size_t>(i) < node.inputs.size();
    return given ? node.inputs[static_cast<std::size_t>(i)] : kNoValue;
  }

  ValueId transposed(const Node& origin, ValueId id, bool is_transposed) {
    return is_transposed ? add(origin, "Transpose", {id})[0] : id;
  }

  // An int32 sum as float32.
  ValueId to_float(const Node& origin, ValueId sum) { return cast(origin, sum, DType::kF32); }

  ValueId cast(const Node& origin, ValueId id, DType to) {
    return add(origin, "Cast", {id}, 1, {{"to", std::int64_t{onnx_number_of(to)}}})[0];
  }

  ValueId scalar(float value) { return graph_.add_constant(Tensor::of<float>({}, {value})); }

  ValueId integer(DType type, std::int64_t value) {
    if (type == DType::kS64) return graph_.add_constant(Tensor::of<std::int64_t>({}, {value}));
    return graph_.add_constant(Tensor::of<std::int32_t>({}, {static_cast<std::int32_t>(value)}));
  }

  void mean(const Node& node) {
    const float share = 1.0F / static_cast<float>(node.inputs.size());
    const ValueId sum = add(node, "Sum", node.inputs)[0];
    add(node, "Mul", {sum, scalar(share)});
  }

  // Through int32, which holds all results but those that wrap, and these keep their low bits.
  void narrow_arithmetic(const Node& node, DType type) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(cast(node, id, DType::kS32));
    const ValueId wide = add(node, node.op_type.c_str(), std::move(inputs), 1, node.attributes)[0];
    cast(node, wide, type);
  }

  // Each input as a signed number in the same order: with the other top bit.
  std::vector<ValueId> ordered_inputs(const Node& node) {
    std::vector<ValueId> out;
    for (const ValueId id : node.inputs) {
      const DType type = signed_of(*graph_.value(id).dtype);
      out.push_back(add(node, "BitwiseXor", {cast(node, id, type), top_bit(type)})[0]);
    }
    return out;
  }

  ValueId top_bit(DType type) { return integer(type, type == DType::kS32 ? INT32_MIN : INT64_MIN); }

  // On the same bits in a signed type, of which most operators know no sign; results of others
  // depend on order, or on more bits.
  void unsigned_arithmetic(const Node& node, DType type) {
    const std::string& op = node.op_type;
    const DType as = signed_of(type);
    const auto direction = node.attributes.find("direction");
    const bool to_right =
        direction != node.attributes.end() && direction->second == Attribute(std::string("RIGHT"));
    ValueId y = kNoValue;
    if (op == "Max" || op == "Min") {
      const ValueId found = add(node, op.c_str(), ordered_inputs(node))[0];
      y = add(node, "BitwiseXor", {found, top_bit(as)})[0];
    } else if (type == DType::kU32 && (op == "Div" || op == "Mod" || to_right)) {
      y = cast(node, in_64_bits(node), as);
    } else if (to_right) {
      y = shifted_right(node);
    } else if (op == "Div" || op == "Mod") {
      y = op == "Div" ? quotient(node).back() : remainder(node);
    } else {
      std::vector<ValueId> inputs;
      for (const ValueId id : node.inputs) inputs.push_back(cast(node, id, as));
      y = add(node, op.c_str(), std::move(inputs), 1, node.attributes)[0];
    }
    cast(node, y, type);
  }

  // A uint32 as int64, where no number is negative.
  ValueId extended(const Node& node, ValueId id) {
    const ValueId wide = cast(node, cast(node, id, DType::kS32), DType::kS64);
    return add(node, "BitwiseAnd", {wide, integer(DType::kS64, UINT32_MAX)})[0];
  }

  ValueId in_64_bits(const Node& node) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(extended(node, id));
    return add(node, node.op_type.c_str(), std::move(inputs), 1, node.attributes)[0];
  }

  // floor(x / 2) of the bits of a uint64.
  ValueId half_of(const Node& node, ValueId x) {
    const ValueId half = add(node, "BitShift", {x, integer(DType::kS64, 1)}, 1,
                             {{"direction", std::string("RIGHT")}})[0];
    return add(node, "BitwiseAnd", {half, integer(DType::kS64, INT64_MAX)})[0];
  }

  // x >> n of uint64: once without the copy of the top bit, then n - 1 times. By 0 it is x.
  ValueId shifted_right(const Node& node) {
    const ValueId x = cast(node, node.inputs[0], DType::kS64);
    const ValueId n = cast(node, node.inputs[1], DType::kS64);
    const ValueId positive = half_of(node, x);
    const ValueId less = add(node, "Sub", {n, integer(DType::kS64, 1)})[0];
    const ValueId y = add(node, "BitShift", {positive, less}, 1, node.attributes)[0];
    const ValueId none = add(node, "Equal", {n, integer(DType::kS64, 0)})[0];
    return add(node, "Where", {none, x, y})[0];
  }

  // n, d, d = 0 and n / d of uint64 on int64. Twice floor(n / 2) / d is too small by 1 at most; by
  // a divisor of 2^63 or more it counts as 0, of which the same is true.
  std::vector<ValueId> quotient(const Node& node) {
    const ValueId n = cast(node, node.inputs[0], DType::kS64);
    const ValueId d = cast(node, node.inputs[1], DType::kS64);
    const ValueId zero = integer(DType::kS64, 0);
    const ValueId half = add(node, "Div", {half_of(node, n), d})[0];
    const ValueId is_large = add(node, "Less", {d, zero})[0];
    const ValueId small = add(node, "Where", {is_large, zero, half})[0];
    const ValueId even = add(node, "Add", {small, small})[0];
    const ValueId left = add(node, "Sub", {n, add(node, "Mul", {even, d})[0]})[0];
    const ValueId top = top_bit(DType::kS64);
    const ValueId again =
        add(node, "GreaterOrEqual",
            {add(node, "BitwiseXor", {left, top})[0], add(node, "BitwiseXor", {d, top})[0]})[0];
    const ValueId y = add(node, "Add", {even, cast(node, again, DType::kS64)})[0];
    const ValueId none = add(node, "Equal", {d, zero})[0];
    return {n, d, none, add(node, "Where", {none, zero, y})[0]};
  }

  // 0 where the divisor is 0, as of other integers.
  ValueId remainder(const Node& node) {
    const std::vector<ValueId> parts = quotient(node);
    const ValueId product = add(node, "Mul", {parts[3], parts[1]})[0];
    const ValueId left = add(node, "Sub", {parts[0], product})[0];
    return add(node, "Where", {parts[2], integer(DType::kS64, 0), left})[0];
  }

  // Through the signed type of the width; numbers that do not fit keep their low bits.
  void unsigned_cast(const Node& node) {
    const auto [from, to] = params_of<Cast>(node);
    const ValueId x = node.inputs[0];
    const bool is_long = to == DType::kU64 || to == DType::kS64 || to == DType::kF32;
    ValueId y = x;
    if (from == DType::kU64) {
      y = cast(node, x, DType::kS64);
      if (to == DType::kF32) return real_of_64_bits(node, y);
    } else if (from == DType::kU32) {
      y = is_long ? extended(node, x) : cast(node, x, DType::kS32);
      if (to == DType::kS64) return;
    } else if (from == DType::kF32) {
      y = to == DType::kU64 ? bits_of_real(node, x) : cast(node, x, DType::kS64);
    }
    if (is_wide_unsigned(to) && graph_.value(y).dtype != signed_of(to))
      y = cast(node, y, signed_of(to));
    cast(node, y, to);
  }

  // The float nearest to the unsigned number whose bits are those of x: that of half of it, with a
  // last bit that says whether anything was lost, is the same power of two away from a tie.
  void real_of_64_bits(const Node& node, ValueId x) {
    const ValueId last = add(node, "BitwiseAnd", {x, integer(DType::kS64, 1)})[0];
    const ValueId half = to_float(node, add(node, "BitwiseOr", {half_of(node, x), last})[0]);
    const ValueId large = add(node, "Add", {half, half})[0];
    const ValueId is_large = add(node, "Less", {x, integer(DType::kS64, 0)})[0];
    add(node, "Where", {is_large, large, to_float(node, x)});
  }

  // The bits, as int64, of the truncated number.
  ValueId bits_of_real(const Node& node, ValueId x) {
    const ValueId is_large = add(node, "GreaterOrEqual", {x, scalar(kTwoTo63)})[0];
    const ValueId low = cast(node, add(node, "Sub", {x, scalar(kTwoTo63)})[0], DType::kS64);
    const ValueId large = add(node, "BitwiseXor", {low, top_bit(DType::kS64)})[0];
    return add(node, "Where", {is_large, large, cast(node, x, DType::kS64)})[0];
  }

  // Where on elements of a type that has rows.
  void choice(const Node& node, DType as) {
    const ValueId a = cast(node, node.inputs[1], as), b = cast(node, node.inputs[2], as);
    const DType type = *graph_.value(node.inputs[1]).dtype;
    cast(node, add(node, "Where", {node.inputs[0], a, b})[0], type);
  }

  void wide_comparison(const Node& node) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(cast(node, id, DType::kS32));
    add(node, node.op_type.c_str(), std::move(inputs));
  }

  // Relu, Abs, Neg and Sign of integers by differences and limits.
  void integer_function(const Node& node, DType type) {
    if (is_wide_unsigned(type)) return unsigned_function(node, type);
    const bool narrow = is_narrow(type);
    const ValueId x = narrow ? cast(node, node.inputs[0], DType::kS32) : node.inputs[0];
    const DType wide = narrow ? DType::kS32 : type;
    ValueId y = x;
    if (node.op_type == "Relu") y = add(node, "Max", {x, integer(wide, 0)})[0];
    if (node.op_type == "Neg" || node.op_type == "Abs")
      y = add(node, "Sub", {integer(wide, 0), x})[0];
    if (node.op_type == "Abs") y = add(node, "Max", {x, y})[0];
    if (node.op_type == "Sign") {
      y = add(node, "Max", {x, integer(wide, -1)})[0];
      y = add(node, "Min", {y, integer(wide, 1)})[0];
    }
    if (narrow) cast(node, y, type);
  }

  // Abs and Sign of numbers that are not negative.
  void unsigned_function(const Node& node, DType type) {
    const ValueId x = cast(node, node.inputs[0], signed_of(type));
    const ValueId y =
        node.op_type == "Abs" ? x : cast(node, cast(node, x, DType::kBool), signed_of(type));
    cast(node, y, type);
  }

  void gemm(const Node& node) {
    const QGemmParams params = params_of<QGemmParams>(node);
    const ValueId a = transposed(node, node.inputs[0], params.geometry.transposed_a);
    const ValueId b = transposed(node, node.inputs[3], params.geometry.transposed_b);
    ValueId sum = add(node, "MatMulInteger", {a, b, node.inputs[2], node.inputs[5]})[0];
    const ValueId c = input_of(node, 6);
    if (c != kNoValue) sum = add(node, "Add", {sum, c})[0];
    const ValueId alpha = scalar(params.alpha);
    const ValueId a_scale = add(node, "Mul", {alpha, node.inputs[1]})[0];
    ValueId scale = add(node, "Mul", {a_scale, node.inputs[4]})[0];
    const bool quantized = params.output == QGemmOutput::kQuantized;
    if (quantized) scale = add(node, "Div", {scale, node.inputs[7]})[0];
    const ValueId y = add(node, "Mul", {to_float(node, sum), scale})[0];
    if (quantized) {
      add(node, "QuantizeLinear", {y, scalar(1), node.inputs[8]});
    }
  }

  void integer_product(const Node& node) {
    const IntegerToFloatInputs at = params_of<MatMulIntegerToFloat>(node).inputs;
    ValueId a = node.inputs[0];
    ValueId a_scale = input_of(node, at.a_scale);
    ValueId a_zero = input_of(node, at.a_zero_point);
    if (params_of<MatMulIntegerToFloat>(node).quantizes_a) {
      const std::vector<ValueId> quantized = add(node, "DynamicQuantizeLinear", {a}, 3);
      a = quantized[0];
      a_scale = quantized[1];
      a_zero = quantized[2];
    }
    std::vector<ValueId> operands{a, node.inputs[1], a_zero, input_of(node, at.b_zero_point)};
    while (operands.back() == kNoValue) operands.pop_back();
    const ValueId sum = add(node, "MatMulInteger", std::move(operands))[0];
    const ValueId real = to_float(node, sum);
    const ValueId scale = add(node, "Mul", {a_scale, input_of(node, at.b_scale)})[0];
    ValueId y = add(node, "Mul", {real, scale})[0];
    const ValueId bias = input_of(node, at.bias);
    if (bias != kNoValue) y = add(node, "Add", {y, bias})[0];
  }

  Graph& graph_;
  Sink& sink_;
};

}  // namespace

void expand(Graph& graph, Sink& sink) { Expander(graph, sink).run(); }

}  // namespace etch
