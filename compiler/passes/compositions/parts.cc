// See parts.h.
#include "compiler/passes/compositions/parts.h"

#include <algorithm>
#include <numeric>

#include "compiler/base/check.h"
#include "compiler/ops/op.h"

namespace etch {

bool has_at_most(const Shape& shape, std::int64_t elements) {
  double count = 1;
  for (const std::int64_t size : shape) count *= static_cast<double>(size);
  return count <= static_cast<double>(elements);
}

Ints count_up(std::size_t n) {
  Ints out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Shape along(std::size_t rank, std::size_t axis, std::int64_t size) {
  ETCH_CHECK(axis < rank);
  Shape out(rank, 1);
  out[axis] = size;
  return out;
}

std::vector<Node> Parts::finish() {
  if (failed_) return {};  // and may have left attributes that it knows
  for (const auto& [name, value] : attributes_)
    fail(DiagKind::kAttr, cat("attribute '", printable(name), "' is not known"));
  if (failed_ || (parts_.empty() && given_.empty())) return {};
  if (given_.empty()) given_.emplace_back(0, parts_.back().outputs[0]);
  for (const auto& given : given_) {
    const ValueId id = given.second;  // no structured binding: clang 14 lets no lambda use one
    const ValueId to = output(given.first);
    if (to == kNoValue) continue;
    const auto gives = [&](const Node& part) { return part.outputs[0] == id; };
    if (std::ranges::any_of(node_.outputs, [&](ValueId each) { return each == id; }) ||
        std::ranges::none_of(parts_, gives)) {
      add("Identity", {id});
      parts_.back().outputs[0] = to;
      continue;
    }
    for (Node& part : parts_) {
      std::ranges::replace(part.inputs, id, to);
      std::ranges::replace(part.outputs, id, to);
    }
  }
  return std::move(parts_);
}

bool Parts::needs(std::size_t i) {
  if (input(i) != kNoValue) return true;
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

ValueId Parts::positions(DType type, std::int64_t begin, std::int64_t count, const Shape& shape) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), begin);
  if (type == DType::kS64) return graph_.add_constant(Tensor::of<std::int64_t>(shape, values));
  return graph_.add_constant(
      Tensor::of<std::int32_t>(shape, std::vector<std::int32_t>(values.begin(), values.end())));
}

const Tensor* Parts::constant(std::size_t i) const {
  return input(i) == kNoValue ? nullptr : graph_.value(input(i)).constant.get();
}

bool Parts::read(std::size_t i, const char* role, Ints& out) {
  if (!needs(i)) return false;
  const Tensor* tensor = constant(i);
  if (tensor == nullptr) {
    needs_constant(i, role);
    return false;
  }
  if (!has_type(i, {DType::kS32, DType::kS64})) return false;
  out = tensor->integers();
  return true;
}

std::int64_t Parts::take_axis(const char* name, std::int64_t fallback, std::size_t rank) {
  const auto axis = take<std::int64_t>(name, fallback);
  const auto size = static_cast<std::int64_t>(rank);
  if (axis >= -size && axis < size) return axis < 0 ? axis + size : axis;
  fail(DiagKind::kAttr, cat(name, ": must be in [", -size, ", ", size - 1, "], got ", axis));
  return -1;
}

bool Parts::has_type(std::size_t i, std::initializer_list<DType> allowed) {
  if (std::ranges::find(allowed, dtype(i)) != allowed.end()) return true;
  std::string names;
  for (const DType type : allowed) names += cat(names.empty() ? "" : ", ", name_of(type));
  fail(DiagKind::kType, cat("input ", i, ": must be ", names, ", got ", name_of(dtype(i))));
  return false;
}

void Parts::add(Node part) {
  part.index = node_.index;
  part.name = node_.name;
  part.op = find_op(part.domain, part.op_type);
  parts_.push_back(std::move(part));
}

ValueId Parts::add(const char* type, std::vector<ValueId> inputs, Attributes attributes,
                   const char* domain) {
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  Node part;
  part.index = node_.index;
  part.name = node_.name;
  part.domain = domain;
  part.op_type = type;
  part.inputs = std::move(inputs);
  part.outputs = {graph_.add_value({})};
  part.attributes = std::move(attributes);
  parts_.push_back(std::move(part));
  return parts_.back().outputs[0];
}

void Parts::give(std::size_t i, ValueId id) { given_.emplace_back(i, id); }

ValueId Parts::number(DType type, std::int64_t value) {
  if (type == DType::kF32) return scalar(static_cast<float>(value));
  if (type == DType::kS64) return constant(Tensor::of<std::int64_t>({}, {value}));
  return constant(Tensor::of<std::int32_t>({}, {static_cast<std::int32_t>(value)}));
}

ValueId Parts::transpose(ValueId x, const Ints& perm) {
  if (std::ranges::is_sorted(perm)) return x;
  return add("Transpose", {x}, {{"perm", perm}});
}

ValueId Parts::reduce(const char* type, ValueId x, const Ints& axes, bool keep) {
  if (axes.empty()) return x;
  const std::int64_t keepdims = keep ? 1 : 0;
  const bool is_sum = std::string_view(type) == "ReduceSum";
  if (graph_.opset("") >= (is_sum ? 13 : 18))
    return add(type, {x, ints(axes)}, {{"keepdims", keepdims}});
  return add(type, {x}, {{"axes", axes}, {"keepdims", keepdims}});
}

ValueId Parts::slice(ValueId x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  if (graph_.opset("") >= 10) return add("Slice", {x, ints({begin}), ints({end}), ints({axis})});
  return add("Slice", {x}, {{"starts", Ints{begin}}, {"ends", Ints{end}}, {"axes", Ints{axis}}});
}

void Parts::fail(DiagKind kind, std::string what) {
  failed_ = true;
  sink_.report({Severity::kError, kind, node_.index, location_of(node_), std::move(what)});
}

void Parts::needs_constant(std::size_t i, const char* role, const char* what) {
  failed_ = true;
  const ValueId id = input(i);
  sink_.report({Severity::kError, DiagKind::kUnsupported, node_.index, location_of(node_),
                cat("input ", i, " (", role, "): ", what, constant_hint(graph_, id)),
                id == kNoValue ? "" : graph_.value(id).name, input_file_of(graph_, id)});
}

}  // namespace etch
