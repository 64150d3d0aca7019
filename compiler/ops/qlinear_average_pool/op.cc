// Resolves QLinearAveragePool; see op.h.
#include "compiler/ops/qlinear_average_pool/op.h"

#include <algorithm>

#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> qlinear_average_pool_reference(const Node& node,
                                                   std::span<const Tensor* const> inputs);

namespace {
bool is_global(const PoolGeometry& geometry) {
  return std::all_of(geometry.axes.begin(), geometry.axes.end(), [](const ConvAxis& axis) {
    return axis.kernel == axis.in && axis.pad_begin == 0 && axis.pad_end == 0;
  });
}

QLinearGlobalAveragePool global_params(ResolveContext& context, const QLinearAveragePool& params) {
  QLinearGlobalAveragePool out;
  out.dtype = params.dtype;
  out.layout = params.geometry.layout;
  out.batch = params.geometry.batch;
  out.channels = params.geometry.channels;
  for (const ConvAxis& axis : params.geometry.axes) out.plane *= axis.in;
  out.x_zero_point = params.x.zero_point;
  out.y_zero_point = params.y.zero_point;
  out.scale = global_average_scale(context, params.x, params.y, out.plane);
  out.shape = params.geometry.output_shape();
  return out;
}

void resolve_qlinear_average_pool(ResolveContext& context) {
  if (!check_dtype(context, 0, "X", {DType::kU8, DType::kS8})) return;
  const DType dtype = context.dtype(0);
  const bool last = context.int_attr("channels_last", 0) != 0;
  const bool counted = context.int_attr("count_include_pad", 0) != 0;
  const auto from = scalar_quantization(context, {"x", 1, 2}, dtype);
  const auto to = scalar_quantization(context, {"y", 3, 4}, dtype);
  auto geometry = resolve_pool_geometry(
      context, last ? ConvLayout::kChannelsLast : ConvLayout::kChannelsFirst, {.ceil_mode = true});
  if (!from || !to || !geometry) return;
  QLinearAveragePool params{
      dtype, std::move(*geometry), counted ? CountPadding::kYes : CountPadding::kNo, *from,
      *to,   std::nullopt};
  if (is_global(params.geometry)) params.global = global_params(context, params);
  context.set_output(0, dtype, params.geometry.output_shape());
  context.set_params(std::move(params));
}

constexpr OpName kQLinearAveragePoolNames[] = {{kMicrosoft, "QLinearAveragePool", 1}};
}  // namespace

void lower_qlinear_average_pool(Lowering& lowering, const Node& node);
LayoutRule qlinear_average_pool_layout(const Node& node);

extern const OpDef kOp_qlinear_average_pool = {.folder = "qlinear_average_pool",
                                               .names = kQLinearAveragePoolNames,
                                               .arity = {.min_inputs = 2, .max_inputs = 5},
                                               .resolve = resolve_qlinear_average_pool,
                                               .reference = qlinear_average_pool_reference,
                                               .lower = lower_qlinear_average_pool,
                                               .layout = qlinear_average_pool_layout};

}  // namespace etch
