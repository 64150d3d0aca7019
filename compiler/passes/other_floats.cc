// See other_floats.h.
#include "compiler/passes/other_floats.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/ops/op.h"
#include "compiler/passes/rename.h"

namespace etch {

namespace {
bool is_half(DType type) { return type == DType::kF16 || type == DType::kBF16; }
bool is_other(DType type) { return is_half(type) || type == DType::kF64; }

// A Cast to `type`, of which people read that it belongs to `origin`.
Node cast(const Node& origin, ValueId from, ValueId to, DType type) {
  Node node;
  node.index = origin.index;
  node.name = origin.name;
  node.op_type = "Cast";
  node.op = find_op("", "Cast");
  node.inputs = {from};
  node.outputs = {to};
  node.attributes = {{"to", std::int64_t{onnx_number_of(type)}}};
  return node;
}

// A Cast that changes nothing.
Node without_cast(const Node& node, std::int64_t opset) {
  Node out = node;
  out.op_type = "Identity";
  out.op = find_op("", "Identity");
  out.attributes.erase("to");
  if (opset >= 19) out.attributes.erase("saturate");
  return out;
}

// CastLike as the Cast that it is.
Node cast_of(const Node& node, DType type) {
  return cast(node, node.inputs[0], node.outputs[0], type);
}

bool has(const std::vector<ValueId>& ids, ValueId id) {
  return std::ranges::find(ids, id) != ids.end();
}

// Null: none of them, except perhaps in branches.
const Node* first_reader(const std::vector<Node>& nodes, ValueId id) {
  const auto found = std::ranges::find_if(nodes, [&](const Node& n) { return has(n.inputs, id); });
  return found == nodes.end() ? nullptr : &*found;
}
const Node* producer(const std::vector<Node>& nodes, ValueId id) {
  const auto found = std::ranges::find_if(nodes, [&](const Node& n) { return has(n.outputs, id); });
  return found == nodes.end() ? nullptr : &*found;
}

bool is_cast(const Node& node) { return node.domain.empty() && node.op_type == "Cast"; }
}  // namespace

ValueId OtherFloats::new_value(ValueId like) {
  return graph_.add_value({graph_.value(like).name, {}, {}, nullptr});
}

std::optional<DType> OtherFloats::type_in_file(ValueId id) const {
  if (id == kNoValue) return std::nullopt;
  const std::optional<DType>& here = graph_.value(id).dtype;
  const auto found = types_in_file_.find(id);
  // What was computed from such floats may be integers.
  const bool is_float = !here || here == DType::kF32 || is_other(*here);
  return found == types_in_file_.end() || !is_float ? here : found->second;
}

std::vector<Node> OtherFloats::enter(std::vector<Node>& nodes) {
  Names read;
  std::vector<Node> first;
  for (const ValueId id : graph_.inputs) {
    const Node* const reader = first_reader(nodes, id);
    if (reader == nullptr || !is_other(*graph_.value(id).dtype)) continue;
    narrows_ = narrows_ || *graph_.value(id).dtype == DType::kF64;
    read[id] = new_value(id);
    types_in_file_[read[id]] = *graph_.value(id).dtype;
    first.push_back(cast(*reader, id, read[id], DType::kF32));
  }
  const std::set<ValueId> inputs(graph_.inputs.begin(), graph_.inputs.end());
  Names written;
  for (const ValueId id : std::set<ValueId>(graph_.outputs.begin(), graph_.outputs.end())) {
    const Node* const origin = producer(nodes, id);
    const DType type = graph_.value(id).dtype.value_or(DType::kF32);
    if (origin == nullptr || !is_other(type)) continue;
    narrows_ = narrows_ || type == DType::kF64;
    written[id] = new_value(id);
    outputs_.push_back(cast(*origin, written[id], id, type));
  }
  read.insert(written.begin(), written.end());
  rename(nodes, read, written);
  for (ValueId id = 0; id < static_cast<ValueId>(graph_.values.size()); ++id) {
    Value& value = graph_.value(id);
    if (value.constant == nullptr && !inputs.contains(id) && value.dtype && is_other(*value.dtype))
      value.dtype.reset();
  }
  return first;
}

std::vector<Node> OtherFloats::leave(Sink& sink) const {
  std::vector<Node> last;
  if (narrows_) {
    sink.warning(DiagKind::kType, {},
                 "float64 is computed in float32: results have 24 bits, and what is beyond "
                 "3.4e38 is infinite");
  }
  for (const Node& node : outputs_) {
    const auto& computed = graph_.value(node.inputs[0]).dtype;
    if (!computed) continue;  // reported
    const auto type = dtype_from_onnx(std::get<std::int64_t>(node.attributes.at("to")));
    if (*computed == DType::kF32 || computed == type) {
      last.push_back(node);
      continue;
    }
    sink.error(DiagKind::kType, cat("output '", printable(graph_.value(node.outputs[0]).name), "'"),
               cat("is declared as ", name_of(*type), ", computed as ", name_of(*computed)));
  }
  return last;
}

// ONNX: numeric_limits' lowest and max of the type in the file.
void OtherFloats::limit(Node& node) {
  if (!node.domain.empty() || node.op_type != "Clip" || graph_.opset("") < 11) return;
  const auto type = node.inputs.empty() ? std::nullopt : type_in_file(node.inputs[0]);
  if (!type || !is_half(*type)) return;
  const float most = *type == DType::kF16 ? 65504.0F : 0x1.FEp127F;
  if (node.inputs.size() < 3) node.inputs.resize(3, kNoValue);
  for (const std::size_t i : {1U, 2U}) {
    if (node.inputs[i] == kNoValue)
      node.inputs[i] = graph_.add_constant(Tensor::of<float>({}, {i == 1 ? -most : most}));
  }
}

// Whether all inputs are constants, some of float64, and the operator computes floats: fold_doubles
// has left it.
bool OtherFloats::computes_doubles(const Node& node) const {
  if (node.op == nullptr || !node.domain.empty()) return false;
  const auto computes = {"arithmetic", "float_function", "activation", "pow", "reduce_mean"};
  if (std::ranges::find(computes, node.op->folder) == computes.end()) return false;
  const auto constant = [&](ValueId id) {
    return id == kNoValue ? nullptr : graph_.value(id).constant.get();
  };
  return std::ranges::all_of(node.inputs, [&](ValueId id) { return constant(id) != nullptr; }) &&
         std::ranges::any_of(node.inputs,
                             [&](ValueId id) { return constant(id)->dtype() == DType::kF64; });
}

std::optional<DType> OtherFloats::type_of_lost_bits(const Node& node) const {
  if (!node.domain.empty() || node.op_type != "BitCast" || node.inputs.empty()) return std::nullopt;
  const auto type = type_in_file(node.inputs[0]);
  if (!type || !is_other(*type)) return std::nullopt;
  // What was computed from floats may be integers.
  const DType here = graph_.value(node.inputs[0]).dtype.value_or(*type);
  return here == DType::kF32 || is_other(here) ? type : std::nullopt;
}

// Of float32 in the file. ONNX Runtime removes it before it looks for groups, and no CastLike.
bool OtherFloats::changes_nothing_in_file(const Node& node) const {
  const auto to = node.attributes.find("to");
  const auto* const number =
      to == node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&to->second);
  return number != nullptr && dtype_from_onnx(*number) == DType::kF32 && node.inputs.size() == 1 &&
         node.outputs.size() == 1 && type_in_file(node.inputs[0]) == DType::kF32 &&
         graph_.opset("") >= 6;
}

