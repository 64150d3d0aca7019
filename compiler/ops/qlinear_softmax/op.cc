// Resolves QLinearSoftmax; see op.h.
#include "compiler/ops/qlinear_softmax/op.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> qlinear_softmax_reference(const Node& node,
                                              std::span<const Tensor* const> inputs);

namespace {
std::vector<float> exponentials(float x_scale, std::int64_t row_size) {
  // The logarithm is rounded to float; ties of the result depend on it.
  const float most = std::numeric_limits<float>::max() / static_cast<float>(row_size);
  const auto room = static_cast<float>(std::log(static_cast<double>(most)));
  const double shift =
      static_cast<double>(std::max(0.0F, room - 5.0F)) / static_cast<double>(x_scale);
  std::vector<float> table;
  for (int i = 0; i < 256; ++i) {
    const double exponent = (i - 255 + shift) * static_cast<double>(x_scale);
    table.push_back(static_cast<float>(std::exp(exponent)));
  }
  return table;
}

std::optional<SoftmaxRows> read_rows(ResolveContext& context) {
  if (!context.has_attr("opset")) {
    context.attr_error("opset", "is missing");
    return std::nullopt;
  }
  const std::int64_t opset = context.int_attr("opset", 0);
  if (opset < 1) {
    context.attr_error("opset", cat("must be >= 1, got ", opset));
    return std::nullopt;
  }
  const bool one_axis = opset >= 13;
  const Shape& x = context.shape(0);
  const auto axis = axis_attr(context, "axis", one_axis ? -1 : 1, rank_of(x));
  if (!axis) return std::nullopt;
  return softmax_rows(x, *axis, one_axis ? SoftmaxForm::kOneAxis : SoftmaxForm::kTrailingAxes);
}

void resolve_qlinear_softmax(ResolveContext& context) {
  if (!check_dtype(context, 0, "X", {DType::kU8, DType::kS8})) return;
  const DType dtype = context.dtype(0);
  const auto rows = read_rows(context);
  const auto from = scalar_quantization(context, {"x", 1, 2}, dtype);
  const auto to = scalar_quantization(context, {"y", 3, 4}, dtype);
  if (!rows || !from || !to) return;
  const float inverse = std::floor(1.0F / to->scale);
  if (!std::isfinite(inverse)) {
    context.error(DiagKind::kQuant, "1 / y_scale must be finite in float32");
    return;
  }
  context.set_output(0, dtype, context.shape(0));
  context.set_params(
      QLinearSoftmax{dtype, *rows, exponentials(from->scale, std::max<std::int64_t>(rows->size, 1)),
                     inverse, to->zero_point, context.shape(0)});
}

constexpr OpName kQLinearSoftmaxNames[] = {{kMicrosoft, "QLinearSoftmax", 1}};
}  // namespace

void lower_qlinear_softmax(Lowering& lowering, const Node& node);

extern const OpDef kOp_qlinear_softmax = {.folder = "qlinear_softmax",
                                          .names = kQLinearSoftmaxNames,
                                          .arity = {.min_inputs = 2, .max_inputs = 5},
                                          .resolve = resolve_qlinear_softmax,
                                          .reference = qlinear_softmax_reference,
                                          .lower = lower_qlinear_softmax};

}  // namespace etch
