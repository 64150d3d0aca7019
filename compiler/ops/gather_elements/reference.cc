// GatherElements by plain loops; see op.h.
#include <algorithm>
#include <cstring>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/gather_elements/op.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> gather_elements_reference(const Node& node,
                                              std::span<const Tensor* const> inputs) {
  const auto& params = params_of<GatherElements>(node);
  const Tensor& x = *inputs[0];
  Tensor y(x.dtype(), params.shape);
  const auto bytes = as_index(bytes_of(x.dtype()));
  const std::vector<std::int64_t> from = dense_strides(x.shape());
  const std::vector<std::int64_t> to = dense_strides(params.shape);
  for (std::int64_t flat = 0; flat < y.size(); ++flat) {
    std::int64_t index = inputs[1]->integer(flat);
    if (index < 0) index += params.size;
    std::int64_t source = std::clamp<std::int64_t>(index, 0, params.size - 1) * from[params.axis];
    for (std::size_t d = 0; d < to.size(); ++d) {
      if (d != params.axis) source += flat / to[d] % params.shape[d] * from[d];
    }
    std::memcpy(y.mutable_bytes().data() + as_index(flat) * bytes,
                x.bytes().data() + as_index(source) * bytes, bytes);
  }
  return {y};
}

}  // namespace etch