std::vector<Node> OtherFloats::read_constants(Node& node) {
  std::vector<Node> first;
  limit(node);
  if (node.domain.empty() && node.op_type == "CastLike" && node.inputs.size() == 2) {
    const std::optional<DType> like = type_in_file(node.inputs[1]);
    if (like && is_other(*like)) node = cast_of(node, *like);
  }
  if (is_cast(node)) {
    if (changes_nothing_in_file(node)) node = without_cast(node, graph_.opset(""));
    return first;
  }
  bool narrows = computes_doubles(node);
  narrows_ = narrows_ || narrows;
  for (const ValueId y : node.outputs) {
    if (narrows) types_in_file_[y] = DType::kF64;
  }
  for (const ValueId id : node.inputs) {
    const auto found = types_in_file_.find(id);
    if (found == types_in_file_.end()) continue;
    narrows = narrows || found->second == DType::kF64;
    for (const ValueId y : node.outputs) types_in_file_[y] = found->second;
  }
  for (ValueId& id : node.inputs) {
    if (id == kNoValue || graph_.value(id).constant == nullptr) continue;
    const DType type = *graph_.value(id).dtype;
    if (!is_half(type) && (type != DType::kF64 || !narrows)) continue;
    const auto [found, is_new] = converted_.try_emplace(id, kNoValue);
    if (is_half(type) && node.op_type == "DequantizeLinear" &&
        !node.attributes.contains("output_dtype"))
      types_in_file_[node.outputs[0]] = type;  // that of its scale
    if (is_new) {
      found->second = new_value(id);
      first.push_back(cast(node, id, found->second, DType::kF32));
    }
    id = found->second;
  }
  return first;
}

std::vector<Node> OtherFloats::split_cast(const Node& node) {
  const auto to = node.attributes.find("to");
  if (!is_cast(node) || node.inputs.size() != 1 || node.outputs.size() != 1 ||
      to == node.attributes.end() || graph_.value(node.inputs[0]).constant != nullptr)
    return {};
  const auto* const number = std::get_if<std::int64_t>(&to->second);
  const auto type = number == nullptr ? std::nullopt : dtype_from_onnx(*number);
  if (!type || !is_other(*type)) return {};
  const ValueId y = node.outputs[0];
  if (*type == DType::kF64) {
    narrows_ = true;
    types_in_file_[y] = DType::kF64;
    return {cast(node, node.inputs[0], y, DType::kF32)};
  }
  types_in_file_[y] = *type;
  const ValueId wide = new_value(y), rounded = new_value(y);
  return {cast(node, node.inputs[0], wide, DType::kF32), cast(node, wide, rounded, *type),
          cast(node, rounded, y, DType::kF32)};
}

}  // namespace etch
