// Operators whose result follows from shapes and constants:
//   EyeLike  ones on the diagonal k of a matrix of the input's shape
#include <algorithm>
#include <iterator>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

// The element type with ONNX's number; nothing fits: false after a report.
bool type_numbered(Parts& parts, std::int64_t number, DType& out) {
  const auto found = dtype_from_onnx(number);
  constexpr DType kTypes[] = {DType::kF32, DType::kU8,  DType::kS8,  DType::kU16,
                              DType::kS16, DType::kS32, DType::kS64, DType::kBool};
  if (found && std::ranges::find(kTypes, *found) != std::end(kTypes)) {
    out = *found;
    return true;
  }
  parts.fail(DiagKind::kType, cat("elements of ONNX's type ", number, " cannot be compiled"));
  return false;
}

void eye_like(Parts& parts) {
  const auto number =
      parts.take<std::int64_t>("dtype", std::int64_t{onnx_number_of(parts.dtype(0))});
  const auto k = parts.take<std::int64_t>("k", 0);
  DType type = DType::kF32;
  const Shape& shape = parts.shape(0);
  if (!type_numbered(parts, number, type)) return;
  if (shape.size() != 2 || element_count(shape) > 1'000'000) {
    parts.fail(DiagKind::kShape, cat("must have two axes, has shape ", to_string(shape)));
    return;
  }
  Tensor ones(DType::kF32, shape);
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    if (k <= -shape[0] || k >= shape[1] || row + k < 0 || row + k >= shape[1]) continue;
    ones.as<float>()[static_cast<std::size_t>(row * shape[1] + row + k)] = 1.0F;
  }
  parts.cast(parts.constant(std::move(ones)), type);
}

constexpr Rule kConstantRules[] = {{"EyeLike", eye_like, 1, 1, 9}};
}  // namespace

std::span<const Rule> constant_rules() { return kConstantRules; }

}  // namespace etch
