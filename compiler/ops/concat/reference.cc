// Concat by plain loops; see op.h.
#include <cstring>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/concat/op.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> concat_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Concat>(node);
  Tensor y(inputs[0]->dtype(), params.shape);
  const auto axis = params.shape.begin() + params.axis;
  const std::int64_t outer = element_count(Shape(params.shape.begin(), axis));
  std::byte* to = y.mutable_bytes().data();
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const Tensor* input : inputs) {
      const std::size_t row_bytes = input->bytes().size() / as_index(outer);
      if (row_bytes == 0) continue;
      std::memcpy(to, input->bytes().data() + as_index(row) * row_bytes, row_bytes);
      to += row_bytes;
    }
  }
  return {y};
}

}  // namespace etch
