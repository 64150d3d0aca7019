// Pad by plain loops; see op.h.
#include <cstring>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pad/op.h"

namespace etch {

std::vector<Tensor> pad_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Pad>(node);
  const Tensor& x = *inputs[0];
  Tensor y(x.dtype(), params.shape);
  const auto bytes = as_index(bytes_of(x.dtype()));
  const std::vector<std::int64_t> dense = dense_strides(x.shape());
  Shape index(params.shape.size(), 0);
  for (std::int64_t flat = 0; flat < y.size(); ++flat) {
    std::int64_t from = 0;
    bool inside = true;
    for (std::size_t d = 0; d < index.size(); ++d) {
      const std::int64_t at = source_of(params.axes[d], params.mode, index[d]);
      inside = inside && at >= 0;
      from += at * dense[d];
    }
    const std::byte* source =
        inside ? x.bytes().data() + as_index(from) * bytes : params.value.bytes().data();
    std::memcpy(y.mutable_bytes().data() + as_index(flat) * bytes, source, bytes);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < params.shape[d]) break;
      index[d] = 0;
    }
  }
  return {y};
}

}  // namespace etch
