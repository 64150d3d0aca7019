// The passes in order, each with the reason for its place; see pipeline.h.
#include "compiler/passes/pipeline.h"

#include <cstdio>
#include <functional>

#include "compiler/ir/dead_code.h"
#include "compiler/passes/common_subexpressions.h"
#include "compiler/passes/expand.h"
#include "compiler/passes/fold.h"
#include "compiler/passes/fold_pad.h"
#include "compiler/passes/fold_qdq.h"
#include "compiler/passes/fold_slice.h"
#include "compiler/passes/fuse_add.h"
#include "compiler/passes/fuse_attention.h"
#include "compiler/passes/fuse_bias.h"
#include "compiler/passes/fuse_expressions.h"
#include "compiler/passes/fuse_relu.h"
#include "compiler/passes/fuse_swish.h"
#include "compiler/passes/fuse_table.h"
#include "compiler/passes/fuse_word_table.h"
#include "compiler/passes/hoist_relabel.h"
#include "compiler/passes/order_regions.h"
#include "compiler/passes/pack_weights.h"
#include "compiler/passes/prune_channels.h"
#include "compiler/passes/resolve.h"
#include "compiler/passes/split_rows.h"
#include "compiler/passes/widen_four_bits.h"

namespace etch {

namespace {
struct Pass {
  const char* name;
  std::function<void(Graph&, Sink&, const PassOptions&)> run;
};

const Pass kPasses[] = {
    // First: everything after it relies on known types, shapes and parameters.
    {"resolve", [](Graph& graph, Sink& sink, const PassOptions&) { resolve(graph, sink); }},
    // Before anything looks for 8-bit weights.
    {"widen_four_bits",
     [](Graph& graph, Sink& sink, const PassOptions&) { widen_four_bits(graph, sink); }},
    // Before any float value is folded: it needs to see DequantizeLinear of constant weights.
    {"fold_qdq",
     [](Graph& graph, Sink& sink, const PassOptions& options) {
       if (options.qdq == QdqMode::kFloat) {
         keep_qdq(graph);
       } else {
         fold_qdq(graph, sink,
                  options.qdq == QdqMode::kAll ? QdqGroups::kAll : QdqGroups::kOfOnnxRuntime);
       }
     }},
    // While products have their own scales; before expand takes those with a float result apart.
    {"fuse_bias", [](Graph& graph, Sink&, const PassOptions&) { fuse_biases(graph); }},
    // After fold_qdq, which may make such operators; before folding of what they consist of.
    {"expand", [](Graph& graph, Sink& sink, const PassOptions&) { expand(graph, sink); }},
    // What fold_qdq has left in float; before folding makes floats of its weights.
    {"pack_weights",
     [](Graph& graph, Sink&, const PassOptions& options) {
       pack_weights(graph, options.qdq == QdqMode::kFloat ? BlockedProducts::kExact
                                                          : BlockedProducts::kAsOnnxRuntime);
     }},
    // What fold_qdq has left in float is now an ordinary constant.
    {"fold",
     [](Graph& graph, Sink&, const PassOptions&) { fold_constants(graph, FoldDequantize::kYes); }},
    // Once constants are known; before anything is fused with what reads it.
    {"common_subexpressions",
     [](Graph& graph, Sink&, const PassOptions&) { merge_common_subexpressions(graph); }},
    // Once operators are the integer ones that will run; before limits are fused into them.
    {"fold_pad", [](Graph& graph, Sink&, const PassOptions&) { fold_pads(graph); }},
    // After it, which gives convolutions the padding that this takes away; before what follows
    // the Slice is fused.
    {"fold_slice", [](Graph& graph, Sink&, const PassOptions&) { fold_slices(graph); }},
    // Before limits are fused, which then are those of the sum.
    {"fuse_add",
     [](Graph& graph, Sink&, const PassOptions& options) {
       if (options.sums_in_convolutions) fuse_adds(graph);
     }},
    // After constants are known in float, and while quantization is where fold_qdq left it.
    {"fuse_table", [](Graph& graph, Sink& sink, const PassOptions&) { fuse_table(graph, sink); }},
    // For the same reasons; what fold_qdq made of 16 bits stays as it is.
    {"fuse_word_table",
     [](Graph& graph, Sink&, const PassOptions& options) {
       if (options.qdq != QdqMode::kFloat) fuse_word_table(graph);
     }},
    // After fold_qdq, which moves quantization towards the inputs.
    {"hoist_relabel",
     [](Graph& graph, Sink& sink, const PassOptions&) { hoist_relabel(graph, sink); }},
    // Once limits and sums are where they stay; before convolutions are split.
    {"prune_channels", [](Graph& graph, Sink&, const PassOptions&) { prune_channels(graph); }},
    // Once convolutions are what will run.
    {"split_rows", [](Graph& graph, Sink&,
                      const PassOptions& options) { split_rows(graph, options.split_rows_above); }},
    // The passes above leave producers without consumers.
    {"dead_code", [](Graph& graph, Sink&, const PassOptions&) { remove_dead(graph); }},
    // Last: what is float now stays so, and the log says why of the operators that the file has.
    {"fuse_relu",
     [](Graph& graph, Sink&, const PassOptions&) {
       graph.fusions.finish(graph);
       fuse_relus(graph);
     }},
    // While what changes the scores are operators of their own. A step of rows has no shares.
    {"fuse_attention",
     [](Graph& graph, Sink&, const PassOptions& options) {
       if (options.attention_as_one) fuse_attention(graph);
     }},
    // After everything that looks for single operators; before products join expressions.
    {"fuse_swish", [](Graph& graph, Sink&, const PassOptions&) { fuse_swishes(graph); }},
    {"fuse_expressions",
     [](Graph& graph, Sink&, const PassOptions& options) {
       fuse_expressions(graph, options.ranges_in_expressions);
     }},
    // After everything that puts nodes elsewhere.
    {"order_regions", [](Graph& graph, Sink&, const PassOptions&) { order_regions(graph); }},
};
}  // namespace

void run_passes(Graph& graph, Sink& sink, const PassOptions& options,
                const std::string& dump_after) {
  if (dump_after == "import") std::fputs(dump(graph).c_str(), stderr);
  for (const Pass& pass : kPasses) {
    pass.run(graph, sink, options);
    if (dump_after == pass.name) std::fputs(dump(graph).c_str(), stderr);
    if (sink.has_errors()) return;
    verify(graph, Resolved::kYes);
  }
}

}  // namespace etch
