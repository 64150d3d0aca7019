// What functions of transformers consist of: the rules of unfuse.h that have more than a few lines.
// Each takes all attributes of its node and checks types and shapes of its inputs; see parts.h.
// Formulas: docs/spec/functions.md.
#pragma once

#include "compiler/passes/compositions/parts.h"

namespace etch {

// Normalization: over the axes from `axis` to the last.
void write_layer_normalization(Parts& parts);  // with Mean and InvStdDev, or broadcast factors
bool has_broadcast_factors(const Graph& graph, const Node& node);
void write_rms_normalization(Parts& parts);              // RMSNormalization, Simplified...
void write_skip_layer_normalization(Parts& parts);       // com.microsoft
void write_skip_simplified_normalization(Parts& parts);  // com.microsoft
void write_embed_layer_normalization(Parts& parts);      // com.microsoft
void write_quantized_embed_normalization(Parts& parts);  // com.microsoft

void write_rotary_embedding(Parts& parts);            // ai.onnx
void write_microsoft_rotary_embedding(Parts& parts);  // com.microsoft

void write_causal_conv_with_state(Parts& parts);  // ai.onnx
void write_tensor_scatter(Parts& parts);          // ai.onnx
void write_linear_attention(Parts& parts);        // ai.onnx

void write_attention(Parts& parts);              // ai.onnx
void write_flex_attention(Parts& parts);         // ai.onnx.preview
void write_packed_attention(Parts& parts);       // com.microsoft Attention
void write_quantized_attention(Parts& parts);    // com.microsoft QAttention
void write_multi_head_attention(Parts& parts);   // com.microsoft
void write_group_query_attention(Parts& parts);  // com.microsoft

}  // namespace etch
