// ReduceMean, ReduceMax and ReduceMin by plain loops; see op.h.
#include "compiler/ops/op.h"
#include "compiler/ops/reduce_mean/op.h"

namespace etch {

namespace {
float combined(Reduction::Kind kind, float so_far, float next) {
  switch (kind) {
    case Reduction::Kind::kMean:
      return so_far + next;
    case Reduction::Kind::kMax:
      return so_far < next ? next : so_far;
    case Reduction::Kind::kMin:
      return next < so_far ? next : so_far;
  }
  ETCH_CHECK(false);
}
}  // namespace

std::vector<Tensor> reduce_mean_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Reduction>(node);
  const bool mean = params.kind == Reduction::Kind::kMean;
  Tensor y(DType::kF32, params.shape);
  const auto from = inputs[0]->as<float>();
  auto to = y.as<float>().begin();
  const auto count = static_cast<float>(element_count(params.reduced));
  for_each<1>(params.kept, {&params.kept_view}, [&](const std::array<std::int64_t, 1>& first) {
    float result = mean ? 0.0F : from[as_index(first[0])];
    for_each<1>(params.reduced, {&params.reduced_view}, [&](const std::array<std::int64_t, 1>& at) {
      result = combined(params.kind, result, from[as_index(first[0] + at[0])]);
    });
    *to++ = mean ? result / count : result;
  });
  return {y};
}

}  // namespace etch
