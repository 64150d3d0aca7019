// See plan.h.
#include "compiler/kernels/products/floats/plan.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/kernels/products/general.h"
#include "compiler/lower/arguments.h"
#include "runtime/etch_float_depthwise_planes.h"
#include "runtime/etch_float_planes.h"
#include "runtime/etch_float_transposed_planes.h"

namespace etch {
namespace {

// One product of one row and one column; tiles run along the inner axis.
FloatProductPlan least_plan() {
  FloatProductPlan plan;
  for (rt::ConvAxis& axis : plan.shape.axis) axis = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  plan.shape.batch = plan.shape.group = 1;
  plan.shape.along = 2;
  return plan;
}

// Axes without windows that continue each other become one, so that rows of tiles are long.
void merge_axes(rt::FloatConvShape& shape) {
  rt::ConvAxis& last = shape.axis[2];
  for (int a = 1; a >= 0; --a) {
    const rt::ConvAxis& outer = shape.axis[a];
    const bool follows =
        outer.x_step == last.out * last.x_step && outer.y_step == last.out * last.y_step;
    if (outer.out != 1 && !follows) return;
    last.in = last.out = last.out * outer.out;
    shape.axis[a] = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  }
}

// Tiles run along the inner axis unless most of its positions see the border: that of a spectrogram
// may have five.
int axis_of_tiles(const rt::FloatConvShape& shape) {
  const auto inside = [&](int a) {
    const rt::Interior interior = rt::interior_of(shape.axis[a], shape.transposed);
    return interior.last - interior.first;
  };
  constexpr int kTile = 6;
  return inside(2) < kTile && inside(1) > inside(2) ? 1 : 2;
}

}  // namespace

bool is_depthwise(const ConvGeometry& g) {
  return g.group > 1 && g.in_per_group() == 1 && g.out_per_group() == 1;
}

bool is_pointwise(const ConvGeometry& g) {
  return std::all_of(g.axes.begin(), g.axes.end(), [](const ConvAxis& a) {
    return a.kernel == 1 && a.stride == 1 && a.pad_begin == 0 && a.in == a.out;
  });
}

FloatProductPlan plan_float_conv(const ConvGeometry& g, bool depthwise, const View& x,
                                 const View& y) {
  FloatProductPlan plan = least_plan();
  if (depthwise) plan.kind = FloatProductKind::kDepthwise;
  rt::FloatConvShape& shape = plan.shape;
  shape.transposed = g.direction == ConvDirection::kTransposed;
  shape.batch = as_size(g.batch);
  shape.group = as_size(g.group);
  shape.in = as_size(g.in_per_group());
  shape.out = as_size(g.out_per_group());
  shape.x_image = steps_of(x)[0];
  shape.x_channel = steps_of(x)[1];
  shape.y_image = steps_of(y)[0];
  shape.y_channel = steps_of(y)[1];
  set_runtime_axes(shape.axis, g.axes, x, y);
  if (is_pointwise(g)) merge_axes(shape);
  shape.along = axis_of_tiles(shape);
  ETCH_CHECK(!depthwise || (shape.x_channel == 1 && shape.y_channel == 1));
  return plan;
}

bool has_images(const rt::FloatConvShape& shape) {
  const rt::ConvAxis& axis = shape.axis[0];
  return axis.in == 1 && axis.out == 1 && axis.kernel == 1 && axis.pad == 0;
}

void merge_taps(rt::FloatConvShape& shape) {
  rt::ConvAxis& last = shape.axis[2];
  const std::int64_t reach =
      std::int64_t{last.out - 1} * last.stride + std::int64_t{last.kernel - 1} * last.dilation;
  if (shape.transposed || shape.group != 1 || shape.x_channel != 1 || last.x_step != shape.in ||
      last.pad != 0 || last.dilation != 1 || reach >= last.in)
    return;
  shape.in *= last.kernel;
  last.in = (last.out - 1) * last.stride + 1;
  last.kernel = 1;
  shape.along = axis_of_tiles(shape);
}

// ---- channels as planes ----

namespace {

// The share of the lanes that n elements fill of the vectors that they take.
double filled(std::int64_t n, int lanes) {
  const std::int64_t vectors = (n + lanes - 1) / lanes;
  return static_cast<double>(n) / static_cast<double>(vectors * lanes);
}

std::int64_t elements_of(const rt::FloatConvShape& s, bool of_y) {
  std::int64_t n = std::int64_t{s.batch} * s.group * (of_y ? s.out : s.in);
  for (const rt::ConvAxis& axis : s.axis) n *= of_y ? axis.out : axis.in;
  return n;
}

// Cycles, estimated: a multiplication and a sum of one vector take one; what it takes to move an
// element is measured (AMD EPYC, AVX-512).
constexpr double kTurned = 0.56, kCopied = 0.15, kPicked = 1, kJoined = 0.7;  // per element

bool planes_are_faster(const rt::FloatConvShape& s, int lanes) {
  const double vectors = static_cast<double>(elements_of(s, true)) * s.axis[0].kernel *
                         s.axis[1].kernel * s.axis[2].kernel * s.in / lanes;
  const auto x = static_cast<double>(elements_of(s, false));
  const auto y = static_cast<double>(elements_of(s, true));
  const rt::ConvAxis& a = s.axis[2];
  const double few = a.out <= lanes ? 0.7 : 1;  // sums wait for each other
  const rt::Interior inside = rt::interior_of(a, false);
  const double border = 1 - static_cast<double>(inside.last - inside.first) / a.out;
  // So do those of pixels at the border, which are computed one by one.
  const double alone = 1 + border * (s.out > 2 * lanes ? 0.3 : (s.out > lanes ? 1 : 3));
  const double copies = a.stride > 1 ? kPicked : (a.kernel > 1 ? kCopied : 0);
  return vectors / (few * filled(a.out, lanes)) + copies * x <
         alone * vectors / filled(s.out, lanes) + kTurned * (x + y);
}

// Of a transposed convolution; `turned`: x has to be turned for planes, not for columns. y has one
// channel or would be turned for columns, of which a matrix has `columns`.
bool transposed_planes_are_faster(const rt::FloatConvShape& s, int lanes, std::int64_t columns,
                                  bool turned) {
  const auto x = static_cast<double>(elements_of(s, false));
  const auto y = static_cast<double>(elements_of(s, true));
  const double vectors = x * s.out * s.axis[0].kernel * s.axis[1].kernel * s.axis[2].kernel / lanes;
  const rt::ConvAxis& a = s.axis[2];
  const std::int32_t line = rt::positions_of_phase(a);
  const double few = line <= lanes ? 0.7 : 1;
  const double joined = a.stride > 1 ? kJoined * y : 0;
  const double turning = kTurned * ((turned ? 0 : x) + (s.out > 1 ? y : 0));
  return vectors / (few * filled(line, lanes)) + kCopied * x + joined + (turned ? kTurned * x : 0) <
         vectors / filled(columns, lanes) + turning;
}

// Output channels side by side, such that tiles (plane_rows()) fit. More channels share a vector of
// x, which is longer to load than a weight.
std::int32_t channels_of_panel(const rt::FloatConvShape& s, int lanes) {
  if (lanes < 8) return s.out % 4 == 0 || s.out < 6 ? 4 : 6;
  if (lanes >= 16 && s.axis[2].out <= 2 * lanes && s.out % 8 == 0) return 8;
  return s.out < 6 || s.out == 8 ? 4 : 6;
}

}  // namespace

std::optional<FloatProductPlan> plan_planes(const ConvGeometry& g, const View& x, const View& y,
                                            int lanes) {
  if (g.direction != ConvDirection::kForward) return std::nullopt;
  FloatProductPlan plan = plan_float_conv(g, false, x, y);
  rt::FloatConvShape& s = plan.shape;
  s.along = 2;
  if (s.axis[2].x_step != 1 || s.axis[2].y_step != 1) return std::nullopt;
  const rt::ConvAxis& lines = s.axis[1];
  if (is_depthwise(g) && has_images(s) && lines.stride == 1 && s.axis[2].stride == 1) {
    plan.kind = FloatProductKind::kDepthwisePlanes;
    return plan;
  }
  if (is_depthwise(g) || !planes_are_faster(s, lanes)) return std::nullopt;
  plan.kind = FloatProductKind::kPlanes;
  s.panel = channels_of_panel(s, lanes);
  return plan;
}

std::int64_t floats_of_lines(const FloatProductPlan& plan) {
  if (plan.kind == FloatProductKind::kTransposedPlanes) return rt::floats_of_phases(plan.shape);
  return plan.kind == FloatProductKind::kPlanes ? rt::floats_of_blocks(plan.shape)
                                                : rt::padded_plane(plan.shape).floats;
}

// ---- transposed convolutions whose taps do not meet ----

bool taps_stay_apart(const ConvGeometry& g) {
  return g.direction == ConvDirection::kTransposed && g.group == 1 &&
         std::all_of(g.axes.begin(), g.axes.end(), [](const ConvAxis& a) {
           return a.kernel == a.stride && a.dilation == 1 && a.pad_begin == 0 &&
                  a.out == a.in * a.stride;
         });
}

std::int64_t adjacent_taps(const ConvGeometry& g, const View& y) {
  const std::vector<std::int64_t> steps = steps_of(y);
  return g.out_channels == 1 || steps.back() == g.out_channels * steps[1] ? g.axes.back().kernel
                                                                          : 1;
}

std::optional<FloatProductPlan> plan_transposed_planes(const ConvGeometry& g, const View& x,
                                                       const View& y, int lanes, bool turned) {
  if (g.direction != ConvDirection::kTransposed || is_depthwise(g)) return std::nullopt;
  FloatProductPlan plan = plan_float_conv(g, false, x, y);
  rt::FloatConvShape& s = plan.shape;
  s.along = 2;
  const rt::ConvAxis& a = s.axis[2];
  const bool apart = a.stride == 1 || a.dilation == 1;
  const std::int64_t columns = taps_stay_apart(g) ? adjacent_taps(g, y) * s.out : s.out;
  if (a.x_step != 1 || a.y_step != 1 || !apart ||
      !transposed_planes_are_faster(s, lanes, columns, turned))
    return std::nullopt;
  plan.kind = FloatProductKind::kTransposedPlanes;
  s.panel = s.out == 1 && a.stride < 6 ? 4 : channels_of_panel(s, lanes);
  return plan;
}

// x and y are seen as [N, C, in...].
FloatProductPlan plan_columns_of_taps(const ConvGeometry& g, const View& x, const View& y,
                                      std::int64_t inner) {
  FloatProductPlan plan = least_plan();
  rt::FloatConvShape& shape = plan.shape;
  set_runtime_axes(shape.axis, g.axes, x, y);
  shape.batch = as_size(g.batch);
  shape.in = as_size(g.in_channels);
  shape.out = as_size(inner * g.out_channels);
  shape.x_image = steps_of(x)[0];
  shape.x_channel = steps_of(x)[1];
  shape.y_image = steps_of(y)[0];
  shape.y_channel = g.out_channels == 1 ? shape.axis[2].y_step : steps_of(y)[1];
  std::int64_t w_step = g.in_channels * shape.out;
  for (int a = 2; a >= 0; --a) {
    rt::ConvAxis& axis = shape.axis[a];
    if (axis.kernel > 1 && !(a == 2 && inner > 1)) {
      plan.matrices.axes.insert(plan.matrices.axes.begin(),
                                {axis.kernel, {0, w_step, axis.y_step, 0}});
      w_step *= axis.kernel;
    }
    axis = {axis.in, 1, axis.in, 1, 1, 0, axis.x_step, 0, axis.stride * axis.y_step};
  }
  return plan;
}

// ---- matrices ----

namespace {

struct MatrixSteps {
  std::int64_t a_row = 0, a_depth = 0, y_row = 0, y_col = 0;
  std::vector<std::int64_t> y_batch;  // along the dimensions of the batch
};

MatrixSteps matrix_steps(const View& a, RightHandSide b, const View& y) {
  MatrixSteps out;
  const std::vector<std::int64_t> a_steps = steps_of(a);
  out.y_batch = steps_of(y);
  out.a_depth = a_steps.back();
  if (b == RightHandSide::kMatrix) {
    out.y_col = out.y_batch.back();
    out.y_batch.pop_back();
  }
  if (a.rank() > 1) {
    out.a_row = a_steps[a_steps.size() - 2];
    out.y_row = out.y_batch.back();
    out.y_batch.pop_back();
  }
  return out;
}

void set_matrices(FloatProductPlan& plan, std::int64_t rows, std::int64_t depth, std::int64_t cols,
                  const MatrixSteps& steps) {
  plan.shape.in = as_size(depth);
  plan.shape.out = as_size(cols);
  plan.shape.x_channel = steps.a_depth;
  plan.shape.y_channel = steps.y_col;
  plan.shape.axis[2].in = plan.shape.axis[2].out = as_size(rows);
  plan.shape.axis[2].x_step = steps.a_row;
  plan.shape.axis[2].y_step = steps.y_row;
}

// Steps of an operand's matrices along the dimensions of the broadcast batch, in elements.
std::vector<std::int64_t> batch_steps(const Shape& own, const std::vector<std::int64_t>& steps,
                                      std::size_t batch_rank) {
  std::vector<std::int64_t> out(batch_rank, 0);
  for (std::size_t d = 0; d + 2 < own.size(); ++d) {
    if (own[d] != 1) out[batch_rank - (own.size() - 2) + d] = steps[d];
  }
  return out;
}

// The matrices of the right operand of `g`, dense and one after the other, along the batch.
std::vector<std::int64_t> steps_of_right(const MatMulGeometry& g) {
  std::vector<std::int64_t> steps = broadcast_view(g.b_batch, g.batch).strides;
  for (std::int64_t& each : steps) each *= g.depth * g.cols;
  return steps;
}

struct Batches {
  std::vector<RowAxis> axes;
  std::int64_t rows = 1;  // of a product that takes in the innermost axes
};

// The batch as loops. Axes whose matrices share b and continue each other become rows; of matrices
// of one row, `matrix` gets the steps of the axis, which may have any: [T, 1, K] as sequences have
// it.
Batches batches_of(const MatMulGeometry& g, const std::vector<std::int64_t> (&steps)[3],
                   MatrixSteps& matrix) {
  Batches out;
  out.rows = g.rows;
  for (std::size_t d = g.batch.size(); d-- > 0;) {
    if (g.batch[d] == 1) continue;
    const RowAxis axis{static_cast<int>(g.batch[d]), {steps[0][d], steps[1][d], steps[2][d], 0}};
    if (out.rows == 1) {
      matrix.a_row = axis.step[0];
      matrix.y_row = axis.step[2];
    }
    const bool more_rows = out.axes.empty() && axis.step[1] == 0 &&
                           axis.step[0] == out.rows * matrix.a_row &&
                           axis.step[2] == out.rows * matrix.y_row;
    if (more_rows) {
      out.rows *= g.batch[d];
    } else {
      out.axes.insert(out.axes.begin(), axis);
    }
  }
  return out;
}

}  // namespace

void take_rows_as_lanes(FloatProductPlan& plan, int lanes) {
  const rt::FloatConvShape& s = plan.shape;
  if (lanes > 1 && s.out == 1 && s.x_channel == 1 && s.axis[2].out >= lanes)
    plan.kind = FloatProductKind::kOneColumn;
}

FloatProductPlan plan_float_matmul(const MatMulGeometry& g, const View& a, RightHandSide b,
                                   const View& y) {
  FloatProductPlan plan = least_plan();
  MatrixSteps steps = matrix_steps(a, b, y);
  const std::vector<std::int64_t> b_steps = steps_of_right(g);
  const auto a_batch = batch_steps(a.shape, steps_of(a), g.batch.size());
  const Batches batches = batches_of(g, {a_batch, b_steps, steps.y_batch}, steps);
  plan.matrices.axes = batches.axes;
  set_matrices(plan, batches.rows, g.depth, g.cols, steps);
  return plan;
}

bool has_dense_columns(const MatMulGeometry& g, const View& b, int lanes) {
  const std::vector<std::int64_t> steps = steps_of(b);
  const bool shared = element_count(g.b_batch) != element_count(g.batch);
  return b.rank() >= 2 && g.rows == 1 && !shared && g.cols >= lanes && lanes > 1 &&
         steps[steps.size() - 2] == 1 && steps.back() >= g.depth;
}

FloatProductPlan plan_single_row(const MatMulGeometry& g, const View& b, const View& y) {
  FloatProductPlan plan = least_plan();
  const std::vector<std::int64_t> b_steps = steps_of(b), y_steps = steps_of(y);
  const auto b_batch = batch_steps(b.shape, b_steps, g.batch.size());
  const auto a_batch = broadcast_view(g.a_batch, g.batch).strides;
  for (std::size_t d = 0; d < g.batch.size(); ++d) {
    if (g.batch[d] == 1) continue;
    plan.matrices.axes.push_back(
        {static_cast<int>(g.batch[d]), {b_batch[d], a_batch[d] * g.depth, y_steps[d], 0}});
  }
  set_matrices(plan, g.cols, g.depth, 1, {b_steps.back(), 1, y_steps.back(), 1, {}});
  return plan;
}

namespace {

rt::FloatConvShape shape_of_row(const MatMulGeometry& g, const MatrixSteps& steps) {
  FloatProductPlan plan = least_plan();
  set_matrices(plan, 1, g.depth, g.cols, steps);
  return plan.shape;
}

// Rows whose scores leave a second-level cache room for keys and values.
int rows_of_block(const MatMulGeometry& scores) {
  constexpr std::int64_t kBest = std::int64_t{192} << 10, kTile = 6;
  const std::int64_t rows = kBest / 4 / scores.cols / kTile * kTile;
  return static_cast<int>(std::min(scores.rows, std::max(rows, kTile)));
}

}  // namespace

AttentionPlan plan_attention(const MatMulGeometry& scores, const MatMulGeometry& mixed,
                             const View& queries, const View& y) {
  AttentionPlan plan;
  const std::vector<std::int64_t> x_steps = steps_of(queries), y_steps = steps_of(y);
  const std::size_t x_rank = x_steps.size(), y_rank = y_steps.size();
  plan.scores =
      shape_of_row(scores, {x_steps[x_rank - 2], x_steps[x_rank - 1], scores.cols, 1, {}});
  plan.mixed = shape_of_row(mixed, {scores.cols, 1, y_steps[y_rank - 2], y_steps[y_rank - 1], {}});
  plan.rows = static_cast<int>(scores.rows);
  plan.block = rows_of_block(scores);
  const auto x_batch = batch_steps(queries.shape, x_steps, scores.batch.size());
  const auto keys = steps_of_right(scores), values = steps_of_right(mixed);
  for (std::size_t d = 0; d < scores.batch.size(); ++d) {
    if (scores.batch[d] == 1) continue;
    plan.matrices.axes.push_back(
        {static_cast<int>(scores.batch[d]), {x_batch[d], keys[d], values[d], y_steps[d]}});
  }
  return plan;
}

FloatProductPlan plan_float_gemm(const GemmGeometry& g, const View& a, const View& y) {
  FloatProductPlan plan = least_plan();
  const std::vector<std::int64_t> a_steps = steps_of(a);
  const std::vector<std::int64_t> y_steps = steps_of(y);
  set_matrices(plan, g.rows, g.depth, g.cols,
               {a_steps[g.transposed_a ? 1 : 0],
                a_steps[g.transposed_a ? 0 : 1],
                y_steps[0],
                y_steps[1],
                {}});
  return plan;
}

}  // namespace etch
