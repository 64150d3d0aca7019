// GlobalAveragePool and GlobalMaxPool by plain loops; see op.h.
#include <algorithm>
#include <numeric>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/global_pool/op.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> global_pool_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<GlobalPool>(node);
  Tensor y(DType::kF32, params.shape);
  const auto from = inputs[0]->as<float>();
  for (std::size_t i = 0; i < y.as<float>().size(); ++i) {
    const auto plane = from.subspan(i * as_index(params.plane), as_index(params.plane));
    const float mean =
        std::accumulate(plane.begin(), plane.end(), 0.0F) / static_cast<float>(params.plane);
    const bool average = params.kind == GlobalPool::Kind::kAverage;
    y.as<float>()[i] = average ? mean : *std::max_element(plane.begin(), plane.end());
  }
  return {y};
}

}  // namespace etch
