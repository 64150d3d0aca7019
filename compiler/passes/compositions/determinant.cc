// Det: Gaussian elimination of float32 with the largest element of the column as the pivot, the
// first of equal ones. Column by column the determinant is multiplied by the pivot, and its sign
// turned where the pivot's row was not the first. A column of zeros gives 0.
#include <cstdint>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

constexpr std::int64_t kLargestMatrix = 32;  // each row adds a dozen parts

// a, of shape [batch, n, n], without its first column and the pivot's row, which is subtracted from
// the others; `product` is multiplied by the pivot.
ValueId eliminated(Parts& parts, ValueId a, std::int64_t batch, std::int64_t n, ValueId& product) {
  const ValueId column = parts.slice(a, 2, 0, 1);
  const ValueId at = parts.add("ArgMax", {parts.add("Abs", {column})}, {{"axis", std::int64_t{1}}});
  Ints starts = count_up(static_cast<std::size_t>(batch));
  for (std::int64_t& each : starts) each *= n;
  const ValueId number =
      parts.add("Add", {parts.reshape(at, {batch, 1}), parts.ints({batch, 1}, starts)});
  const ValueId pivots = parts.gather(parts.reshape(a, {batch * n, n}), number, 0);
  const ValueId pivot = parts.slice(pivots, 2, 0, 1);
  const ValueId is_first = parts.add("Equal", {at, parts.number(DType::kS64, 0)});
  const ValueId signed_pivot = parts.add("Where", {is_first, pivot, parts.add("Neg", {pivot})});
  product = product == kNoValue ? signed_pivot : parts.add("Mul", {product, signed_pivot});
  // The first row takes the pivot's place.
  const ValueId rows = parts.ints({n, 1}, count_up(static_cast<std::size_t>(n)));
  ValueId rest = parts.add("Where", {parts.add("Equal", {rows, at}), parts.slice(a, 1, 0, 1), a});
  rest = parts.slice(rest, 1, 1, n);
  const ValueId ratio = parts.add("Div", {parts.slice(rest, 2, 0, 1), pivot});
  const ValueId is_zero = parts.add("Equal", {pivot, parts.scalar(0)});
  const ValueId factor = parts.add("Where", {is_zero, parts.scalar(0), ratio});
  const ValueId shift = parts.add("Mul", {factor, parts.slice(pivots, 2, 1, n)});
  return parts.add("Sub", {parts.slice(rest, 2, 1, n), shift});
}

void determinant(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  const Shape shape = parts.shape(0);
  const std::int64_t n = shape.empty() ? 0 : shape.back();
  if (shape.size() < 2 || shape[shape.size() - 2] != n || element_count(shape) == 0 ||
      n > kLargestMatrix) {
    parts.fail(DiagKind::kShape, cat("X must be matrices of at most ", kLargestMatrix,
                                     " equal rows and columns, got ", to_string(shape)));
    return;
  }
  const Shape outer(shape.begin(), shape.end() - 2);
  const std::int64_t batch = element_count(outer);
  ValueId a = parts.reshape(parts.input(0), {batch, n, n});
  ValueId product = kNoValue;
  for (std::int64_t size = n; size > 1; --size) a = eliminated(parts, a, batch, size, product);
  parts.reshape(product == kNoValue ? a : parts.add("Mul", {product, a}), outer);
}

constexpr Rule kDeterminantRules[] = {{"Det", determinant, 1, 1, 11}};
}  // namespace

std::span<const Rule> determinant_rules() { return kDeterminantRules; }

}  // namespace etch
