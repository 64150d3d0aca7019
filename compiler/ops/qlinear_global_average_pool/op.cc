// Resolves QLinearGlobalAveragePool; see op.h.
#include "compiler/ops/qlinear_global_average_pool/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> qlinear_global_average_pool_reference(const Node& node,
                                                          std::span<const Tensor* const> inputs);

float global_average_scale(ResolveContext& context, const ScalarQuantization& x,
                           const ScalarQuantization& y, std::int64_t plane) {
  const float divisor = y.scale * static_cast<float>(plane);
  const float scale = x.scale / divisor;
  if (plane >= (std::int64_t{1} << 24)) {
    context.error(DiagKind::kLimit, cat("a plane must have less than 2^24 elements, got ", plane));
  } else if (!(scale >= 0x1p-32F && scale < 256.0F)) {
    context.error(
        DiagKind::kQuant,
        cat("x_scale / (y_scale * elements) must be in [2^-32, 256), got ", decimal(scale)));
  }
  return scale;
}

namespace {
void resolve_qlinear_global_average_pool(ResolveContext& context) {
  if (!check_dtype(context, 0, "X", {DType::kU8, DType::kS8})) return;
  const DType dtype = context.dtype(0);
  const bool last = context.int_attr("channels_last", 0) != 0;
  const auto from = scalar_quantization(context, {"x", 1, 2}, dtype);
  const auto to = scalar_quantization(context, {"y", 3, 4}, dtype);
  if (!from || !to) return;
  const Shape& x = context.shape(0);
  if (x.size() < 3 || element_count(x) == 0) {
    context.error(DiagKind::kShape,
                  cat("x must have spatial axes and elements, got ", to_string(x)));
    return;
  }
  QLinearGlobalAveragePool params;
  params.dtype = dtype;
  params.layout = last ? ConvLayout::kChannelsLast : ConvLayout::kChannelsFirst;
  params.batch = x[0];
  params.channels = last ? x.back() : x[1];
  params.plane = element_count(x) / params.batch / params.channels;
  params.x_zero_point = from->zero_point;
  params.y_zero_point = to->zero_point;
  params.scale = global_average_scale(context, *from, *to, params.plane);
  params.shape = Shape(x.size(), 1);
  params.shape[0] = params.batch;
  params.shape[last ? x.size() - 1 : 1] = params.channels;
  context.set_output(0, dtype, params.shape);
  context.set_params(std::move(params));
}

constexpr OpName kQLinearGlobalAveragePoolNames[] = {{kMicrosoft, "QLinearGlobalAveragePool", 1}};
}  // namespace

void lower_qlinear_global_average_pool(Lowering& lowering, const Node& node);
LayoutRule qlinear_global_average_pool_layout(const Node& node);

extern const OpDef kOp_qlinear_global_average_pool = {
    .folder = "qlinear_global_average_pool",
    .names = kQLinearGlobalAveragePoolNames,
    .arity = {.min_inputs = 2, .max_inputs = 5},
    .resolve = resolve_qlinear_global_average_pool,
    .reference = qlinear_global_average_pool_reference,
    .lower = lower_qlinear_global_average_pool,
    .layout = qlinear_global_average_pool_layout};

}  // namespace etch
