// See half_moves.h. One walk forwards finds what could be 16 bits, one backwards what is wanted so,
// and one forwards writes it: no recursion, chains may be long.
#include "compiler/passes/half_moves.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/ops/cast/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pad/op.h"
#include "compiler/ops/scatter_rows/op.h"

namespace etch {

namespace {

bool is_of_16_bits(DType type) { return type == DType::kF16 || type == DType::kBF16; }

// Null: another operator, or of no elements, which are known.
const Cast* conversion_of(const Node& node) {
  return node.outputs.empty() || node.outputs[0] == kNoValue ? nullptr
                                                             : std::any_cast<Cast>(&node.params);
}

// Of the file, where inputs of the graph are float32 already.
bool changes_nothing(const Cast& cast) { return cast.from == DType::kF32 && cast.to == cast.from; }

std::size_t slot_of(ValueId id) { return static_cast<std::size_t>(id); }

Node conversion(const Node& origin, ValueId from, ValueId to, Cast types) {
  Node node;
  node.index = origin.index;
  node.name = origin.name;
  node.op_type = "Cast";
  node.op = find_op(kOnnx, "Cast");
  node.inputs = {from};
  node.outputs = {to};
  node.attributes = {{"to", std::int64_t{onnx_number_of(types.to)}}};
  node.params = types;
  return node;
}

// What `cast` gives, which is `from` as it is.
Node as_identity(const Node& cast, ValueId from, const Shape& shape) {
  Node node;
  node.index = cast.index;
  node.name = cast.name;
  node.op_type = "Identity";
  node.op = find_op(kOnnx, "Identity");
  node.inputs = {from};
  node.outputs = cast.outputs;
  node.params = Relabel{shape};
  return node;
}

Tensor converted(const Tensor& x, DType type) {
  const Node node = conversion({}, kNoValue, kNoValue, {x.dtype(), type});
  const std::vector<const Tensor*> inputs = {&x};
  return node.op->reference(node, inputs).at(0);
}

// The elements of a float32 tensor in 16 bits; nothing where one of them is none of the type, or a
// NaN, whose bits the file may have had otherwise.
std::optional<Tensor> in_16_bits(const Tensor& x, DType type) {
  if (x.dtype() != DType::kF32) return std::nullopt;
  const auto is_nan = [](float each) { return each != each; };
  if (std::ranges::any_of(x.as<float>(), is_nan)) return std::nullopt;
  Tensor y = converted(x, type);
  return converted(y, DType::kF32) == x ? std::optional(std::move(y)) : std::nullopt;
}

// The inputs of which a node only moves elements; empty: it does something else.
std::vector<std::size_t> moved_inputs(const Node& node) {
  if (std::any_cast<Cast>(&node.params) != nullptr || node.inputs.empty()) return {};
  if (const auto* const scatter = std::any_cast<ScatterRows>(&node.params)) {
    if (scatter->kind != ScatterRows::Kind::kReplace) return {};
    return {0, 2};
  }
  if (!node.domain.empty() && node.op_type != "Pad") return {};
  if (node.op->folder == "pad") return {0};
  if (node.op->folder == "where") return {1, 2};
  if (moves_data(node)) return {0};
  std::vector<std::size_t> all;
  if (node.op->folder != "concat") return all;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) all.push_back(i);
  return all;
}

class HalfMoves {
 public:
  explicit HalfMoves(Graph& graph)
      : graph_(graph), type_(graph.values.size()), wanted_(graph.values.size(), false) {}

  void run() {
    for (const Node& node : graph_.nodes) find(node);
    bool any = false;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) any |= want(*node);
    if (any) write();
  }

 private:
  // Which 16 bits the outputs of `node` could be.
  void find(const Node& node) {
    if (const Cast* const cast = conversion_of(node)) {
      auto& type = type_[slot_of(node.outputs[0])];
      if (is_of_16_bits(cast->from) && cast->to == DType::kF32) type = cast->from;
      if (changes_nothing(*cast)) type = type_[slot_of(node.inputs[0])];
      return;
    }
    const std::optional<DType> type = type_of_moved(node);
    // Of a constant, what is read of it in 16 bits is another constant.
    const bool is_constant = std::ranges::any_of(node.outputs, [&](ValueId id) {
      return id != kNoValue && graph_.value(id).constant != nullptr;
    });
    for (const ValueId y : node.outputs) {
      if (type && y != kNoValue && !is_constant) type_[slot_of(y)] = type;
    }
  }

