// The pipeline: import, passes, lowering, memory plan, audit; see compile.h.
#include "compiler/compile.h"

#include <utility>

#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/passes/pipeline.h"
#include "compiler/schedule/memory.h"
#include "compiler/stage/audit.h"
#include "compiler/steps/lowering.h"
#include "compiler/steps/ports.h"
#include "compiler/steps/quantized_tensors.h"
#include "compiler/steps/strict_integer.h"

namespace etch {

namespace {

IsaTraits traits_for(const IsaTraits& isa, RequantizeMode mode) {
  IsaTraits out = isa;
  if (mode != RequantizeMode::kAuto) out.float_requantization = mode == RequantizeMode::kFloat;
  return out;
}

}  // namespace

std::unique_ptr<Graph> load_graph(std::string_view model, const CompileOptions& options,
                                  Sink& sink) {
  try {
    std::optional<Graph> graph = import_model(model, options.import, sink);
    if (graph) quantize_inputs(*graph, options.quantize_inputs, sink);
    if (!graph || sink.has_errors()) return nullptr;
    run_passes(*graph, sink, options.qdq, options.dump_after);
    if (sink.has_errors()) return nullptr;
    return std::make_unique<Graph>(std::move(*graph));
  } catch (const CompileError&) {
    return nullptr;
  }
}

std::unique_ptr<Program> compile(std::string_view model, const CompileOptions& options,
                                 Sink& sink) {
  const IsaTraits* const isa = find_target(options.target);
  if (isa == nullptr) {
    sink.error(DiagKind::kUnsupported, {},
               cat("there is no target '", printable(options.target), "'"));
    return nullptr;
  }
  const std::unique_ptr<Graph> graph = load_graph(model, options, sink);
  if (graph == nullptr) return nullptr;
  auto program = std::make_unique<Program>();
  program->isa = traits_for(*isa, options.requantize);
  program->model_sha256 = sha256_hex(model);
  program->producer = graph->producer;
  program->fusions = graph->fusions;
  describe_ports(*graph, *program);
  describe_quantization(*graph, *program);
  if (!Lowering(*graph, program->isa, *program, sink).run()) return nullptr;
  if (options.strict_integer) refuse_floats(*graph, *program, sink);
  if (sink.has_errors()) return nullptr;
  plan_memory(*program);
  audit_program(*program, sink);
  if (sink.has_errors()) return nullptr;
  return program;
}

}  // namespace etch
