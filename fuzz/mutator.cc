// See mutator.h. What to change is drawn here; the changes are in mutate_*.cc.
#include "fuzz/mutator.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "fuzz/mutations.h"

// libFuzzer's own mutator of bytes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace etch::fuzz {

namespace {

bool parse(std::span<const std::uint8_t> bytes, onnx::ModelProto& model) {
  return bytes.size() <= INT_MAX &&
         model.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Writes the model to `out`; 0 if it has no room there.
std::size_t write(const onnx::ModelProto& model, std::span<std::uint8_t> out) {
  const std::size_t size = model.ByteSizeLong();
  if (size > out.size() || size > INT_MAX) return 0;
  return model.SerializePartialToArray(out.data(), static_cast<int>(size)) ? size : 0;
}

// Where there is no graph yet: one input.
void begin(onnx::ModelProto& model) {
  model.set_ir_version(8);
  auto& import = *model.add_opset_import();
  import.set_domain("");
  import.set_version(13);
  auto& input = *model.mutable_graph()->add_input();
  input.set_name("x");
  auto& tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(kUint8);
  for (const int size : {1, 3, 5, 5}) tensor.mutable_shape()->add_dim()->set_dim_value(size);
}

void mutate_some_node(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = some_graph(model, random);
  if (graph.node_size() == 0) return add_operator(model, random);
  mutate_attribute(*graph.mutable_node(random.below(graph.node_size())), random);
}

void mutate_some_constant(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  if (graph.initializer_size() == 0) return add_operator(model, random);
  mutate_tensor(*graph.mutable_initializer(random.below(graph.initializer_size())), random);
}

// Other options; see options.h.
void mutate_choices(onnx::ModelProto& model, Random& random) {
  constexpr std::size_t kMost = 20;
  std::string& choices = *model.mutable_doc_string();
  if (random.one_in(4)) choices.clear();
  choices.resize(kMost, '\0');
  choices[random.one_in(2) ? 0 : static_cast<std::size_t>(random.below(kMost))] =
      static_cast<char>(random.below(128));
}

void change(onnx::ModelProto& model, Random& random) {
  const int draw = random.below(100);
  if (draw < 22) return mutate_some_node(model, random);
  if (draw < 46) return mutate_some_constant(model, random);
  if (draw < 58) return mutate_interface(model, random);
  if (draw < 66) return mutate_wiring(model, random);
  if (draw < 74) return mutate_nodes(model, random);
  if (draw < 82) return add_operator(model, random);
  if (draw < 83) return add_packed_product(model, random);
  if (draw < 86) return enclose(model, random);
  if (draw < 88) return change_operator(model, random);
  if (draw < 90) return mutate_versions(model, random);
  if (draw < 92) return make_names_hostile(model, random);
  mutate_choices(model, random);
}

// The latest models that were accepted, one in each place.
constexpr int kAccepted = 1024;
std::vector<std::string>& accepted() {
  static std::vector<std::string> models;
  return models;
}

// All names of `graph` with a prefix that keeps them apart from another graph's.
void prefix_names(onnx::GraphProto& graph, const std::string& prefix) {
  const auto apply = [&](std::string* name) {
    if (!name->empty()) name->insert(0, prefix);
  };
  for (auto& node : *graph.mutable_node()) {
    for (auto& input : *node.mutable_input()) apply(&input);
    for (auto& output : *node.mutable_output()) apply(&output);
  }
  for (auto& tensor : *graph.mutable_initializer()) apply(tensor.mutable_name());
  for (auto* infos : {graph.mutable_input(), graph.mutable_output()}) {
    for (auto& info : *infos) apply(info.mutable_name());
  }
}

void append(onnx::ModelProto& model, onnx::ModelProto& other, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::GraphProto& added = *other.mutable_graph();
  prefix_names(added, "w" + std::to_string(random.below(1000)) + "_");
  for (auto& tensor : *added.mutable_initializer()) graph.add_initializer()->Swap(&tensor);
  const std::vector<std::string> values = value_names(graph, random);
  for (auto& input : *added.mutable_input()) {
    if (random.one_in(5)) {
      graph.add_input()->Swap(&input);
      continue;
    }
    const std::string& value = random.of(values);
    for (auto& node : *added.mutable_node()) {
      for (auto& name : *node.mutable_input()) {
        if (name == input.name()) name = value;
      }
    }
  }
  for (auto& node : *added.mutable_node()) graph.add_node()->Swap(&node);
  for (auto& output : *added.mutable_output()) graph.add_output()->Swap(&output);
  for (const auto& import : other.opset_import()) {
    const bool known =
        std::any_of(model.opset_import().begin(), model.opset_import().end(),
                    [&](const auto& each) { return each.domain() == import.domain(); });
    if (!known) model.add_opset_import()->CopyFrom(import);
  }
}

}  // namespace

void remember_accepted(std::string_view model) {
  static Random random(1);
  std::vector<std::string>& models = accepted();
  if (models.size() < kAccepted) {
    models.emplace_back(model);
  } else {
    models[static_cast<std::size_t>(random.below(kAccepted))] = model;
  }
}

std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  Random random(seed);
  onnx::ModelProto model;
  if (!accepted().empty() && random.one_in(2)) {
    model.ParsePartialFromString(random.of(accepted()));
  } else if (!parse({data, size}, model)) {
    model.Clear();
  }
  if (!model.has_graph()) begin(model);
  if (random.one_in(200)) return LLVMFuzzerMutate(data, size, max_size);
  for (int i = random.pick({1, 1, 1, 2, 3, 5}); i > 0; --i) change(model, random);
  if (!random.one_in(4)) repair(model, random);
  const std::size_t written = write(model, {data, max_size});
  return written != 0 ? written : size;
}

std::size_t cross_over(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second,
                       std::span<std::uint8_t> out, unsigned seed) {
  Random random(seed);
  onnx::ModelProto model;
  onnx::ModelProto other;
  if (!parse(first, model) || !parse(second, other) || !model.has_graph() || !other.has_graph())
    return 0;
  append(model, other, random);
  if (!random.one_in(4)) repair(model, random);
  return write(model, out);
}

}  // namespace etch::fuzz
