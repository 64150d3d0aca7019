// The pipeline: import, passes, lowering, memory plan, audit; see compile.h.
#include "compiler/compile.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"
#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/flash_estimate.h"
#include "compiler/import/metadata.h"
#include "compiler/lower/fused_steps.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/ports.h"
#include "compiler/lower/quantized_tensors.h"
#include "compiler/lower/strict_integer.h"
#include "compiler/passes/likely_states.h"
#include "compiler/passes/pipeline.h"
#include "compiler/program/state.h"
#include "compiler/program/verify.h"
#include "compiler/schedule/budget.h"
#include "compiler/schedule/divide.h"
#include "compiler/schedule/memory.h"
#include "compiler/schedule/merge_sizes.h"
#include "compiler/schedule/prefetch.h"
#include "compiler/schedule/share_code.h"
#include "compiler/schedule/unroll_steps.h"
#include "compiler/schedule/unused_tuning.h"
#include "compiler/stage/audit.h"
#include "compiler/targets/capabilities.h"
#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"
#include "compiler/text/names.h"

namespace etch {

namespace {

IsaTraits traits_for(const IsaTraits& isa, RequantizeMode mode) {
  IsaTraits out = isa;
  if (mode != RequantizeMode::kAuto) out.float_requantization = mode == RequantizeMode::kFloat;
  return out;
}

}  // namespace

namespace {
// Of the target that is asked for; an unknown one is reported later.
bool sums_in_convolutions(const CompileOptions& options) {
  const IsaTraits* const isa = find_target(options.target);
  return isa == nullptr || capabilities_of(*isa).sums_in_convolutions;
}
}  // namespace

namespace {

// load_graph() with the states that are asked for.
std::unique_ptr<Graph> load_graph_with(std::string_view model, const CompileOptions& options,
                                       StateInputs& states, Sink& sink) {
  try {
    ImportOptions import = options.import;
    for (const SizeRange& range : options.bounds)
      import.dims.insert_or_assign(range.symbol, range.most);
    std::optional<Graph> graph = import_model(model, import, states, sink);
    if (graph) graph->float_steps = options.float_steps;
    if (graph) quantize_inputs(*graph, options.quantize_inputs, sink);
    if (!graph || sink.has_errors()) return nullptr;
    PassOptions passes{options.qdq, options.split_rows_above};
    passes.sums_in_convolutions = sums_in_convolutions(options);
    passes.ranges_in_expressions = passes.attention_as_one = options.threads <= 1;
    run_passes(*graph, sink, passes, options.dump_after);
    if (sink.has_errors()) return nullptr;
    return std::make_unique<Graph>(std::move(*graph));
  } catch (const CompileError&) {
    return nullptr;
  }
}

// Between stages, in debug builds.
void verify_after([[maybe_unused]] const char* stage, [[maybe_unused]] const Program& program) {
#ifndef NDEBUG
  verify(program, stage);
#endif
}

// The back half: from the graph to a program for one instruction set. False when it is refused.
bool lower(const Graph& graph, const CompileOptions& options, Lowering::Halos halos,
           Program& program, Sink& sink) {
  program.producer = graph.producer;
  program.float_steps = options.float_steps;
  program.fusions = graph.fusions;
  program.pruning = graph.pruning;
  describe_ports(graph, program);
  describe_quantization(graph, program);
  if (!Lowering(graph, program.isa, options.tuning, program, sink, halos).run()) return false;
  verify_after("lowering", program);
  unroll_steps(program, options.unrolling, sink);
  verify_after("unrolling", program);
  if (options.strict_integer) refuse_floats(graph, program, sink);
  if (!program.isa.fpu && !options.strict_integer) warn_of_floats(graph, program, sink);
  if (program.float_steps == FloatSteps::kFused) warn_of_emulated_steps(program, sink);
  if (sink.has_errors()) return false;
  prefetch_weights(program);
  verify_after("prefetch", program);
  divide_work(program, options.threads);
  verify_after("dividing work", program);
  share_code(program);
  verify_after("sharing code", program);
  plan_memory(program);
  verify_after("planning memory", program);
  return !sink.has_errors();
}

// What all variants have in common, and the most of what they need.
void describe_variants(Program& program) {
  const Program& best = program.variants.front();
  program.inputs = best.inputs;
  program.outputs = best.outputs;
  program.producer = best.producer;
  program.macs = best.macs;
  program.float_macs = best.float_macs;
  for (const Program& variant : program.variants) {
    program.arena_bytes = std::max(program.arena_bytes, variant.arena_bytes);
    program.most_live_bytes = std::max(program.most_live_bytes, variant.most_live_bytes);
  }
}

bool lower_variants(const Graph& graph, const CompileOptions& options, const Way& way,
                    Program& program, Sink& sink) {
  const std::span<const IsaTraits* const> variants = multi_target(program.isa.name)->variants;
  for (const IsaTraits* const isa : variants) {
    Program& variant = program.variants.emplace_back();
    variant.isa = traits_for(*isa, options.requantize);
    variant.isa.objective = way.code;
    Sink own;  // they all find the same faults
    if (!lower(graph, options, way.halos, variant, own) || isa == variants.front()) {
      for (Diagnostic& diagnostic : own.sorted()) sink.report(std::move(diagnostic));
    } else if (options.float_steps == FloatSteps::kFused) {
      warn_of_emulated_steps(variant, sink);
    }
    if (own.has_errors()) return false;
  }
  describe_variants(program);
  return true;
}

std::unique_ptr<Program> generate(const Graph& graph, const CompileOptions& options,
                                  const IsaTraits& isa, const Way& way, Sink& sink) {
  auto program = std::make_unique<Program>();
  program->isa = traits_for(isa, options.requantize);
  program->isa.objective = way.code;
  const bool done = is_multi(isa.name) ? lower_variants(graph, options, way, *program, sink)
                                       : lower(graph, options, way.halos, *program, sink);
  return done ? std::move(program) : nullptr;
}

// SHA-256 of the file, or of its SHA-256 and that of its data in other files.
std::string digest_of(std::string_view model, const Graph& graph) {
  const std::string own = sha256_hex(model);
  return graph.external_digest.empty() ? own : sha256_hex(own + graph.external_digest);
}

// What the generated folder says of where it comes from.
void name_origin(Program& program, const std::string& sha256, const std::string& options) {
  program.model_sha256 = sha256;
  program.options = options;
  for (Program& variant : program.variants) name_origin(variant, sha256, options);
}

// Work out of all proportion to the file is a mistake or an attack.
void check_macs(const Program& program, const Graph& graph, Sink& sink) {
  const auto usual = checked_mul(graph.source_bytes, Limits::kMacsPerByte).value_or(INT64_MAX);
  if (program.macs <= std::max(graph.limits.macs, usual)) return;
  sink.error(DiagKind::kLimit, {},
             cat("computes ", program.macs, " multiplications, more than ", Limits::kMacsPerByte,
                 " per byte of the model, and ", at_most(graph.limits, &Limits::macs)));
}

// docs/spec/numbers.md section 1.5: legal, but hardly meant; real files have such biases in
// channels that nothing reads.
void warn_of_wrapping(const Program& program, Sink& sink) {
  for (const auto& step : program.steps) {
    if (!step->accumulators) continue;
    const auto [low, high] = *step->accumulators;
    if (low >= INT32_MIN && high <= INT32_MAX) continue;
    sink.report({Severity::kWarning, DiagKind::kQuant, step->node, step->origin,
                 cat("sums can be ", low, " to ", high,
                     ", outside int32, and then wrap; are bias and weights right?")});
  }
}

void audit_all(const Program& program, const Limits& limits, Sink& sink) {
  audit_program(program, limits, sink);
  for (const Program& variant : program.variants) {
    Sink own;  // they all find the same faults
    audit_all(variant, limits, &variant == &program.variants.front() ? sink : own);
    if (own.has_errors() && !sink.has_errors()) {
      for (Diagnostic& diagnostic : own.sorted()) sink.report(std::move(diagnostic));
    }
  }
}

// What the user asks for, else what the file does.
std::vector<StateRequest> requested_states(std::string_view model, const CompileOptions& options,
                                           Sink& sink) {
  constexpr std::string_view kKey = "etch.state";
  if (!options.states.empty()) return options.states;
  const std::optional<std::string> text = metadata_of(model, kKey, options.import.limits);
  if (!text) return {};
  std::optional<std::vector<StateRequest>> states = parse_states(*text);
  if (!states) {
    sink.error(DiagKind::kAttr, cat("metadata '", kKey, "'"),
               cat("must be OUT=IN,OUT2=IN2, got '", printable(*text), "'"));
    return {};
  }
  sink.note(DiagKind::kGraph, cat("metadata '", kKey, "'"),
            cat("is taken as --state: ", printable(*text)));
  return std::move(*states);
}

// A user who has not heard of --state would keep the states in arrays. Says nothing where a name
// cannot be typed as it is.
void suggest_states(const Graph& graph, Sink& sink) {
  constexpr std::size_t kMostTyped = 200;
  std::string options;
  for (const StateRequest& each : likely_states(graph)) {
    const std::string text = cat(each.output, "=", each.input);
    const std::string word = shell_word(text);
    const auto parsed = parse_state(text);
    if (text.size() > kMostTyped || word.find(text) == std::string::npos || !parsed ||
        parsed->input != each.input) {
      return;
    }
    options += cat(" --state ", word);
  }
  if (options.empty()) return;
  sink.note(
      DiagKind::kGraph, "",
      cat("some outputs look like the next values of inputs; to keep them between inferences:",
          options));
}

StateInputs inputs_of(const std::vector<StateRequest>& requests) {
  StateInputs out;
  for (const StateRequest& request : requests) out.names.insert(request.input);
  return out;
}

// What compiling one network needs to know of it afterwards.
struct Compiled {
  std::unique_ptr<Program> program;
  std::unique_ptr<Graph> graph;
};

// Up to the audit: null, or planned and complete except for its origin.
Compiled compile_unaudited(std::string_view model, const CompileOptions& options,
                           const IsaTraits& isa, Sink& sink, const GraphEdit& edit) {
  Compiled out;
  const std::vector<StateRequest> requests = requested_states(model, options, sink);
  StateInputs states = inputs_of(requests);
  out.graph = load_graph_with(model, options, states, sink);
  if (out.graph == nullptr) return {};
  if (edit) edit(*out.graph);
  for (const auto& [name, tensor] : options.initial_states)
    states.initial.insert_or_assign(name, tensor);
  const std::vector<StateLink> links = link_states(*out.graph, requests, states.initial, sink);
  if (sink.has_errors()) return {};
  if (requests.empty()) suggest_states(*out.graph, sink);
  out.program = compile_within(
      *out.graph, options, isa,
      [&](const Graph& from, const Way& way, Sink& own) {
        std::unique_ptr<Program> program = generate(from, options, isa, way, own);
        for (const StateLink& link : links) {
          if (program == nullptr) break;
          keep_in_state(*program, link.output, link.input, link.initial);
        }
        return program;
      },
      estimated_flash, sink);
  if (out.program == nullptr) return {};
  check_macs(*out.program, *out.graph, sink);
  return out;
}

// Audits, and says where it comes from. Null after an error.
std::unique_ptr<Program> finished(Compiled compiled, std::string_view model,
                                  const CompileOptions& options, const IsaTraits& isa, Sink& sink) {
  std::unique_ptr<Program> program = std::move(compiled.program);
  if (program != nullptr && !sink.has_errors()) audit_all(*program, compiled.graph->limits, sink);
  if (program == nullptr || sink.has_errors()) return nullptr;
  warn_of_wrapping(program->variants.empty() ? *program : program->variants.front(), sink);
  name_origin(*program, digest_of(model, *compiled.graph), canonical_options(options, isa.name));
  if (!isa.float_macro.empty()) program->needs_floats = needs_floats(*program);
  note_unused(options.tuning, *program, sink);
  return program;
}

// Of one --dim: each is compiled.
constexpr std::int64_t kMostSizes = 1024;

// What there is no code for at several sizes; each speaks of one network.
void refuse_with_sizes(const CompileOptions& options, const IsaTraits& isa, bool has_states,
                       Sink& sink) {
  const SizeRange& range = options.bounds.front();
  const std::string symbol = printable(range.symbol);
  const auto refuse = [&](bool refused, const std::string& what) {
    if (!refused) return;
    sink.error(DiagKind::kUnsupported, {},
               cat("code for all sizes of '", symbol, "' cannot have ", what, "; --dim ", symbol,
                   "=N makes code for one, which can"));
  };
  if (options.bounds.size() > 1) {
    sink.error(DiagKind::kUnsupported, {},
               cat("only one size can have a bound: fix '", printable(options.bounds[1].symbol),
                   "' with --dim ", printable(options.bounds[1].symbol), "=N"));
  }
  if (options.import.dims.contains(range.symbol)) {
    sink.error(DiagKind::kUnsupported, {},
               cat("--dim gives '", symbol, "' a bound and also one size: leave out one of them"));
  }
  refuse(is_multi(isa.name), cat("the target ", isa.name));
  refuse(options.threads > 1, "several threads");
  refuse(has_states, "a state between inferences");
  refuse(options.arena_limit || options.flash_limit, "a limit of arena or flash");
  if (range.count() > kMostSizes) {
    sink.error(
        DiagKind::kLimit, {},
        cat("--dim asks for ", range.count(), " sizes of '", symbol,
            "', each of which is compiled, so compiling takes as long as all of them; at most ",
            kMostSizes, " are possible, as --dim '", range.most - kMostSizes + 1, "<=", symbol,
            "<=", range.most, "'; --dim ", symbol, "=N makes code for one"));
  }
}

// Which of the sizes it was; the larger ones compile.
void report_of_size(const SizeRange& range, std::int64_t size, const Sink& own, Sink& sink) {
  const std::string symbol = printable(range.symbol);
  for (Diagnostic each : own.sorted()) {
    if (each.severity != Severity::kError) continue;
    each.message = cat("with ", symbol, " = ", size, ": ", each.message);
    if (size < range.most)
      each.message += cat("; --dim '", size + 1, "<=", symbol, "<=", range.most, "' leaves it out");
    sink.report(std::move(each));
  }
}

std::unique_ptr<Program> compile_sizes(std::string_view model, const CompileOptions& options,
                                       const IsaTraits& isa, Sink& sink) {
  refuse_with_sizes(options, isa, !requested_states(model, options, sink).empty(), sink);
  if (sink.has_errors()) return nullptr;
  const SizeRange& range = options.bounds.front();
  CompileOptions single = options;
  single.bounds.clear();
  single.tuning.for_all_sizes = true;
  SizeMerger merger(range, options.import.limits);
  Compiled all;
  for (std::int64_t size = range.most; size >= range.least; --size) {
    single.import.dims.insert_or_assign(range.symbol, size);
    Sink own;
    Compiled one = compile_unaudited(model, single, isa, own, {});
    if (one.program != nullptr && !own.has_errors()) merger.add(size, std::move(one.program), own);
    if (own.has_errors()) {
      report_of_size(range, size, own, sink);
      return nullptr;
    }
    if (size < range.most) continue;
    for (Diagnostic& each : own.sorted()) sink.report(std::move(each));
    all.graph = std::move(one.graph);
  }
  all.program = merger.finish(sink);
  return finished(std::move(all), model, options, isa, sink);
}

}  // namespace

std::unique_ptr<Graph> load_graph(std::string_view model, const CompileOptions& options,
                                  Sink& sink) {
  StateInputs states = inputs_of(requested_states(model, options, sink));
  return load_graph_with(model, options, states, sink);
}

std::unique_ptr<Program> compile(std::string_view model, const CompileOptions& options,
                                 Sink& sink) {
  return compile(model, options, sink, {});
}

std::unique_ptr<Program> compile(std::string_view model, const CompileOptions& options, Sink& sink,
                                 const GraphEdit& edit) {
  const IsaTraits* const isa = find_target(options.target);
  if (isa == nullptr) {
    sink.error(DiagKind::kUnsupported, {},
               cat("there is no target '", printable(options.target), "'"));
    return nullptr;
  }
  if (is_multi(isa->name) && options.threads > 1) {
    sink.error(DiagKind::kUnsupported, {},
               cat("the target ", isa->name, " has code for one thread only"));
    return nullptr;
  }
  if (!options.bounds.empty()) {
    ETCH_CHECK(!edit);
    return compile_sizes(model, options, *isa, sink);
  }
  return finished(compile_unaudited(model, options, *isa, sink, edit), model, options, *isa, sink);
}

const Program& variant_for_this_cpu(const Program& program) {
  for (const Program& variant : program.variants) {
    if (target_runs_here(variant.isa.name)) return variant;
  }
  // Emulated CPUs have what the best needs.
  return program.variants.empty() ? program : program.variants.front();
}

}  // namespace etch
