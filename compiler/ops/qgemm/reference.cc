// QGemm by its definition; see op.h.
#include "compiler/ops/qgemm/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

const Tensor* input_or_null(std::span<const Tensor* const> inputs, std::size_t i) {
  return i < inputs.size() ? inputs[i] : nullptr;
}

// The 32-bit sums, row-major [M, N].
std::vector<std::int32_t> accumulate(const GemmGeometry& g, std::span<const Tensor* const> inputs) {
  const std::vector<std::int32_t> a = widened(*inputs[0]);
  const std::vector<std::int32_t> b = widened(*inputs[3]);
  const int a_zero = zero_points_of(inputs[2])[0];
  const std::vector<int> b_zero = zero_points_of(inputs[5]);
  const Tensor* c = input_or_null(inputs, 6);
  std::vector<std::int32_t> out;
  for (std::int64_t m = 0; m < g.rows; ++m) {
    for (std::int64_t n = 0; n < g.cols; ++n) {
      std::int64_t sum = c == nullptr ? 0 : c->integer(static_cast<std::int64_t>(g.c_index(m, n)));
      for (std::int64_t k = 0; k < g.depth; ++k) {
        const int b_term = b[g.b_index(k, n)] - b_zero[as_index(n) % b_zero.size()];
        sum += std::int64_t{a[g.a_index(m, k)] - a_zero} * b_term;
      }
      out.push_back(wrap_to_int32(sum));
    }
  }
  return out;
}

}  // namespace

std::vector<Tensor> reference_qgemm(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QGemmParams>(node);
  const GemmGeometry& g = params.geometry;
  const Quantization qa = quantization_of(*inputs[1], inputs[2]);
  const Quantization qb = quantization_of(*inputs[4], inputs[5]);
  const std::vector<std::int32_t> sums = accumulate(g, inputs);
  const auto column = [&](std::size_t i) { return i % as_index(g.cols); };
  if (params.output == QGemmOutput::kFloat) {
    const std::vector<float> scale = qgemm_scale(params.alpha, qa, qb, nullptr);
    Tensor y(DType::kF32, {g.rows, g.cols});
    for (std::size_t i = 0; i < sums.size(); ++i) {
      y.as<float>()[i] = static_cast<float>(sums[i]) * scale[column(i) % scale.size()];
    }
    return {y};
  }
  const Quantization qy = quantization_of(*inputs[7], inputs[8]);
  const std::vector<float> scale = qgemm_scale(params.alpha, qa, qb, &qy);
  const DType type = inputs[8]->dtype();
  std::vector<std::int32_t> y(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    y[i] = params.limits.of(
        requantize(sums[i], scale[column(i) % scale.size()], qy.zero_point[0], type));
  }
  return {narrowed(type, {g.rows, g.cols}, y)};
}

}  // namespace etch
