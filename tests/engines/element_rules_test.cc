// What operators declare about their elements (OpDef::elements) against their reference functions,
// node by node in all recorded models and many made ones. Every operator that declares something
// must have been met. This can only find a wrong declaration; nothing else derives from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/resolve.h"
#include "tests/support/cases.h"
#include "tests/support/function_cases.h"
#include "tests/support/model_builder.h"
#include "tests/support/move_cases.h"
#include "tests/support/paths.h"
#include "tests/support/place_cases.h"
#include "tests/support/recorded_cases.h"
#include "tests/support/select_cases.h"
#include "tests/support/table_cases.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Arguments = std::vector<std::optional<Tensor>>;  // per input of a node; absent: omitted

std::vector<Tensor> results_of(const Node& node, const Arguments& arguments) {
  std::vector<const Tensor*> inputs;
  inputs.reserve(arguments.size());
  for (const auto& each : arguments) inputs.push_back(each ? &*each : nullptr);
  return node.op->reference(node, inputs);
}

std::size_t element_bytes(const Tensor& tensor) {
  return tensor.bytes().size() / static_cast<std::size_t>(tensor.size());
}

void exchange(Tensor& tensor, std::size_t i, std::size_t j) {
  const std::size_t size = element_bytes(tensor);
  const auto bytes = tensor.mutable_bytes();
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(i * size),
                   bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                   bytes.begin() + static_cast<std::ptrdiff_t>(j * size));
}

bool equal_at(const Tensor& a, const Tensor& b, std::size_t i) {
  const std::size_t size = element_bytes(a);
  return std::memcmp(a.bytes().data() + i * size, b.bytes().data() + i * size, size) == 0;
}

// Exchanging two elements of one input that has the output's shape changes these two places at
// most; exchanging them in all inputs, the others being scalars, exchanges the results.
void expect_pointwise(const Node& node, const Arguments& arguments, Dice& dice) {
  const Tensor before = results_of(node, arguments).at(0);
  if (before.size() < 2) return;
  const auto i = static_cast<std::size_t>(dice.between(0, before.size() - 1));
  const auto j = static_cast<std::size_t>(dice.between(0, before.size() - 1));
  bool one_function = true;
  Arguments all = arguments;
  for (std::size_t input = 0; input < arguments.size(); ++input) {
    if (!arguments[input]) continue;
    one_function &= arguments[input]->shape() == before.shape() || arguments[input]->size() == 1;
    if (arguments[input]->shape() != before.shape()) continue;
    Arguments one = arguments;
    exchange(*one[input], i, j);
    exchange(*all[input], i, j);
    const Tensor after = results_of(node, one).at(0);
    for (std::size_t place = 0; place < static_cast<std::size_t>(before.size()); ++place) {
      if (place == i || place == j) continue;
      ASSERT_TRUE(equal_at(before, after, place)) << node.op_type << " changes at " << place;
    }
  }
  if (!one_function) return;
  Tensor exchanged = before;
  exchange(exchanged, i, j);
  EXPECT_EQ(results_of(node, all).at(0), exchanged) << node.op_type;
}

Tensor with_other_bits(Tensor tensor) {
  for (std::byte& byte : tensor.mutable_bytes()) byte ^= std::byte{1};
  return tensor;
}

// Whatever becomes of the elements of input 0 becomes of those of the outputs.
void expect_moved(const Node& node, const Arguments& arguments) {
  const std::vector<Tensor> before = results_of(node, arguments);
  Arguments changed = arguments;
  changed[0] = with_other_bits(*changed[0]);
  const std::vector<Tensor> after = results_of(node, changed);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i], with_other_bits(before[i])) << node.op_type;
}

using Seen = std::map<const OpDef*, std::set<ElementRule>>;

void expect_declared(const Case& each, Dice& dice, Seen& seen) {
  Sink sink;
  std::optional<Graph> graph = import_model(each.model, {}, sink);
  if (graph) resolve(*graph, sink);
  ASSERT_TRUE(graph && !sink.has_errors()) << each.name << ": " << errors_of(sink);
  std::vector<Tensor> values(graph->values.size());
  for (std::size_t i = 0; i < graph->inputs.size(); ++i)
    values[static_cast<std::size_t>(graph->inputs[i])] = each.inputs.at(i);
  // The values of a loop's body are others in each trip.
  const auto has_reference = [](const Node& node) { return node.op->reference != nullptr; };
  if (!std::ranges::all_of(graph->nodes, has_reference)) return;
  for (const Node& node : graph->nodes) {
    Arguments arguments;
    for (const ValueId id : node.inputs) {
      arguments.emplace_back();
      if (id == kNoValue) continue;
      const auto& constant = graph->value(id).constant;
      arguments.back() = constant ? *constant : values[static_cast<std::size_t>(id)];
    }
    const std::vector<Tensor> results = results_of(node, arguments);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue && i < results.size())
        values[static_cast<std::size_t>(node.outputs[i])] = results[i];
    }
    const ElementRule rule = element_rule(node);
    const LayoutRule layout = node.op->layout ? node.op->layout(node) : LayoutRule::kRowMajor;
    if (layout == LayoutRule::kRelabel || layout == LayoutRule::kPart) {
      EXPECT_EQ(rule, ElementRule::kMoved) << "what hoist_relabel and views of parts rely on";
    }
    seen[node.op].insert(rule);
    if (rule == ElementRule::kPointwise) expect_pointwise(node, arguments, dice);
    if (rule == ElementRule::kMoved) expect_moved(node, arguments);
  }
}

