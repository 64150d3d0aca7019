// Checks and shapes of QLinearConvTranspose; see op.h.
#include "compiler/ops/qlinear_conv_transpose/op.h"

namespace etch {

namespace {

constexpr OpName kQLinearConvTransposeNames[] = {{kNhwc, "QLinearConvTranspose", 1},
                                                 {kEtch, "QLinearConvTranspose", 1}};

void resolve_qlinear_conv_transpose(ResolveContext& context) {
  const bool channels_last = context.node().domain == kNhwc;
  resolve_qlinear_conv(context, ConvDirection::kTransposed,
                       channels_last ? ConvLayout::kChannelsLast : ConvLayout::kChannelsFirst);
}

}  // namespace

void lower_qlinear_conv(Lowering& lowering, const Node& node);
LayoutRule qlinear_conv_layout(const Node& node);
std::optional<HaloWish> qlinear_conv_halo(const Graph& graph, const Node& node);

extern const OpDef kOp_qlinear_conv_transpose = {.folder = "qlinear_conv_transpose",
                                                 .names = kQLinearConvTransposeNames,
                                                 .arity = {.min_inputs = 8, .max_inputs = 9},
                                                 .resolve = resolve_qlinear_conv_transpose,
                                                 .reference = reference_qlinear_conv_transpose,
                                                 .lower = lower_qlinear_conv,
                                                 .layout = qlinear_conv_layout,
                                                 .halo = qlinear_conv_halo,
                                                 .reads = qlinear_conv_reads,
                                                 .writes = qlinear_conv_writes};

}  // namespace etch
