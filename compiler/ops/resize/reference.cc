// Resize by plain loops; see op.h.
#include <algorithm>
#include <cstring>

#include "compiler/ir/geometry/antialias.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/resize/op.h"

namespace etch {

namespace {

// Calls visit(index) for every index of `shape` in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  Shape index(shape.size(), 0);
  for (std::int64_t flat = 0; flat < element_count(shape); ++flat) {
    visit(flat, index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

Tensor nearest(const Resize& params, const Tensor& x) {
  Tensor y(x.dtype(), params.shape);
  const auto bytes = as_index(bytes_of(x.dtype()));
  const std::vector<std::int64_t> dense = dense_strides(x.shape());
  for_each_index(params.shape, [&](std::int64_t flat, const Shape& index) {
    std::int64_t from = 0;
    bool outside = false;
    for (std::size_t d = 0; d < index.size(); ++d) {
      const std::int64_t at = nearest_sample(params, d, index[d]);
      outside = outside || at < 0;
      from += at * dense[d];
    }
    const std::byte* source =
        outside ? params.value.bytes().data() : x.bytes().data() + as_index(from) * bytes;
    std::memcpy(y.mutable_bytes().data() + as_index(flat) * bytes, source, bytes);
  });
  return y;
}

struct Corner {
  std::int64_t from = 0;
  float weight = 1.0F;
  std::int64_t parts = 1;
};

// The corners around an output position, innermost axis fastest; none when it is extrapolated.
std::vector<Corner> corners_of(const Resize& params, const Shape& index,
                               const std::vector<std::int64_t>& dense) {
  Corner start;
  std::vector<bool> is_linear(index.size(), false);
  for (const std::size_t axis : params.linear) is_linear[axis] = true;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (!is_linear[d]) start.from += index[d] * dense[d];
  }
  std::vector<Corner> corners{start};
  bool first = true;
  for (auto axis = params.linear.rbegin(); axis != params.linear.rend(); ++axis) {
    const LinearSample sample = linear_sample(params, *axis, index[*axis]);
    if (sample.outside) return {};
    std::vector<Corner> next;
    for (const bool high : {false, true}) {
      const float weight = high ? sample.high_weight : sample.low_weight;
      for (const Corner& corner : corners) {
        next.push_back({corner.from + (high ? sample.high : sample.low) * dense[*axis],
                        first ? weight : corner.weight * weight,
                        corner.parts * (high ? sample.high_parts : sample.low_parts)});
      }
    }
    corners = std::move(next);
    first = false;
  }
  return corners;
}

float sum_of(const std::vector<Corner>& corners, const Tensor& x) {
  float sum = 0.0F;
  bool first = true;
  for (const Corner& corner : corners) {
    const float element = x.dtype() == DType::kF32 ? x.as<float>()[as_index(corner.from)]
                                                   : static_cast<float>(x.integer(corner.from));
    const float product = corner.weight * element;
    sum = first ? product : sum + product;
    first = false;
  }
  return sum;
}

std::int64_t fixed_sum(const std::vector<Corner>& corners, const Tensor& x) {
  std::int64_t sum = 0;
  for (const Corner& corner : corners) sum += corner.parts * x.integer(corner.from);
  return sum / (std::int64_t{1} << 20);
}

Tensor linear(const Resize& params, const Tensor& x) {
  Tensor y(x.dtype(), params.shape);
  const std::vector<std::int64_t> dense = dense_strides(x.shape());
  for_each_index(params.shape, [&](std::int64_t flat, const Shape& index) {
    const std::vector<Corner> corners = corners_of(params, index, dense);
    const auto to = as_index(flat);
    if (corners.empty()) {
      const auto bytes = params.value.bytes();
      std::memcpy(y.mutable_bytes().data() + to * bytes.size(), bytes.data(), bytes.size());
    } else if (x.dtype() == DType::kF32) {
      y.as<float>()[to] = sum_of(corners, x);
    } else {
      const std::int64_t value = params.arithmetic == Resize::Arithmetic::kFixedPoint
                                     ? fixed_sum(corners, x)
                                     : static_cast<std::int64_t>(sum_of(corners, x));
      y.mutable_bytes()[to] = static_cast<std::byte>(value & 0xff);
    }
  });
  return y;
}

Tensor cubic(const Resize& params, const Tensor& x) {
  Tensor y(DType::kF32, params.shape);
  const std::vector<std::int64_t> dense = dense_strides(x.shape());
  const std::size_t row_axis = params.linear[0], column_axis = params.linear[1];
  for_each_index(params.shape, [&](std::int64_t flat, const Shape& index) {
    const CubicSample row = cubic_sample(params, row_axis, index[row_axis]);
    const CubicSample column = cubic_sample(params, column_axis, index[column_axis]);
    float& to = y.as<float>()[as_index(flat)];
    to = 0;
    if (row.outside || column.outside) {
      to = params.value.real(0);
      return;
    }
    std::int64_t start = 0;
    for (std::size_t d = 0; d < row_axis; ++d) start += index[d] * dense[d];
    for (std::size_t j = 0; j < 4; ++j) {
      float along = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        const std::int64_t from = start + row.at[j] * dense[row_axis] + column.at[i];
        const float weight = column.weight[i] / column.total;
        along += weight * x.as<float>()[as_index(from)];
      }
      to += along * row.weight[j] / row.total;
    }
  });
  return y;
}

// The weighed sum of the inputs `step` apart from x[from] on.
void set_filtered(Tensor& y, std::size_t to, const Tensor& x, std::int64_t from, std::int64_t step,
                  const FilterTaps& taps) {
  float sum = 0;
  std::int64_t parts = std::int64_t{1} << (kFilterBits - 1);
  for (const float weight : taps.weights) {
    if (x.dtype() == DType::kF32) {
      const float product = x.as<float>()[as_index(from)] * weight;
      sum += product;
    } else {
      parts += x.integer(from) * filter_parts(weight);
    }
    from += step;
  }
  if (x.dtype() == DType::kF32) {
    y.as<float>()[to] = sum;
  } else {
    y.mutable_bytes()[to] =
        static_cast<std::byte>(std::clamp<std::int64_t>(parts >> kFilterBits, 0, 255));
  }
}

Tensor filtered_along(const Resize& params, std::size_t axis, const Tensor& x) {
  Shape shape = x.shape();
  shape[axis] = params.axes[axis].out;
  Tensor y(x.dtype(), shape);
  const std::vector<std::int64_t> dense = dense_strides(x.shape());
  std::vector<FilterTaps> taps;
  for (std::int64_t i = 0; i < shape[axis]; ++i) taps.push_back(filter_taps(params, axis, i));
  for_each_index(shape, [&](std::int64_t flat, const Shape& index) {
    const FilterTaps& each = taps[as_index(index[axis])];
    std::int64_t from = each.first * dense[axis];
    for (std::size_t d = 0; d < index.size(); ++d) from += d == axis ? 0 : index[d] * dense[d];
    set_filtered(y, as_index(flat), x, from, dense[axis], each);
  });
  return y;
}

// From the last axis to the first; positions outside are put in at the end.
Tensor filtered(const Resize& params, const Tensor& x) {
  Tensor y = x;
  for (auto axis = params.linear.rbegin(); axis != params.linear.rend(); ++axis)
    y = filtered_along(params, *axis, y);
  if (!params.extrapolate) return y;
  const auto bytes = params.value.bytes();
  for_each_index(params.shape, [&](std::int64_t flat, const Shape& index) {
    bool outside = false;
    for (std::size_t d = 0; d < index.size(); ++d) {
      const bool moves = !params.axes[d].position.empty();
      outside = outside || (moves && filter_taps(params, d, index[d]).outside);
    }
    if (outside)
      std::memcpy(y.mutable_bytes().data() + as_index(flat) * bytes.size(), bytes.data(),
                  bytes.size());
  });
  return y;
}

}  // namespace

std::vector<Tensor> resize_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Resize>(node);
  if (params.mode == Resize::Mode::kCopy) return {*inputs[0]};
  if (params.antialias) return {filtered(params, *inputs[0])};
  if (params.mode == Resize::Mode::kCubic) return {cubic(params, *inputs[0])};
  const bool between = params.mode == Resize::Mode::kLinear;
  return {between ? linear(params, *inputs[0]) : nearest(params, *inputs[0])};
}

}  // namespace etch
