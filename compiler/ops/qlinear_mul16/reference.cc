// QLinearMul16 by its definition; see op.h.
#include <algorithm>
#include <array>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/qlinear_mul16/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_qlinear_mul16(const Node& node,
                                            std::span<const Tensor* const> inputs) {
  const auto& p = params_of<QLinearMul16>(node);
  const std::vector<std::int32_t> a = widened(*inputs[0]), b = widened(*inputs[5]);
  const StridedView a_view = broadcast_view(inputs[0]->shape(), p.shape);
  const StridedView b_view = broadcast_view(inputs[5]->shape(), p.shape);
  const std::array<const StridedView*, 2> views{&a_view, &b_view};
  const WideScale scale = p.scale();
  std::vector<std::int32_t> y;
  for_each(p.shape, views, [&](const std::array<std::int64_t, 2>& at) {
    const std::int64_t first = a[as_index(at[0])] - p.a.zero_point;
    const std::int64_t second = b[as_index(at[1])] - p.b.zero_point;
    const std::int64_t q = scaled_sum(first * second, scale, 0) + p.y.zero_point;
    y.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(q, p.low, p.high)));
  });
  return {narrowed(p.dtype, p.shape, y)};
}

}  // namespace etch