  // The type of all inputs that `node` moves.
  std::optional<DType> type_of_moved(const Node& node) const {
    const std::vector<std::size_t> inputs = moved_inputs(node);
    std::optional<DType> type;
    for (const std::size_t i : inputs) {
      const auto& each = type_[slot_of(node.inputs[i])];
      if (each && type && each != type) return std::nullopt;
      if (each) type = each;
    }
    if (!type) return std::nullopt;
    const bool all_are = std::ranges::all_of(inputs, [&](std::size_t i) {
      const ValueId id = node.inputs[i];
      if (type_[slot_of(id)]) return true;
      const Tensor* const constant = graph_.value(id).constant.get();
      return constant != nullptr && in_16_bits(*constant, *type);
    });
    const auto* const pad = std::any_cast<Pad>(&node.params);
    const bool value_is = pad == nullptr || in_16_bits(pad->value, *type);
    const bool outputs_are = std::ranges::all_of(node.outputs, [&](ValueId id) {
      return id == kNoValue || graph_.value(id).dtype == DType::kF32;
    });
    return all_are && value_is && outputs_are ? type : std::nullopt;
  }

  // Whether an output that can be 16 bits is read so.
  bool is_wanted(const Node& node) const {
    return std::ranges::any_of(node.outputs, [&](ValueId id) {
      return id != kNoValue && wanted_[slot_of(id)] && type_[slot_of(id)];
    });
  }

  // Marks what `node` then reads in 16 bits. Whether it is one of those.
  bool want(const Node& node) {
    if (const Cast* const cast = conversion_of(node)) {
      const std::size_t x = slot_of(node.inputs[0]);
      const bool narrows = cast->from == DType::kF32 && type_[x] == cast->to;
      const bool passes_on = changes_nothing(*cast) && wanted_[slot_of(node.outputs[0])];
      if (narrows || passes_on) wanted_[x] = true;
      return narrows;
    }
    if (!is_wanted(node)) return false;
    for (const std::size_t i : moved_inputs(node)) wanted_[slot_of(node.inputs[i])] = true;
    return true;
  }

  void write() {
    half_.assign(graph_.values.size(), kNoValue);
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (Node& node : nodes) {
      if (const Cast* const cast = conversion_of(node)) {
        write_cast(std::move(node), Cast(*cast));
      } else if (is_wanted(node)) {
        write_move(std::move(node));
      } else {
        graph_.nodes.push_back(std::move(node));
      }
    }
  }

  void write_cast(Node node, Cast cast) {
    const ValueId x = node.inputs[0];
    if (is_of_16_bits(cast.from) && cast.to == DType::kF32) half_[slot_of(node.outputs[0])] = x;
    if (changes_nothing(cast)) half_[slot_of(node.outputs[0])] = half_[slot_of(x)];
    if (cast.from == DType::kF32 && type_[slot_of(x)] == cast.to) {
      node = as_identity(node, half_[slot_of(x)], *graph_.value(x).shape);
    }
    graph_.nodes.push_back(std::move(node));
  }

  void write_move(Node node) {
    const DType type = *type_[slot_of(node.outputs[first_output(node)])];
    std::vector<Node> casts;
    for (ValueId& y : node.outputs) {
      if (y == kNoValue) continue;
      const ValueId wide = std::exchange(y, graph_.add_value(graph_.value(y)));
      graph_.value(y).dtype = type;
      half_[slot_of(wide)] = y;
      casts.push_back(conversion(node, y, wide, {type, DType::kF32}));
    }
    for (const std::size_t i : moved_inputs(node)) node.inputs[i] = half_of(node.inputs[i], type);
    if (const auto* const pad = std::any_cast<Pad>(&node.params)) {
      Pad params = *pad;
      params.value = *in_16_bits(params.value, type);
      if (node.inputs.size() > 2 && node.inputs[2] != kNoValue)
        node.inputs[2] = graph_.add_constant(params.value);
      node.params = std::move(params);
    }
    graph_.nodes.push_back(std::move(node));
    std::ranges::move(casts, std::back_inserter(graph_.nodes));
  }

  static std::size_t first_output(const Node& node) {
    const auto found =
        std::ranges::find_if(node.outputs, [](ValueId id) { return id != kNoValue; });
    return static_cast<std::size_t>(found - node.outputs.begin());
  }

  ValueId half_of(ValueId id, DType type) {
    ValueId& half = half_[slot_of(id)];
    if (half == kNoValue) half = graph_.add_constant(*in_16_bits(*graph_.value(id).constant, type));
    return half;
  }

  Graph& graph_;
  std::vector<std::optional<DType>> type_;  // of each value that could be so
  std::vector<bool> wanted_;                // which of them are read so
  std::vector<ValueId> half_;               // what they are then
};

}  // namespace

void keep_half_moves(Graph& graph) { HalfMoves(graph).run(); }

}  // namespace etch
