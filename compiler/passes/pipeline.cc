// The passes in order, each with the reason for its place; see pipeline.h.
#include "compiler/passes/pipeline.h"

#include <cstdio>
#include <functional>

#include "compiler/passes/dead_code.h"
#include "compiler/passes/expand.h"
#include "compiler/passes/fold.h"
#include "compiler/passes/fold_pad.h"
#include "compiler/passes/fold_qdq.h"
#include "compiler/passes/fuse_add.h"
#include "compiler/passes/fuse_relu.h"
#include "compiler/passes/fuse_table.h"
#include "compiler/passes/hoist_relabel.h"
#include "compiler/passes/resolve.h"
#include "compiler/passes/widen_four_bits.h"

namespace etch {

namespace {
struct Pass {
  const char* name;
  std::function<void(Graph&, Sink&)> run;
  std::function<void(Graph&, Sink&)> instead = nullptr;  // with --qdq float; null: the same
};

const Pass kPasses[] = {
    // First: everything after it relies on known types, shapes and parameters.
    {"resolve", resolve},
    // Before anything looks for 8-bit weights.
    {"widen_four_bits", widen_four_bits},
    // Before any float value is folded: it needs to see DequantizeLinear of constant weights.
    {"fold_qdq", fold_qdq, [](Graph& graph, Sink&) { keep_qdq(graph); }},
    // After fold_qdq, which may make such operators; before folding of what they consist of.
    {"expand", expand},
    // What fold_qdq has left in float is now an ordinary constant.
    {"fold", [](Graph& graph, Sink&) { fold_constants(graph, FoldDequantize::kYes); }},
    // Once operators are the integer ones that will run; before limits are fused into them.
    {"fold_pad", [](Graph& graph, Sink&) { fold_pads(graph); }},
    // Before limits are fused, which then are those of the sum.
    {"fuse_add", [](Graph& graph, Sink&) { fuse_adds(graph); }},
    // After constants are known in float, and while quantization stands where fold_qdq left it.
    {"fuse_table", fuse_table},
    // After fold_qdq, which moves quantization towards the inputs.
    {"hoist_relabel", hoist_relabel},
    // The passes above leave producers without consumers.
    {"dead_code", [](Graph& graph, Sink&) { remove_dead(graph); }},
    // Last: what is float now stays so, and the log says why of the operators that the file has.
    {"fuse_relu",
     [](Graph& graph, Sink&) {
       graph.fusions.finish(graph);
       fuse_relus(graph);
     }},
};
}  // namespace

void run_passes(Graph& graph, Sink& sink, QdqMode qdq, const std::string& dump_after) {
  if (dump_after == "import") std::fputs(dump(graph).c_str(), stderr);
  for (const Pass& pass : kPasses) {
    const bool other = qdq == QdqMode::kFloat && pass.instead != nullptr;
    (other ? pass.instead : pass.run)(graph, sink);
    if (dump_after == pass.name) std::fputs(dump(graph).c_str(), stderr);
    if (sink.has_errors()) return;
    verify(graph, Resolved::kYes);
  }
}

}  // namespace etch
