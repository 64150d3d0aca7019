// See parts.h.
#include "compiler/passes/functions/parts.h"

#include <algorithm>
#include <numeric>

#include "compiler/base/text.h"

namespace etch {

std::vector<Node> Parts::finish() {
  for (const auto& [name, value] : attributes_)
    fail(DiagKind::kAttr, cat("attribute '", printable(name), "' is not known"));
  if (failed_ || parts_.empty()) return {};
  name_outputs();
  return std::move(parts_);
}

// A value that no part makes needs a copy: each output has its own name. No rule gives one twice.
void Parts::name_outputs() {
  if (std::ranges::none_of(given_, [](const auto& each) { return each.first == 0; }))
    given_.emplace_back(0, parts_.back().outputs[0]);
  for (const auto& [i, id] : given_) {
    const auto maker =
        std::ranges::find_if(parts_, [&](const Node& part) { return part.outputs[0] == id; });
    if (maker == parts_.end()) {
      add("Identity", {id});
      parts_.back().outputs[0] = output(i);
      continue;
    }
    for (Node& part : parts_) {
      std::ranges::replace(part.inputs, id, output(i));
      std::ranges::replace(part.outputs, id, output(i));
    }
  }
}

bool Parts::needs(std::size_t i) {
  if (has_input(i)) return true;
  fail(DiagKind::kGraph, cat("input ", i, " is required, but omitted"));
  return false;
}

bool Parts::expects(std::size_t i, DType type, const Shape& shape) {
  if (!needs(i)) return false;
  const Value& value = graph_.value(input(i));
  if (value.dtype != type) {
    fail(DiagKind::kType,
         cat("input ", i, " must be ", name_of(type), ", is ", name_of(*value.dtype)));
    return false;
  }
  const bool fits = std::equal(shape.begin(), shape.end(), value.shape->begin(), value.shape->end(),
                               [](std::int64_t a, std::int64_t b) { return a < 0 || a == b; });
  if (!fits) {
    fail(DiagKind::kShape, cat("input ", i, " must have the shape ", to_string(shape),
                               " (-1: any size), has ", to_string(*value.shape)));
  }
  return fits;
}

std::int64_t Parts::declared_size(std::size_t i, std::size_t dimension) const {
  if (!has_output(i)) return -1;
  const auto& shape = graph_.value(output(i)).shape;
  return shape && dimension < shape->size() ? (*shape)[dimension] : -1;
}

void Parts::only(const char* name, std::int64_t only) {
  const auto value = take<std::int64_t>(name, only);
  if (value == only) return;
  fail(DiagKind::kUnsupported, cat("attribute '", name, "': only ", only, " is supported"));
}

void Parts::wrong_type(const char* name) {
  fail(DiagKind::kAttr, cat("attribute '", name, "' has a wrong type"));
}

void Parts::fail(DiagKind kind, std::string what) {
  failed_ = true;
  sink_.report({Severity::kError, kind, node_.index, location_of(node_), std::move(what)});
}

ValueId Parts::add(const char* type, std::vector<ValueId> inputs, Attributes attributes) {
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  Node part;
  part.index = node_.index;
  part.name = node_.name;
  part.op_type = type;
  part.inputs = std::move(inputs);
  part.outputs = {graph_.add_value({})};
  part.attributes = std::move(attributes);
  parts_.push_back(std::move(part));
  return parts_.back().outputs[0];
}

ValueId Parts::integer(DType type, std::int64_t value) { return positions(type, value, 1, {}); }

ValueId Parts::ints(const std::vector<std::int64_t>& values) {
  return graph_.add_constant(
      Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
}

ValueId Parts::positions(DType type, std::int64_t begin, std::int64_t count, const Shape& shape) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), begin);
  if (type == DType::kS64) return graph_.add_constant(Tensor::of<std::int64_t>(shape, values));
  return graph_.add_constant(
      Tensor::of<std::int32_t>(shape, std::vector<std::int32_t>(values.begin(), values.end())));
}

ValueId Parts::slice(ValueId x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  using List = std::vector<std::int64_t>;
  if (onnx_opset() >= 10) return add("Slice", {x, ints({begin}), ints({end}), ints({axis})});
  return add("Slice", {x}, {{"starts", List{begin}}, {"ends", List{end}}, {"axes", List{axis}}});
}

ValueId Parts::reduce(const char* type, ValueId x, const std::vector<std::int64_t>& axes) {
  const std::int64_t since = std::string_view(type) == "ReduceSum" ? 13 : 18;
  if (onnx_opset() >= since) return add(type, {x, ints(axes)});
  return add(type, {x}, {{"axes", axes}});
}

}  // namespace etch
