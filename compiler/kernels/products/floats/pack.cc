// See pack.h.
#include "compiler/kernels/products/floats/pack.h"

#include "compiler/base/check.h"
#include "compiler/kernels/products/floats/plan.h"
#include "runtime/etch_float_transposed_planes.h"

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

// The weights [channel][output channel][position] of one group that some phases take, as
// [position of the other axes, tap][channel][phase, output channel].
Tensor rows_of_phases(const rt::FloatConvShape& s, std::span<const float> weights,
                      const rt::Phases& p) {
  const rt::ConvAxis& a = s.axis[2];
  const std::int64_t others = std::int64_t{s.axis[0].kernel} * s.axis[1].kernel;
  const std::int64_t rows = std::int64_t{p.last - p.first} * s.out;
  Tensor out(DType::kF32, {others * p.taps * s.in * rows});
  auto to = out.as<float>().begin();
  for (std::int64_t i = 0; i < others * p.taps; ++i) {
    const std::int64_t before = i / p.taps * a.kernel + i % p.taps * a.stride + p.tap;
    for (std::int64_t c = 0; c < s.in; ++c) {
      for (std::int64_t row = 0; row < rows; ++row, ++to) {
        const std::int64_t tap = before + row / s.out;
        *to =
            weights[static_cast<std::size_t>((c * s.out + row % s.out) * others * a.kernel + tap)];
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

void narrow_panels(rt::PackShape& shape, bool constant, const IsaTraits& isa) {
  const std::int32_t most = constant ? rt::kNarrowPanel : rt::kPanel;
  if (isa.lanes == 8 && isa.assembly == Assembly::kNone && shape.panel == rt::kPanel &&
      shape.out > most)
    shape.panel = rt::kNarrowPanel;
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

Tensor panels_of_phases(const Tensor& weights, const rt::FloatConvShape& shape) {
  const std::size_t group = weights.as<float>().size() / static_cast<std::size_t>(shape.group);
  Tensor packed(DType::kF32, {weights.size()});
  float* to = packed.as<float>().data();
  for (std::size_t g = 0; g < static_cast<std::size_t>(shape.group); ++g) {
    for (std::int32_t r = 0; r < shape.axis[2].stride;) {
      const rt::Phases phases = rt::phases_from(shape.axis[2], r);
      const Tensor rows =
          rows_of_phases(shape, weights.as<float>().subspan(g * group, group), phases);
      const std::int64_t columns = std::int64_t{phases.last - phases.first} * shape.out;
      rt::PackShape panels = row_major_weights(rows.size() / columns, columns);
      panels.panel = shape.panel;
      to = rt::pack_group(panels, rows.as<float>().data(), to);
      r = phases.last;
    }
  }
  return packed;
}

Tensor repeated(const Tensor& tensor, std::int64_t times) {
  Tensor out(tensor.dtype(), {tensor.size() * times});
  const auto from = tensor.as<float>();
  for (std::size_t i = 0; i < out.as<float>().size(); ++i)
    out.as<float>()[i] = from[i % from.size()];
  return out;
}

}  // namespace etch
