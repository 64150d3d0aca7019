// MaxPool by plain loops; see op.h.
#include <algorithm>
#include <limits>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/max_pool/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pool_geometry/walk.h"

namespace etch {

namespace {
template <class T>
Tensor compute(const PoolGeometry& geometry, const Tensor& x) {
  Tensor y(x.dtype(), geometry.output_shape());
  for_each_window(geometry, [&](const PoolWindow& window) {
    T most = std::numeric_limits<T>::lowest();
    for (const std::int64_t tap : window.taps) most = std::max(most, x.as<T>()[as_index(tap)]);
    y.as<T>()[as_index(window.y)] = most;
  });
  return y;
}
}  // namespace

std::vector<Tensor> max_pool_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const PoolGeometry& geometry = params_of<MaxPool>(node).geometry;
  switch (inputs[0]->dtype()) {
    case DType::kF32:
      return {compute<float>(geometry, *inputs[0])};
    case DType::kS8:
      return {compute<std::int8_t>(geometry, *inputs[0])};
    case DType::kS16:
      return {compute<std::int16_t>(geometry, *inputs[0])};
    case DType::kU16:
      return {compute<std::uint16_t>(geometry, *inputs[0])};
    case DType::kU8:
      return {compute<std::uint8_t>(geometry, *inputs[0])};
    default:
      ETCH_CHECK(false);
  }
}

}  // namespace etch
