// Gather by plain loops; see op.h.
#include <algorithm>
#include <cstring>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/gather/op.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> gather_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Gather>(node);
  Tensor y(inputs[0]->dtype(), params.shape);
  if (y.size() == 0) return {y};
  const auto slice_bytes = as_index(params.inner * bytes_of(y.dtype()));
  const std::vector<std::int64_t> indices = inputs[1]->integers();
  std::byte* to = y.mutable_bytes().data();
  for (std::int64_t outer = 0; outer < params.outer; ++outer) {
    for (std::int64_t index : indices) {
      if (index < 0) index += params.size;
      index = std::clamp<std::int64_t>(index, 0, params.size - 1);
      const std::size_t slice = as_index(outer * params.size + index);
      std::memcpy(to, inputs[0]->bytes().data() + slice * slice_bytes, slice_bytes);
      to += slice_bytes;
    }
  }
  return {y};
}

}  // namespace etch
