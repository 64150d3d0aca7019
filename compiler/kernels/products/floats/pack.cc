// See pack.h.
#include "compiler/kernels/products/floats/pack.h"

#include "compiler/base/check.h"
#include "compiler/kernels/products/floats/plan.h"

namespace etch {
namespace {

// One matrix [depth, cols].
rt::PackShape row_major_weights(std::int64_t depth, std::int64_t cols) {
  return {1, 1, as_size(depth), as_size(cols), rt::kPanel, 0, 0, cols, 1};
}

// [channel][output channel][position] -> [outer position][channel][inner position][output channel]
Tensor columns_of_taps(const ConvGeometry& g, const Tensor& weights, std::int64_t inner) {
  const std::int64_t taps = element_count(weights.shape()) / (g.in_channels * g.out_channels);
  const auto from = weights.as<float>();
  Tensor out(DType::kF32, {weights.size()});
  auto to = out.as<float>().begin();
  for (std::int64_t outer = 0; outer < taps / inner; ++outer) {
    for (std::int64_t c = 0; c < g.in_channels; ++c) {
      for (std::int64_t j = 0; j < inner; ++j) {
        for (std::int64_t m = 0; m < g.out_channels; ++m, ++to) {
          *to = from[static_cast<std::size_t>((c * g.out_channels + m) * taps + outer * inner + j)];
        }
      }
    }
  }
  return out;
}

}  // namespace

rt::PackShape pack_shape(const ConvGeometry& g, bool depthwise) {
  std::int64_t taps = 1;
  for (const ConvAxis& axis : g.axes) taps *= axis.kernel;
  const std::int64_t in = g.in_per_group();
  const std::int64_t out = g.out_per_group();
  rt::PackShape shape{};
  shape.taps = as_size(taps);
  shape.tap_step = 1;
  if (depthwise) {
    shape.group = shape.in = 1;
    shape.out = shape.panel = as_size(g.group);
    shape.out_step = taps;
    return shape;
  }
  const bool transposed = g.direction == ConvDirection::kTransposed;
  shape.group = as_size(g.group);
  shape.in = as_size(in);
  shape.out = as_size(out);
  shape.panel = rt::kPanel;
  shape.group_step = in * out * taps;
  shape.in_step = transposed ? out * taps : taps;
  shape.out_step = transposed ? taps : in * taps;
  return shape;
}

rt::PackShape pack_shape(const ConvGeometry& g, const FloatProductPlan& planes) {
  rt::PackShape shape = pack_shape(g, false);
  shape.panel = planes.kind == FloatProductKind::kPlanes ? planes.shape.panel : 1;
  return shape;
}

rt::PackShape pack_shape(const MatMulGeometry& g) {
  rt::PackShape shape = row_major_weights(g.depth, g.cols);
  shape.group = as_size(element_count(g.b_batch));
  shape.group_step = g.depth * g.cols;
  return shape;
}

rt::PackShape pack_shape(const GemmGeometry& g) {
  rt::PackShape shape = row_major_weights(g.depth, g.cols);
  if (g.transposed_b) {
    shape.in_step = 1;
    shape.out_step = g.depth;
  }
  return shape;
}

void leave_rows(rt::PackShape& shape, std::int64_t rows) {
  constexpr std::int64_t kFew = 12;  // two tiles
  if (rows <= kFew && shape.out > shape.panel && shape.out_step == 1) shape.panel = shape.out;
}

bool is_in_panels(const rt::PackShape& shape) {
  return shape.taps == 1 && shape.out <= shape.panel && shape.out_step == 1 &&
         shape.in_step == shape.out &&
         (shape.group == 1 || shape.group_step == std::int64_t{shape.in} * shape.out);
}

Tensor in_panels(const Tensor& weights, const rt::PackShape& shape) {
  Tensor packed(DType::kF32, {weights.size()});
  rt::pack_panels(shape, weights.as<float>().data(), packed.as<float>().data());
  return packed;
}

Tensor panels_of_taps(const ConvGeometry& g, const Tensor& weights, std::int64_t inner) {
  const Tensor columns = columns_of_taps(g, weights, inner);
  rt::PackShape shape = row_major_weights(g.in_channels, inner * g.out_channels);
  shape.group_step = g.in_channels * shape.out;
  shape.group = as_size(columns.size() / shape.group_step);
  return in_panels(columns, shape);
}

Tensor repeated(const Tensor& tensor, std::int64_t times) {
  Tensor out(tensor.dtype(), {tensor.size() * times});
  const auto from = tensor.as<float>();
  for (std::size_t i = 0; i < out.as<float>().size(); ++i)
    out.as<float>()[i] = from[i % from.size()];
  return out;
}

}  // namespace etch
