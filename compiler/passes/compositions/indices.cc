// See indices.h.
#include "compiler/passes/compositions/indices.h"

#include "compiler/ir/op_def.h"

namespace etch {

bool coordinates_in_range(Parts& parts, std::size_t input, const Ints& sizes) {
  const Tensor* tensor = parts.constant(input);
  if (tensor == nullptr) return true;
  for (std::int64_t i = 0; i < tensor->size(); ++i) {
    const std::int64_t size = sizes[static_cast<std::size_t>(i) % sizes.size()];
    const std::int64_t index = tensor->integer(i);
    if (index >= -size && index < size) continue;
    parts.fail(DiagKind::kShape, cat("input ", input, " (indices): must be in [", -size, ", ",
                                     size - 1, "], got ", index));
    return false;
  }
  return true;
}

ValueId wrapped(Parts& parts, ValueId x, const Ints& sizes) {
  Ints last = sizes;
  for (std::int64_t& each : last) --each;
  const ValueId zero = parts.number(DType::kS64, 0);
  const ValueId from_end = parts.add("Add", {x, parts.ints(sizes)});
  const ValueId counted = parts.add("Where", {parts.add("Less", {x, zero}), from_end, x});
  return parts.add("Min", {parts.add("Max", {counted, zero}), parts.ints(last)});
}

ValueId row_numbers(Parts& parts, std::size_t i, const Ints& sizes, std::size_t batch) {
  const Shape& shape = parts.shape(i);
  Ints strides(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  const Shape lists(shape.begin(), shape.end() - 1);
  const auto last = static_cast<std::int64_t>(lists.size());
  ValueId at = wrapped(parts, parts.input(i), sizes);
  if (sizes.size() == 1) {
    at = parts.reshape(at, lists);
  } else {
    const ValueId terms = parts.add("Mul", {at, parts.ints(strides)});
    at = parts.reduce("ReduceSum", terms, {last}, false);
  }
  std::int64_t stride = strides[0] * sizes[0];
  for (std::size_t d = batch; d-- > 0;) {
    Ints starts;
    for (std::int64_t b = 0; b < lists[d]; ++b) starts.push_back(b * stride);
    at = parts.add("Add", {at, parts.ints(along(lists.size(), d, lists[d]), starts)});
    stride *= lists[d];
  }
  return at;
}

ValueId scattered(Parts& parts, DType type, ValueId data, ValueId at, ValueId updates,
                  const std::string& reduction) {
  const bool narrow = bytes_of(type) < 4 && reduction != "none";
  if (narrow) {
    data = parts.cast(data, DType::kS32);
    updates = parts.cast(updates, DType::kS32);
  }
  const ValueId y =
      parts.add("ScatterRows", {data, at, updates}, {{"reduction", reduction}}, "org.etch");
  return narrow ? parts.cast(y, type) : y;
}

}  // namespace etch
