// Pow by plain loops; see op.h.
#include "compiler/kernels/rows/function.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pow/op.h"

namespace etch {

float exponent_at(const Tensor& y, std::int64_t i) {
  return y.dtype() == DType::kF32 ? y.real(i) : static_cast<float>(y.integer(i));
}

std::vector<Tensor> pow_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Pow>(node);
  Tensor z(DType::kF32, params.shape);
  auto to = z.as<float>().begin();
  for_each<2>(params.shape, {&params.x, &params.y}, [&](const std::array<std::int64_t, 2>& at) {
    *to++ = evaluate(params.function, inputs[0]->real(at[0]), exponent_at(*inputs[1], at[1]), 0);
  });
  return {z};
}

}  // namespace etch
