// Strided views and broadcasting; see strided.h.
#include "compiler/ir/geometry/strided.h"

#include <algorithm>
#include <cstring>

#include "compiler/ir/op_def.h"

namespace etch {

std::vector<std::int64_t> dense_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t i = 0; i < rank; ++i) {  // counted from the last axis
    const std::int64_t size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (size_a != size_b && size_a != 1 && size_b != 1) return std::nullopt;
    out[rank - 1 - i] = size_a == 1 ? size_b : size_a;
  }
  return out;
}

StridedView broadcast_view(const Shape& from, const Shape& to) {
  const std::vector<std::int64_t> dense = dense_strides(from);
  StridedView view{0, std::vector<std::int64_t>(to.size(), 0)};
  const std::size_t leading = to.size() - from.size();
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] != 1) view.strides[leading + axis] = dense[axis];
  }
  return view;
}

std::vector<AxisRange> ranges_of(const StridedView& view, const Shape& from) {
  const std::vector<std::int64_t> dense = dense_strides(from);
  std::vector<AxisRange> ranges;
  std::int64_t offset = view.offset;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const std::int64_t start = dense[axis] == 0 ? 0 : offset / dense[axis];
    offset -= start * dense[axis];
    ranges.push_back({start, dense[axis] == 0 ? 1 : view.strides[axis] / dense[axis]});
  }
  return ranges;
}

Tensor copy_of(const Tensor& x, const Shape& shape, const StridedView& view) {
  Tensor y(x.dtype(), shape);
  const auto bytes = static_cast<std::size_t>(bytes_of(x.dtype()));
  std::byte* to = y.mutable_bytes().data();
  const std::byte* from = x.bytes().data();
  for_each<1>(shape, {&view}, [&](const std::array<std::int64_t, 1>& at) {
    std::memcpy(to, from + as_index(at[0]) * bytes, bytes);
    to += bytes;
  });
  return y;
}

std::vector<Tensor> strided_copy(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<StridedCopy>(node);
  return {copy_of(*inputs[0], params.shape, params.view)};
}

std::vector<Tensor> relabel(const Node& node, std::span<const Tensor* const> inputs) {
  return {inputs[0]->reshaped(params_of<Relabel>(node).shape)};
}

}  // namespace etch
