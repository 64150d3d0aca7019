// LRN by plain loops; see op.h.
#include <algorithm>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/lrn/op.h"
#include "compiler/ops/op.h"
#include "runtime/etch_normalize.h"

namespace etch {

std::vector<Tensor> lrn_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& p = params_of<Lrn>(node);
  Tensor y(DType::kF32, inputs[0]->shape());
  const auto x = inputs[0]->as<float>();
  for (std::int64_t n = 0; n < p.images; ++n) {
    for (std::int64_t c = 0; c < p.channels; ++c) {
      for (std::int64_t i = 0; i < p.plane; ++i) {
        const auto at = [&](std::int64_t channel) {
          return as_index((n * p.channels + channel) * p.plane + i);
        };
        float sum = 0;
        const std::int64_t last = std::min(c + p.after, p.channels - 1);
        for (std::int64_t k = std::max<std::int64_t>(c - p.before, 0); k <= last; ++k)
          sum += x[at(k)] * x[at(k)];
        y.as<float>()[at(c)] = x[at(c)] / rt::lrn_power(p.bias + p.factor * sum, p.beta);
      }
    }
  }
  return {y};
}

}  // namespace etch
