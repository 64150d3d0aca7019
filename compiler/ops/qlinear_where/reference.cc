// QLinearWhere by plain loops; see op.h.
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_where/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::int32_t requantized(std::int32_t q, const ScalarQuantization& from,
                         const QLinearWhere& where) {
  return from == where.z ? q : quantized(dequantized(q, from), where.z, where.dtype);
}

std::vector<Tensor> qlinear_where_reference(const Node& node,
                                            std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QLinearWhere>(node);
  const auto condition = inputs[0]->as<std::uint8_t>();
  const std::vector<std::int32_t> x = widened(*inputs[1]);
  const std::vector<std::int32_t> y = widened(*inputs[4]);
  std::vector<std::int32_t> z;
  for_each<3>(params.shape, {&params.condition_view, &params.x_view, &params.y_view},
              [&](const std::array<std::int64_t, 3>& at) {
                z.push_back(condition[as_index(at[0])] != 0
                                ? requantized(x[as_index(at[1])], params.x, params)
                                : requantized(y[as_index(at[2])], params.y, params));
              });
  return {narrowed(params.dtype, params.shape, z)};
}

}  // namespace etch
