// Arguments that many operators share; see arguments.h.
#include "compiler/ops/arguments.h"

#include <algorithm>

#include "compiler/base/text.h"

namespace etch {

namespace {
bool is_integer(DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kF64:
    case DType::kF16:
    case DType::kBF16:
    case DType::kBool:
      return false;
    default:
      return true;
  }
}

std::string range_text(std::int64_t rank, std::int64_t axis) {
  return cat("must be in [", -rank, ", ", rank - 1, "], got ", axis);
}
}  // namespace

std::optional<std::int64_t> normal_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

std::optional<std::int64_t> axis_attr(ResolveContext& context, const char* name,
                                      std::int64_t fallback, std::int64_t rank) {
  const std::int64_t axis = context.int_attr(name, fallback);
  const auto normal = normal_axis(axis, rank);
  if (!normal) context.attr_error(name, range_text(rank, axis));
  return normal;
}

std::optional<std::vector<std::int64_t>> constant_ints(ResolveContext& context, int i,
                                                       const char* role) {
  if (!is_integer(context.dtype(i))) {
    context.input_error(DiagKind::kType, i, role,
                        cat("must hold integers, got ", name_of(context.dtype(i))));
    return std::nullopt;
  }
  const Tensor* tensor = context.constant(i);
  if (tensor == nullptr) {
    context.needs_constant(i, role);
    return std::nullopt;
  }
  return tensor->integers();
}

std::optional<OptionalInts> ints_argument(ResolveContext& context, int i, const char* name,
                                          std::int64_t since_input) {
  if (context.opset() < since_input) {
    if (context.has_input(i)) {
      context.input_error(DiagKind::kGraph, i, name,
                          cat("is an attribute before operator set ", since_input));
      return std::nullopt;
    }
    return context.ints_attr(name);
  }
  if (!context.has_input(i)) return OptionalInts{};
  const auto values = constant_ints(context, i, name);
  if (!values) return std::nullopt;
  return OptionalInts{*values};
}

std::optional<std::vector<std::int64_t>> normal_axes(ResolveContext& context,
                                                     const std::vector<std::int64_t>& axes,
                                                     std::int64_t rank) {
  std::vector<std::int64_t> out;
  for (const std::int64_t axis : axes) {
    const auto normal = normal_axis(axis, rank);
    if (!normal) {
      context.error(DiagKind::kAttr, cat("axes: each ", range_text(rank, axis)));
      return std::nullopt;
    }
    out.push_back(*normal);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) {
    context.error(DiagKind::kAttr, "axes: must differ from each other");
    return std::nullopt;
  }
  return out;
}

bool check_dtype(ResolveContext& context, int i, const char* role,
                 std::initializer_list<DType> allowed) {
  const DType got = context.dtype(i);
  if (std::find(allowed.begin(), allowed.end(), got) != allowed.end()) return true;
  std::string names;
  for (const DType type : allowed) names += cat(names.empty() ? "" : ", ", name_of(type));
  context.input_error(DiagKind::kType, i, role, cat("must be ", names, ", got ", name_of(got)));
  return false;
}

bool check_same_dtype(ResolveContext& context, int n) {
  for (int i = 1; i < n; ++i) {
    if (context.dtype(i) == context.dtype(0)) continue;
    context.error(DiagKind::kType,
                  cat("inputs must have one element type, got ", name_of(context.dtype(0)), " and ",
                      name_of(context.dtype(i))));
    return false;
  }
  return true;
}

}  // namespace etch
