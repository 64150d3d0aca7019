// From a folder and its model to the proof of every step; see prove.h.
#include "compiler/prove/prove.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/host/progress.h"
#include "compiler/import/file.h"
#include "compiler/prove/compiled.h"
#include "compiler/prove/conv_sums.h"
#include "compiler/prove/product.h"
#include "compiler/prove/runner.h"
#include "compiler/stage/recording.h"

namespace etch::cli {

namespace {
namespace fs = std::filesystem;

// Multiplications of one part: seconds here, a minute in an emulator.
constexpr double kWorkHere = 2e10, kWorkEmulated = 1e10;

// Of a node several steps can be made, and several nodes can be of one place in the file: the
// layers with an index are steps with accumulators of it, in order.
std::vector<const Node*> layers_at(const Graph& graph, int index) {
  std::vector<const Node*> out;
  std::string why;
  for (const Node& node : graph.nodes) {
    if (node.index == index && layer_of(graph, node, why)) out.push_back(&node);
  }
  return out;
}

std::vector<const Step*> sums_at(const Program& program, int index) {
  std::vector<const Step*> out;
  for (const auto& step : program.steps) {
    if (step->node == index && step->accumulators) out.push_back(step.get());
  }
  return out;
}

const Node* node_of(const Graph& graph, const Program& program, const Step& step) {
  const std::vector<const Node*> nodes = layers_at(graph, step.node);
  const std::vector<const Step*> steps = sums_at(program, step.node);
  const auto at = std::find(steps.begin(), steps.end(), &step);
  if (at == steps.end() || nodes.size() != steps.size()) return nullptr;
  return nodes[static_cast<std::size_t>(at - steps.begin())];
}

// Multiplications of integers.
std::int64_t products_of(const Step& step) { return step.macs - step.float_macs; }

// The tensor of the file that is these weights, byte for byte.
std::string origin_of(const Graph& file, const Tensor& weights) {
  for (const Value& value : file.values) {
    if (value.constant == nullptr || value.constant->size() != weights.size()) continue;
    const auto a = value.constant->bytes(), b = weights.bytes();
    if (std::equal(a.begin(), a.end(), b.begin(), b.end())) return printable(value.name);
  }
  return {};
}

// Why a step is no layer: by the operator of its products, if it has any.
std::string why_no_layer(const Graph& graph, const Step& step) {
  if (products_of(step) == 0) return cat(step.kind, " step: no sums of products");
  std::string why;
  for (const Node& node : graph.nodes) {
    if (node.index == step.node && !layer_of(graph, node, why)) return why;
  }
  return "its products have another form";
}

// Of a step whose requantization is without floats.
ConstantWords integer_words(const Compiled& all, Step& step, const Node& node, std::string& why) {
  Step* const set = step_named(all.set.get(), step.name);
  const Step* const tagged = step_named(all.set_and_tagged.get(), step.name);
  const auto at = static_cast<std::size_t>(&node - all.graph.nodes.data());
  std::optional<Layer> layer;
  if (at < all.set_graph.nodes.size())
    layer = layer_of(all.set_graph, all.set_graph.nodes[at], why);
  const bool same = layer && set != nullptr && tagged != nullptr &&
                    statements_of(step, *all.program) == statements_of(*set, *all.set);
  if (!same) why = "requantization without floats, and its code is another one for other factors";
  if (!why.empty()) return {};
  return find_words_without_floats(step, *set, *tagged, layer->geometry.out_channels,
                                   layer->scale.front(), why);
}

// The subject of a proof, or why there is none.
std::optional<Subject> subject_of(const Compiled& all, int index, std::optional<Layer>& layer,
                                  std::string& why) {
  Step& step = *all.program->steps[static_cast<std::size_t>(index)];
  const Node* const node = node_of(all.graph, *all.program, step);
  if (!step.accumulators) why = why_no_layer(all.graph, step);
  if (why.empty() && sums_at(*all.program, step.node).size() > 1 && node == nullptr)
    why = "several steps compute its node, in bands or parts";
  if (why.empty() && node == nullptr) why = why_no_layer(all.graph, step);
  if (why.empty()) layer = layer_of(all.graph, *node, why);
  Subject subject{layer ? &*layer : nullptr, &step, index, all.views.find(step), {}};
  const Step* const tagged = step_named(all.tagged.get(), step.name);
  const Step* const doubled = step_named(all.doubled.get(), step.name);
  if (why.empty() && (subject.views == nullptr || tagged == nullptr || doubled == nullptr))
    why = "it is generated otherwise with other constants";
  if (!why.empty()) return std::nullopt;
  subject.words = is_without_floats(step) ? integer_words(all, step, *node, why)
                                          : find_words(step, *tagged, *doubled, *layer, why);
  if (!why.empty()) return std::nullopt;
  return subject;
}

bool multiplies_two_tensors(const Step& step) {
  const auto has = [&](const char* name) {
    return std::ranges::any_of(step.operands, [&](const Operand& op) { return op.name == name; });
  };
  return products_of(step) > 0 && has("a") && has("b");
}

// Whether no other step multiplies for its node, which is an operator of this type.
bool is_alone_of(const Compiled& all, const Step& step, std::string_view op_type) {
  const auto multiplies = [&](const auto& each) {
    return each->node == step.node && products_of(*each) > 0;
  };
  const auto is_its_node = [&](const Node& node) {
    return node.index == step.node && node.op_type == op_type;
  };
  return products_of(step) > 0 && std::ranges::count_if(all.program->steps, multiplies) == 1 &&
         std::ranges::any_of(all.graph.nodes, is_its_node);
}

// Whether it is the only step that does, for a layer of 16 bits.
bool multiplies_16_bits(const Compiled& all, const Step& step) {
  return std::ranges::any_of(all.graph.nodes, [&](const Node& node) {
    return node.index == step.node && is_word_layer(node) && is_alone_of(all, step, node.op_type);
  });
}

// The only node that the step can be of, where both operands of its products arrive at run time.
std::optional<RunTimeProduct> run_time_product_at(const Compiled& all, const Step& step,
                                                  std::string& why) {
  const Node* found = nullptr;
  for (const Node& node : all.graph.nodes) {
    if (node.index != step.node || node.op_type.find("MatMul") == std::string::npos) continue;
    if (found != nullptr) why = "several nodes are at its place in the file";
    found = &node;
  }
  if (found == nullptr) why = "no product of two tensors";
  if (!why.empty()) return std::nullopt;
  return run_time_product_of(all.graph, *found, why);
}

// A step that fills the halo of what `reader` reads with a zero point known at run time.
bool fills_halo_for(const Step& step, const Step& reader) {
  const auto at_run_time = [](const Operand& operand) { return operand.name == "zero_point"; };
  const auto buffer_of_x = [](const Step& each) {
    const auto x = std::ranges::find(each.operands, "x", &Operand::name);
    return x == each.operands.end() ? -1 : x->buffer;
  };
  return step.kind == "halo" && std::ranges::any_of(step.operands, at_run_time) &&
         buffer_of_x(step) == buffer_of_x(reader);
}

// Those of the node that set or add what accumulators start from, with the one that multiplies; and
// what fills the halo of its input, which another node's step may have done.
void take_steps_of_node(const Program& program, ProductSubject& subject) {
  subject.steps.clear();
  subject.indices.clear();
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = *program.steps[i];
    const bool starts = std::ranges::any_of(
        step.operands, [](const Operand& operand) { return operand.name == "start"; });
    const bool of_node = step.node == subject.step->node && (&step == subject.step || starts);
    if (!of_node && !fills_halo_for(step, *subject.step)) continue;
    subject.steps.push_back(program.steps[i].get());
    subject.indices.push_back(static_cast<int>(i));
  }
}

// Of a product of two tensors whose requantization is without floats.
std::vector<FactorWords> integer_factor_words(const Compiled& all, int index,
                                              const RunTimeProduct& product, std::string& why) {
  Step& step = *all.program->steps[static_cast<std::size_t>(index)];
  const std::string statements = statements_of(step, *all.program);
  const std::vector<float> factors = integer_factors_for(product);
  std::vector<std::pair<float, const Step*>> sets;
  for (std::size_t i = 0; i < factors.size() && why.empty(); ++i) {
    const Program* const program = i == 0 ? all.set.get() : all.set_products[i - 1].get();
    Step* const set = step_named(program, step.name);
    sets.emplace_back(factors[i], set);
    if (set == nullptr || statements_of(*set, *program) != statements)
      why = "requantization without floats, and its code is another one for other factors";
  }
  if (!why.empty()) return {};
  auto out = find_factor_words(step, sets);
  if (out.empty()) why = "its constants hold factors in a form that is not known here";
  return out;
}

// Of a step that multiplies two tensors of the network.
void prove_run_time_product(const Compiled& all, int index, const ProofRunner& runner, double work,
                            StepProof& proof, Reporter& reporter) {
  const Step& step = *all.program->steps[static_cast<std::size_t>(index)];
  std::string& why = proof.not_proved;
  const std::optional<RunTimeProduct> product = run_time_product_at(all, step, why);
  proof.has_weights = product && product->weight_tensor != nullptr;
  if (!product) return;
  if (proof.has_weights) proof.weights_from = origin_of(all.file, *product->weight_tensor);
  const Step* const doubled = step_named(all.doubled.get(), step.name);
  ProductSubject subject{&*product, &step, {&step}, {index}, &all.views, {}, {}, {}};
  if (!product->weights.empty()) take_steps_of_node(*all.program, subject);
  if (why.empty() && (all.views.find(step) == nullptr || doubled == nullptr))
    why = "it is generated otherwise with other constants";
  if (!why.empty()) return;
  if (is_without_floats(step)) {
    subject.integer_words = integer_factor_words(all, index, *product, why);
    if (!why.empty()) return;
  } else {
    subject.factors = find_factors(step, *doubled);
  }
  const Progress progress(cat("proving ", step.name), 0, reporter);
  auto parts = prove_product(subject, runner, work, reporter, why);
  if (parts) proof.parts = std::move(*parts);
}

// Of the only step that multiplies for a ConvInteger.
void prove_sums_of_convolution(const Compiled& all, int index, const ProofRunner& runner,
                               double work, StepProof& proof, Reporter& reporter) {
  const Step& step = *all.program->steps[static_cast<std::size_t>(index)];
  std::string& why = proof.not_proved;
  std::optional<ConvSums> sums;
  for (const Node& node : all.graph.nodes) {
    if (node.index != step.node || node.op_type != "ConvInteger") continue;
    if (sums) why = "several nodes are at its place in the file";
    if (why.empty()) sums = conv_sums_of(all.graph, node, why);
  }
  proof.has_weights = sums.has_value();
  if (!why.empty() || !sums) return;
  proof.weights_from = origin_of(all.file, *sums->product.weight_tensor);
  ProductSubject subject{&sums->product, &step, {}, {}, &all.views, {}, {}, {}};
  take_steps_of_node(*all.program, subject);
  const Progress progress(cat("proving ", step.name), 0, reporter);
  auto parts = prove_conv_sums(*sums, subject, runner, work, reporter, why);
  if (parts) proof.parts = std::move(*parts);
}

// Of a layer of 16 bits: where its biases are, and its factors for the first of kWordFactors for
// which its code is the same.
void find_words_of_16_bits(const Compiled& all, int index, std::int64_t channels,
                           ProductSubject& subject, std::string& why) {
  Step& step = *all.program->steps[static_cast<std::size_t>(index)];
  const Step* const tagged = step_named(all.tagged.get(), step.name);
  if (tagged != nullptr) subject.biases = find_bias_words(step, *tagged, channels);
  for (const auto& [factor, program] : all.set_words) {
    Step* const set = step_named(program.get(), step.name);
    if (set == nullptr || statements_of(*set, *program) != statements_of(step, *all.program))
      continue;
    subject.integer_words = find_factor_words(step, {{factor, set}});
    break;
  }
  if (subject.biases.empty() || subject.integer_words.empty())
    why = "its biases or factors have a form that is not known here";
}

// Of the only step that multiplies for a layer of 16 bits.
void prove_word_layer(const Compiled& all, int index, const ProofRunner& runner, double work,
                      StepProof& proof, Reporter& reporter) {
  const Step& step = *all.program->steps[static_cast<std::size_t>(index)];
  std::string& why = proof.not_proved;
  std::optional<ConvSums> sums;
  for (const Node& node : all.graph.nodes) {
    if (node.index != step.node || !is_word_layer(node)) continue;
    if (sums) why = "several nodes are at its place in the file";
    if (why.empty()) sums = word_sums_of(all.graph, node, why);
  }
  if (!why.empty() || !sums) return;
  proof.weights_from = origin_of(all.file, *sums->product.weight_tensor);
  ProductSubject subject{&sums->product, &step, {&step}, {index}, &all.views, {}, {}, {}};
  find_words_of_16_bits(all, index, sums->layer.geometry.out_channels, subject, why);
  if (!why.empty()) return;
  const Progress progress(cat("proving ", step.name), 0, reporter);
  auto parts = prove_conv_sums(*sums, subject, runner, work, reporter, why);
  if (parts) proof.parts = std::move(*parts);
}

StepProof prove_step(const Compiled& all, int index, const ProofRunner& runner, double work,
                     Reporter& reporter) {
  const Step& step = *all.program->steps[static_cast<std::size_t>(index)];
  StepProof proof{step.name, step.origin, step.summary, products_of(step), {}, true, {}, {}};
  if (multiplies_two_tensors(step) || is_alone_of(all, step, "MatMulInteger")) {
    prove_run_time_product(all, index, runner, work, proof, reporter);
    return proof;
  }
  if (is_alone_of(all, step, "ConvInteger")) {
    prove_sums_of_convolution(all, index, runner, work, proof, reporter);
    return proof;
  }
  if (multiplies_16_bits(all, step)) {
    prove_word_layer(all, index, runner, work, proof, reporter);
    return proof;
  }
  std::optional<Layer> layer;
  const std::optional<Subject> subject = subject_of(all, index, layer, proof.not_proved);
  if (!subject) return proof;
  const std::optional<Places> places = places_of(*subject, proof.not_proved);
  if (!places) return proof;
  proof.weights_from = origin_of(all.file, *layer->weight_tensor);
  const Progress progress(cat("proving ", step.name), 0, reporter);
  Laboratory laboratory(*subject, *places, runner, work, reporter);
  proof.not_proved = laboratory.why_not();
  if (!proof.is_looked_at()) return proof;
  using Part = PhaseResult (Laboratory::*)();
  for (const Part part : {&Laboratory::products, &Laboratory::extremes, &Laboratory::thresholds,
                          &Laboratory::sums, &Laboratory::random}) {
    if (part == &Laboratory::sums && !layer->residual) continue;
    if (!reporter.failed()) proof.parts.push_back((laboratory.*part)());
  }
  return proof;
}

// Of those that are in both.
int differing_files(const Program& program, const ProofTask& task) {
  int out = 0;
  std::error_code error;
  for (const OutputFile& file : emit(program, task.emit)) {
    const fs::path there = task.folder / file.path;
    if (!file.path.starts_with(task.emit.name) || !fs::exists(there, error)) continue;
    Sink sink;
    if (read_file(there.string(), file.content.size(), "", sink) != file.content) ++out;
  }
  return out;
}

// The form of the folder, before anything is compiled.
bool accept_form(const ProofTask& task, Reporter& reporter) {
  if (task.emit.layout == FileLayout::kSingleFile)
    reporter.usage_error(
        "etch prove: generate without --single-file, which has no header of steps");
  if (task.emit.weights != WeightsForm::kEmbedded)
    reporter.usage_error("etch prove: generate with --weights embed, so that arrays have sizes");
  if (!task.emit.package.empty()) reporter.usage_error("etch prove: generate without --package");
  return !reporter.failed();
}

bool can_be_proved(const Program& program, const ProofTask& task, Reporter& reporter) {
  for (const std::string& name : task.layers) {
    if (step_named(&program, name) == nullptr)
      reporter.usage_error(cat("--layer: there is no step '", one_line(name), "'"));
  }
  if (!program.variants.empty())
    reporter.usage_error("etch prove: generate one target, not several");
  if (program.shares > 1) reporter.usage_error("etch prove: generate code for one thread");
  return !reporter.failed();
}

}  // namespace

