// Tensors seen through strides, and broadcasting: how operators that move or pair elements address
// their inputs. Transpose, Expand, Slice and Split are nothing but a StridedView of their input.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/tensor.h"

namespace etch {

struct Node;

// Element (i0, i1, ...) of the view is element offset + i0 * strides[0] + i1 * strides[1] + ... of
// the tensor. Strides count elements; they are 0 along broadcast axes and may be negative.
struct StridedView {
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;
};

// The resolved struct of operators whose output is a view of input 0.
struct StridedCopy {
  Shape shape;  // of the output
  StridedView view;
};

// The resolved struct of operators that keep the elements and their order: only the shape changes.
struct Relabel {
  Shape shape;  // of the output
};

inline std::size_t as_index(std::int64_t i) { return static_cast<std::size_t>(i); }
inline std::int64_t rank_of(const Shape& shape) { return static_cast<std::int64_t>(shape.size()); }

// Row-major strides of a dense tensor.
std::vector<std::int64_t> dense_strides(const Shape& shape);

// The shape of a numpy broadcast, or nothing when the shapes do not fit.
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);
// A tensor of shape `from` seen as the broadcast shape `to`.
StridedView broadcast_view(const Shape& from, const Shape& to);

// Which element of each axis a view begins with and how far it steps, for views that keep the axes
// of the tensor in their order (Slice, Split).
struct AxisRange {
  std::int64_t start = 0, step = 1;
};
std::vector<AxisRange> ranges_of(const StridedView& view, const Shape& from);

// Calls visit(offsets) for each index of `shape` in row-major order; offsets[k] is the element that
// the index has in views[k].
template <std::size_t N, class Visit>
void for_each(const Shape& shape, const std::array<const StridedView*, N>& views, Visit visit) {
  std::array<std::int64_t, N> offsets{};
  for (std::size_t k = 0; k < N; ++k) offsets[k] = views[k]->offset;
  Shape index(shape.size(), 0);
  const std::int64_t count = element_count(shape);
  for (std::int64_t flat = 0; flat < count; ++flat) {
    visit(offsets);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      for (std::size_t k = 0; k < N; ++k) offsets[k] += views[k]->strides[axis];
      if (++index[axis] < shape[axis]) break;
      for (std::size_t k = 0; k < N; ++k) offsets[k] -= shape[axis] * views[k]->strides[axis];
      index[axis] = 0;
    }
  }
}

// The elements of `view` as a dense tensor of shape `shape`.
Tensor copy_of(const Tensor& x, const Shape& shape, const StridedView& view);

// OpDef::reference of operators with StridedCopy, and of those with Relabel.
std::vector<Tensor> strided_copy(const Node& node, std::span<const Tensor* const> inputs);
std::vector<Tensor> relabel(const Node& node, std::span<const Tensor* const> inputs);

}  // namespace etch