std::vector<Case> recorded_models() {
  std::vector<Case> out;
  const auto root = std::filesystem::path(source_dir()) / "tests/data";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "cases.tsv") continue;
    for (RecordedCase& each : read_recorded_cases(entry.path().parent_path()))
      out.push_back(std::move(each.model));
  }
  return out;
}

void add(std::vector<Case>& to, std::vector<Case> more) {
  std::ranges::move(more, std::back_inserter(to));
}

// x in range [-1, 1] as quint8 and back, as TensorFlow does it.
Case tensorflow_pair() {
  ModelBuilder model(13);
  model.opset("org.tensorflow", 1);
  model.input("x", DType::kF32, {2, 3});
  model.initializer("low", f32({}, {-1})).initializer("high", f32({}, {1}));
  model.node("QuantizeV2", {"x", "low", "high"}, {"q"},
             {{"T", std::string("quint8")}, {"mode", std::string("MIN_COMBINED")}},
             "org.tensorflow");
  model.node("Dequantize", {"q", "low", "high"}, {"y"}, {{"mode", std::string("MIN_COMBINED")}},
             "org.tensorflow");
  model.output("y");
  return {"tensorflow", model.bytes(), {f32({2, 3}, {-1, -0.5F, 0, 0.25F, 0.9F, 3})}};
}

// Operators that the other models have none of.
Case relabelled() {
  ModelBuilder model(13);
  model.input("x", DType::kU8, {1, 2, 3});
  model.initializer("axis", s64({1}, {0}));
  model.node("Identity", {"x"}, {"a"}).node("Squeeze", {"a", "axis"}, {"b"});
  model.node("Unsqueeze", {"b", "axis"}, {"y"}).output("y");
  return {"relabelled", model.bytes(), {u8({1, 2, 3}, {1, 2, 3, 4, 5, 6})}};
}

Case floats_as_their_bits() {
  ModelBuilder model(26);
  model.input("x", DType::kF32, {2, 3});
  model.node("BitCast", {"x"}, {"y"}, {{"to", std::int64_t{6}}}).output("y");
  return {"bits", model.bytes(), {f32({2, 3}, {-1, -0.5F, 0, 0.25F, 0.9F, 3})}};
}

// The sum or the product of two tensors: both operators have the same inputs.
Case two_of_words(const char* op) {
  ModelBuilder model(13);
  model.opset("org.etch", 1);
  const auto one = [](float value) { return Tensor::of<float>({}, {value}); };
  const Tensor zero = Tensor::of<std::int16_t>({}, {3});
  model.input("a", DType::kS16, {2, 3}).input("b", DType::kS16, {2, 3});
  model.initializer("a_scale", one(0.5F)).initializer("b_scale", one(0.75F));
  model.initializer("y_scale", one(0.625F)).initializer("zero", zero);
  model.node(op, {"a", "a_scale", "zero", "y_scale", "zero", "b", "b_scale", "zero"}, {"y"}, {},
             "org.etch");
  model.output("y");
  const Tensor a = Tensor::of<std::int16_t>({2, 3}, {-32768, -5, 0, 7, 900, 32767});
  const Tensor b = Tensor::of<std::int16_t>({2, 3}, {12, 5, -6, 1, -20000, 32767});
  return {op, model.bytes(), {a, b}};
}

TEST(ElementRules, HoldForTheReferenceFunctionsInAllModels) {
  std::vector<Case> cases = recorded_models();
  EXPECT_GT(cases.size(), 100U);
  for (auto& more : {activation_tables(30), quantized_choices(30), float_chains(60), move_cases(40),
                     select_cases(30), resize_cases(60), antialias_cases(30), function_cases(2),
                     power_cases(10), variadic_cases(10), other_operators(10), place_chains(60)}) {
    add(cases, more);
  }
  cases.push_back(tensorflow_pair());
  cases.push_back(relabelled());
  cases.push_back(floats_as_their_bits());
  cases.push_back(two_of_words("QLinearSum16"));
  cases.push_back(two_of_words("QLinearMul16"));
  add(cases, narrow_parts());
  Dice dice(1);
  Seen seen;
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    expect_declared(each, dice, seen);
    if (testing::Test::HasFailure()) return;
  }
  for (const OpDef* op : all_ops())
    EXPECT_TRUE(op->elements == nullptr || seen.contains(op)) << op->folder << " was never met";
}

TEST(ElementRules, OperatorsThatMixElementsDeclareNothing) {
  for (const Case& each : mixing_operators()) {
    Sink sink;
    std::optional<Graph> graph = import_model(each.model, {}, sink);
    ASSERT_TRUE(graph);
    resolve(*graph, sink);
    ASSERT_FALSE(sink.has_errors()) << errors_of(sink);
    EXPECT_EQ(element_rule(graph->nodes.at(1)), ElementRule::kMixed) << each.name;
  }
}

}  // namespace
}  // namespace etch
