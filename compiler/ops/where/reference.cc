// Where by plain loops; see op.h.
#include <cstring>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/where/op.h"

namespace etch {

std::vector<Tensor> where_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const Shape& shape = params_of<Where>(node).shape;
  const StridedView views[] = {broadcast_view(inputs[0]->shape(), shape),
                               broadcast_view(inputs[1]->shape(), shape),
                               broadcast_view(inputs[2]->shape(), shape)};
  Tensor y(inputs[1]->dtype(), shape);
  const auto bytes = as_index(bytes_of(y.dtype()));
  std::byte* to = y.mutable_bytes().data();
  for_each<3>(shape, {&views[0], &views[1], &views[2]}, [&](const std::array<std::int64_t, 3>& at) {
    const std::size_t from = inputs[0]->integer(at[0]) != 0 ? 1 : 2;
    std::memcpy(to, inputs[from]->bytes().data() + as_index(at[from]) * bytes, bytes);
    to += bytes;
  });
  return {y};
}

}  // namespace etch
