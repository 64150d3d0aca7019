// Operators that write at coordinates, all by org.etch's ScatterRows:
//   ScatterND, ScatterElements, Scatter   with reductions none, add, mul, max and min, in order
#include <algorithm>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/indices.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

// Takes the attribute; "" after a report.
std::string reduction_of(Parts& parts) {
  auto name = parts.take<std::string>("reduction", "none");
  const auto known = {"none", "add", "mul", "max", "min"};
  if (std::ranges::find(known, name) != known.end()) return name;
  parts.fail(DiagKind::kAttr,
             cat("reduction: must be none, add, mul, max or min, got '", printable(name), "'"));
  return "";
}

// Inputs 0 and 2 have one type, input 1 integers; else false after a report.
bool scatter_inputs_fit(Parts& parts) {
  if (!parts.needs(1) || !parts.needs(2)) return false;
  return parts.has_type(0, {DType::kF32, DType::kS32, DType::kS64, DType::kU16, DType::kS16,
                            DType::kU8, DType::kS8, DType::kBool}) &&
         parts.has_type(1, {DType::kS32, DType::kS64}) && parts.has_type(2, {parts.dtype(0)});
}

// Where there are no updates, or nothing that they could change, the data is the result.
bool keeps_data(Parts& parts) {
  if (element_count(parts.shape(0)) > 0 && element_count(parts.shape(2)) > 0) return false;
  parts.give(0, parts.input(0));
  return true;
}

void scatter_nd(Parts& parts) {
  if (!scatter_inputs_fit(parts) || !parts.has_type(1, {DType::kS64})) return;
  const std::string reduction = reduction_of(parts);
  const Shape& data = parts.shape(0);
  const Shape& indices = parts.shape(1);
  const std::int64_t count = indices.empty() ? 0 : indices.back();
  const bool fits = count > 0 && count <= static_cast<std::int64_t>(data.size());
  Shape expected(indices.begin(), fits ? indices.end() - 1 : indices.end());
  if (fits) expected.insert(expected.end(), data.begin() + count, data.end());
  if (!fits || parts.shape(2) != expected) {
    parts.fail(DiagKind::kShape,
               cat("indices of shape ", to_string(indices), " and updates of shape ",
                   to_string(parts.shape(2)), " do not fit data of shape ", to_string(data)));
    return;
  }
  if (keeps_data(parts)) return;
  const Shape sizes(data.begin(), data.begin() + count);
  if (!coordinates_in_range(parts, 1, sizes)) return;
  const std::int64_t rows = element_count(sizes);
  const std::int64_t width = element_count(data) / rows;
  const std::int64_t lists = element_count(indices) / count;
  const ValueId at = parts.reshape(row_numbers(parts, 1, sizes, 0), {lists});
  const ValueId y = scattered(parts, parts.dtype(0), parts.reshape(parts.input(0), {rows, width}),
                              at, parts.reshape(parts.input(2), {lists, width}), reduction);
  parts.reshape(y, data);
}

// The number in a tensor of shape `data` of each element that input 1 names along an axis.
ValueId element_numbers(Parts& parts, const Shape& data, const Shape& indices, std::size_t axis) {
  ValueId at = parts.input(1);
  if (parts.dtype(1) != DType::kS64) at = parts.cast(at, DType::kS64);
  at = wrapped(parts, at, {data[axis]});
  std::int64_t stride = 1;
  for (std::size_t d = data.size(); --d > axis;) stride *= data[d];
  if (stride != 1) at = parts.add("Mul", {at, parts.number(DType::kS64, stride)});
  stride = 1;
  for (std::size_t d = data.size(); d-- > 0; stride *= data[d]) {
    if (d == axis || indices[d] == 1) continue;
    Ints starts;
    for (std::int64_t i = 0; i < indices[d]; ++i) starts.push_back(i * stride);
    at = parts.add("Add", {at, parts.ints(along(data.size(), d, indices[d]), starts)});
  }
  return at;
}

void scatter_elements(Parts& parts) {
  if (!scatter_inputs_fit(parts)) return;
  const std::string reduction = reduction_of(parts);
  const Shape& data = parts.shape(0);
  const Shape& indices = parts.shape(1);
  const std::int64_t axis = parts.take_axis("axis", 0, data.size());
  if (axis < 0) return;
  const auto along_axis = static_cast<std::size_t>(axis);
  bool fits = indices.size() == data.size() && indices == parts.shape(2);
  for (std::size_t d = 0; fits && d < data.size(); ++d)
    fits = d == along_axis || indices[d] <= data[d];
  if (!fits) {
    parts.fail(DiagKind::kShape,
               cat("indices of shape ", to_string(indices), " and updates of shape ",
                   to_string(parts.shape(2)), " do not fit data of shape ", to_string(data)));
    return;
  }
  if (keeps_data(parts)) return;
  if (!coordinates_in_range(parts, 1, {data[along_axis]})) return;
  const ValueId at = element_numbers(parts, data, indices, along_axis);
  const std::int64_t count = element_count(indices);
  const ValueId y =
      scattered(parts, parts.dtype(0), parts.reshape(parts.input(0), {element_count(data), 1}),
                parts.reshape(at, {count}), parts.reshape(parts.input(2), {count, 1}), reduction);
  parts.reshape(y, data);
}

constexpr Rule kScatterRules[] = {{"ScatterND", scatter_nd, 3, 1, 11},
                                  {"ScatterElements", scatter_elements, 3, 1, 11},
                                  {"Scatter", scatter_elements, 3, 1, 9}};
}  // namespace

std::span<const Rule> scatter_rules() { return kScatterRules; }

}  // namespace etch
