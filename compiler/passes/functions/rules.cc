// The functions of ai.onnx among those of functions.h.
#include "compiler/passes/compositions/rules.h"

#include "compiler/passes/functions/functions.h"

namespace etch {

namespace {

// Y alone has a kernel, whose factors have the shape of the normalized axes.
bool lacks_kernel(const Graph& graph, const Node& node) {
  return node.outputs.size() > 1 || has_broadcast_factors(graph, node);
}

constexpr Rule kRules[] = {{"LayerNormalization", write_layer_normalization, 3, 3, 1, lacks_kernel},
                           {"RMSNormalization", write_rms_normalization, 2, 1, 23},
                           {"SimplifiedLayerNormalization", write_rms_normalization, 2, 2},
                           {"RotaryEmbedding", write_rotary_embedding, 4, 1, 23},
                           {"Attention", write_attention, 7, 4, 23},
                           {"CausalConvWithState", write_causal_conv_with_state, 4, 2, 27},
                           {"LinearAttention", write_linear_attention, 6, 2, 27},
                           {"TensorScatter", write_tensor_scatter, 3, 1, 24}};

}  // namespace

std::span<const Rule> transformer_rules() { return kRules; }

}  // namespace etch
