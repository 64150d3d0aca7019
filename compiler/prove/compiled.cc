// See compiled.h.
#include "compiler/prove/compiled.h"

#include <algorithm>
#include <sstream>

#include "compiler/base/observation.h"
#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/host/progress.h"
#include "compiler/import/file.h"
#include "compiler/import/import.h"
#include "compiler/program/integer_layouts.h"
#include "compiler/prove/product.h"
#include "compiler/prove/word_layer.h"
#include "compiler/stage/recording.h"

namespace etch::cli {

namespace {

// What was compiled again is what the folder was made of.
bool is_same(const Program& program, const ProofTask& task, Reporter& reporter) {
  if (program.model_sha256 != task.sha256) {
    reporter.io_error(task.model, cat("is not the model that the folder was made of (SHA-256 ",
                                      task.sha256, ")"));
  } else if (program.options != task.canonical) {
    reporter.io_error(task.folder.string(), cat("was made with other options:", task.canonical,
                                                "; these are:", program.options));
  }
  return !reporter.failed();
}

bool has_layers_of_16_bits(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, is_word_layer);
}

void compile_with_word_factors(const std::string& bytes, const CompileOptions& options,
                               Compiled& out) {
  for (const float factor : kWordFactors) {
    Sink silent;
    out.set_words.emplace_back(factor, compile(bytes, options, silent, [&](Graph& g) {
                                 for (Node& node : g.nodes) set_word_factor(node, factor);
                               }));
  }
}

// Of the graph's products of two tensors with 8 bits, by the node's index; others have none.
std::vector<std::vector<float>> factors_of_products(const Graph& graph) {
  std::vector<std::vector<float>> out;
  for (const Node& node : graph.nodes) {
    std::string why;
    std::vector<float>& here = out.emplace_back();
    if (layer_of(graph, node, why)) continue;
    why.clear();
    const auto product = run_time_product_of(graph, node, why);
    if (product && !product->shows_sums()) here = integer_factors_for(*product);
  }
  return out;
}

// Whether the node's code shifts its sums alone. Scales that are powers of two do not decide that:
// a bias near the end of int32 leaves no room for it.
bool shifts_to_even(const Program& program, const Node& node) {
  return std::ranges::any_of(program.steps, [&](const std::unique_ptr<Step>& step) {
    return step->node == node.index && !step->requantized.empty() &&
           std::ranges::all_of(step->requantized, [](const RequantizedChannel& channel) {
             return channel.form.shifts_to_even();
           });
  });
}

// For each node of the graph; layers and products of others have none of their own.
std::vector<float> factors_of_nodes(const Graph& graph, const Program& program) {
  std::vector<float> out;
  for (const Node& node : graph.nodes) {
    std::string why;
    const bool is_layer = layer_of(graph, node, why).has_value();
    why.clear();
    const auto product =
        is_layer ? std::optional<RunTimeProduct>() : run_time_product_of(graph, node, why);
    const bool scaled = product && !product->shows_sums();
    out.push_back(is_layer && shifts_to_even(program, node) ? kShiftFactor
                  : scaled                                  ? integer_factor(product->scale)
                                                            : kIntegerFactor);
  }
  return out;
}

void compile_with_product_factors(const std::string& bytes, const CompileOptions& options,
                                  const std::vector<float>& first, IntegerLayouts& layouts,
                                  Compiled& out) {
  const auto factors = factors_of_products(out.graph);
  std::size_t most = 0;
  for (const auto& each : factors) most = std::max(most, each.size());
  for (std::size_t i = 1; i < most; ++i) {
    Sink silent;
    layouts.repeat();
    out.set_products.push_back(compile(bytes, options, silent, [&](Graph& g) {
      for (std::size_t n = 0; n < g.nodes.size(); ++n)
        set_factor(g.nodes[n], i < factors[n].size() ? factors[n][i] : first[n]);
    }));
  }
}

void compile_with_integer_factor(const std::string& bytes, const CompileOptions& options,
                                 IntegerLayouts& layouts, Compiled& out) {
  const Observation<IntegerLayouts> repeating(layouts);
  Sink silent;
  const std::vector<float> factors = factors_of_nodes(out.graph, *out.program);
  layouts.repeat();
  out.set = compile(bytes, options, silent, [&](Graph& g) {
    for (std::size_t n = 0; n < g.nodes.size(); ++n) set_factor(g.nodes[n], factors[n]);
    out.set_graph = g;
  });
  layouts.repeat();
  out.set_and_tagged = compile(bytes, options, silent, [&](Graph& g) {
    for (std::size_t n = 0; n < g.nodes.size(); ++n) {
      set_factor(g.nodes[n], factors[n]);
      tag_bias(g, g.nodes[n]);
    }
  });
  compile_with_product_factors(bytes, options, factors, layouts, out);
}

}  // namespace

bool is_without_floats(const Step& step) { return !step.requantized.empty(); }

std::unique_ptr<Compiled> compile_all(const ProofTask& task, Reporter& reporter) {
  const Progress progress("compiling", 0, reporter);
  auto out = std::make_unique<Compiled>();
  const CompileOptions& options = task.compile;
  Sink sink;
  IntegerLayouts layouts;
  const auto bytes = read_model_file(task.model, options.import.limits, sink);
  if (bytes) {
    const Observation<OperandViewLog> listening(out->views);
    const Observation<IntegerLayouts> noting(layouts);
    out->program = compile(*bytes, options, sink, [&](Graph& g) { out->graph = g; });
  }
  reporter.diagnostics(sink, task.model);
  if (out->program == nullptr || !is_same(*out->program, task, reporter)) return nullptr;
  Sink silent;
  out->tagged = compile(*bytes, options, silent, [](Graph& g) {
    for (Node& node : g.nodes) {
      if (!tag_bias(g, node)) tag_word_bias(g, node);
    }
  });
  out->doubled = compile(*bytes, options, silent, [](Graph& g) {
    for (Node& node : g.nodes) double_scale(node);
  });
  const auto without_floats = [](const auto& step) { return is_without_floats(*step); };
  if (std::ranges::any_of(out->program->steps, without_floats))
    compile_with_integer_factor(*bytes, options, layouts, *out);
  if (has_layers_of_16_bits(out->graph)) compile_with_word_factors(*bytes, options, *out);
  if (auto file = import_model(*bytes, options.import, silent)) out->file = std::move(*file);
  return out;
}

Step* step_named(const Program* program, const std::string& name) {
  if (program == nullptr) return nullptr;
  for (const auto& step : program->steps) {
    if (step->name == name) return step.get();
  }
  return nullptr;
}

std::string statements_of(Step& step, const Program& program) {
  std::vector<decltype(ConstantArray::owner)> owners;
  for (ConstantArray& each : step.constants) owners.push_back(std::exchange(each.owner, {}));
  std::istringstream lines(nameless_code(step, program.isa));
  for (std::size_t i = 0; i < owners.size(); ++i) step.constants[i].owner = owners[i];
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || line.compare(first, 2, "//") == 0) continue;
    out += line + "\n";
  }
  return out;
}

}  // namespace etch::cli
