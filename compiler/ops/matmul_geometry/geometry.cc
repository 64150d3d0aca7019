// Resolution of matrix product shapes; see geometry.h.
#include "compiler/ops/matmul_geometry/geometry.h"

#include "compiler/base/text.h"

namespace etch {

namespace {

std::nullopt_t report_mismatch(ResolveContext& context, const Shape& a, const Shape& b) {
  context.error(DiagKind::kShape,
                cat("cannot multiply matrices of shapes ", to_string(a), " and ", to_string(b)));
  return std::nullopt;
}

Shape without_last(const Shape& shape, std::ptrdiff_t count) {
  return {shape.begin(), shape.end() - count};
}

std::vector<Shape> parameter_shapes(const Shape& batch, std::int64_t size, Shape full_tail) {
  std::vector<Shape> out{{}, {1}, {size}};
  Shape full = batch;
  full.insert(full.end(), full_tail.begin(), full_tail.end());
  out.push_back(full);
  return out;
}

std::optional<bool> read_transposed(ResolveContext& context, const char* name) {
  const std::int64_t value = context.int_attr(name, 0);
  if (value == 0 || value == 1) return value == 1;
  context.attr_error(name, cat("must be 0 or 1, got ", value));
  return std::nullopt;
}

// Strides of C against [rows, cols]; false when C does not broadcast to it.
bool set_bias_strides(const Shape& c, GemmGeometry& geometry) {
  if (c.size() > 2) return false;
  const std::int64_t cols = c.empty() ? 1 : c.back();
  const std::int64_t rows = c.size() < 2 ? 1 : c.front();
  if ((cols != 1 && cols != geometry.cols) || (rows != 1 && rows != geometry.rows)) return false;
  geometry.c_col_stride = cols == 1 ? 0 : 1;
  geometry.c_row_stride = rows == 1 ? 0 : cols;
  return true;
}

}  // namespace

std::optional<MatMulGeometry> resolve_matmul_geometry(ResolveContext& context, int a, int b) {
  const Shape& a_shape = context.shape(a);
  const Shape& b_shape = context.shape(b);
  if (a_shape.empty() || b_shape.empty()) return report_mismatch(context, a_shape, b_shape);
  const bool row = a_shape.size() == 1;
  const bool column = b_shape.size() == 1;
  MatMulGeometry g;
  g.rows = row ? 1 : a_shape[a_shape.size() - 2];
  g.depth = a_shape.back();
  g.cols = column ? 1 : b_shape.back();
  g.a_batch = row ? Shape{} : without_last(a_shape, 2);
  g.b_batch = column ? Shape{} : without_last(b_shape, 2);
  const std::optional<Shape> batch = broadcast_shape(g.a_batch, g.b_batch);
  const std::int64_t b_depth = column ? b_shape[0] : b_shape[b_shape.size() - 2];
  if (!batch || b_depth != g.depth) return report_mismatch(context, a_shape, b_shape);
  g.batch = *batch;
  g.output = *batch;
  if (!row) g.output.push_back(g.rows);
  if (!column) g.output.push_back(g.cols);
  return g;
}

std::vector<Shape> per_row_shapes(const MatMulGeometry& geometry) {
  return parameter_shapes(geometry.a_batch, geometry.rows, {geometry.rows, 1});
}

std::vector<Shape> per_column_shapes(const MatMulGeometry& geometry) {
  return parameter_shapes(geometry.b_batch, geometry.cols, {1, geometry.cols});
}

std::optional<GemmGeometry> resolve_gemm_geometry(ResolveContext& context, GemmInputs inputs) {
  const std::optional<bool> transposed_a = read_transposed(context, "transA");
  const std::optional<bool> transposed_b = read_transposed(context, "transB");
  if (!transposed_a || !transposed_b) return std::nullopt;
  const Shape& a = context.shape(inputs.a);
  const Shape& b = context.shape(inputs.b);
  if (a.size() != 2 || b.size() != 2) return report_mismatch(context, a, b);
  GemmGeometry g;
  g.transposed_a = *transposed_a;
  g.transposed_b = *transposed_b;
  g.rows = g.transposed_a ? a[1] : a[0];
  g.depth = g.transposed_a ? a[0] : a[1];
  g.cols = g.transposed_b ? b[0] : b[1];
  if (g.depth != (g.transposed_b ? b[1] : b[0])) return report_mismatch(context, a, b);
  if (context.has_input(inputs.c) && !set_bias_strides(context.shape(inputs.c), g)) {
    context.input_error(DiagKind::kShape, inputs.c, "C",
                        cat("must broadcast to [", g.rows, ", ", g.cols, "], got ",
                            to_string(context.shape(inputs.c))));
    return std::nullopt;
  }
  return g;
}

}  // namespace etch
