// Resolves LayerNormalization; see op.h.
#include "compiler/ops/layer_normalization/op.h"

#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> layer_normalization_reference(const Node& node,
                                                  std::span<const Tensor* const> inputs);
void lower_layer_normalization(Lowering& lowering, const Node& node);

namespace {
constexpr const char* kRoles[] = {"X", "Scale", "B"};

void check_outputs(ResolveContext& context) {
  for (std::size_t i = 1; i < context.node().outputs.size(); ++i) {
    if (context.node().outputs[i] == kNoValue) continue;
    context.error(DiagKind::kUnsupported, "outputs besides Y cannot be compiled");
    return;
  }
}

void resolve_layer_normalization(ResolveContext& context) {
  LayerNormalization params;
  params.epsilon = context.float_attr("epsilon", 1e-5F);
  if (!std::isfinite(params.epsilon)) {
    context.attr_error("epsilon", cat("must be finite, got ", decimal(params.epsilon)));
  }
  if (context.int_attr("stash_type", 1) != 1) {
    context.attr_error("stash_type", "only 1, float32, is supported");
  }
  check_outputs(context);
  const Shape& x = context.shape(0);
  const auto axis = axis_attr(context, "axis", -1, rank_of(x));
  if (!axis) return;
  const Shape row(x.begin() + *axis, x.end());
  for (int i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i) || !check_dtype(context, i, kRoles[i], {DType::kF32})) continue;
    if (i == 0 || context.shape(i) == row) continue;
    context.input_error(
        DiagKind::kShape, i, kRoles[i],
        cat("must be ", to_string(row), " like the normalized axes, or broadcast to ", to_string(x),
            ", got ", to_string(context.shape(i))));
  }
  params.size = element_count(row);
  if (params.size == 0) {
    context.error(DiagKind::kShape, cat("no elements to normalize in ", to_string(x)));
  }
  if (context.failed()) return;
  params.rows = element_count(x) / params.size;
  context.set_output(0, DType::kF32, x);
  context.set_params(params);
}

// ONNX has it since 17; ONNX Runtime writes it into optimized files of any version.
constexpr OpName kLayerNormalizationNames[] = {{kOnnx, "LayerNormalization", 1}};
}  // namespace

extern const OpDef kOp_layer_normalization = {
    .folder = "layer_normalization",
    .names = kLayerNormalizationNames,
    .arity = {.min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 3},
    .resolve = resolve_layer_normalization,
    .reference = layer_normalization_reference,
    .lower = lower_layer_normalization};

}  // namespace etch