bool StepProof::holds() const {
  return is_looked_at() && !parts.empty() && std::ranges::all_of(parts, &PhaseResult::good);
}

bool StepProof::complete() const {
  return holds() && std::ranges::all_of(parts, &PhaseResult::complete);
}

Verdict FolderProof::verdict() const {
  Verdict out = Verdict::kNothingProved;
  for (const StepProof& step : steps) {
    if (!step.is_looked_at()) continue;
    if (!step.holds()) return Verdict::kFail;
    out = Verdict::kPass;
  }
  return out;
}

std::optional<FolderProof> prove_folder(const ProofTask& task, Reporter& reporter) {
  if (!accept_form(task, reporter)) return std::nullopt;
  const std::unique_ptr<Compiled> all = compile_all(task, reporter);
  if (all == nullptr || !can_be_proved(*all->program, task, reporter)) return std::nullopt;
  const auto runner = ProofRunner::build(*all->program, task.folder, task.emit.name, reporter);
  if (runner == nullptr) return std::nullopt;
  FolderProof proof;
  proof.target = all->program->isa.name;
  proof.differing_files = differing_files(*all->program, task);
  const double usual = runner->emulated() ? kWorkEmulated : kWorkHere;
  for (std::size_t i = 0; i < all->program->steps.size(); ++i) {
    const std::string& name = all->program->steps[i]->name;
    const auto& wanted = task.layers;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    proof.steps.push_back(prove_step(*all, static_cast<int>(i), *runner,
                                     task.work > 0 ? task.work : usual, reporter));
    if (reporter.failed()) return std::nullopt;
  }
  return proof;
}

}  // namespace etch::cli
