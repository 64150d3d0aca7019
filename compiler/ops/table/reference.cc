// Table by a plain loop; see op.h.
#include "compiler/ops/op.h"
#include "compiler/ops/table/op.h"

namespace etch {

std::vector<Tensor> table_reference(const Node&, std::span<const Tensor* const> inputs) {
  const Tensor& x = *inputs[0];
  const Tensor& table = *inputs[1];
  Tensor y(table.dtype(), x.shape());
  for (std::size_t i = 0; i < x.bytes().size(); ++i) {
    y.mutable_bytes()[i] = table.bytes()[std::to_integer<std::size_t>(x.bytes()[i])];
  }
  return {y};
}

}  // namespace etch
