// Mutations of nodes, wiring, inputs, outputs and versions; see mutations.h.
#include <string>

#include "fuzz/mutations.h"
#include "fuzz/mutator.h"

namespace etch::fuzz {

namespace {

template <class Field>
int some(const Field& field, Random& random) {
  return random.below(field.size());
}

void set_type(onnx::ValueInfoProto& info, int type, const Dims& dims, Random& random) {
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape()->clear_dim();
  for (const std::int64_t size : dims) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    if (random.one_in(12)) {
      dim.set_dim_param("N");
    } else {
      dim.set_dim_value(size);
    }
  }
}

Dims random_dims(Random& random) {
  Dims dims;
  for (int i = random.pick({0, 1, 2, 3, 4, 4, 5}); i > 0; --i)
    dims.push_back(random.one_in(20) ? random.integer() : random.size());
  return dims;
}

int random_type(Random& random) {
  return random.one_in(6) ? random.below(24)
                          : random.pick({kUint8, kInt8, kFloat, kInt32, kInt64, 9});
}

// Changes what is declared of an input, an output or an inner value.
void mutate_declaration(onnx::ValueInfoProto& info, Random& random) {
  if (random.one_in(8) || !info.type().has_tensor_type())
    return set_type(info, random_type(random), random_dims(random), random);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  auto& shape = *tensor.mutable_shape();
  switch (random.below(8)) {
    case 0:
      tensor.set_elem_type(random_type(random));
      break;
    case 1:
      shape.add_dim()->set_dim_value(random.size());
      break;
    case 2:
      if (shape.dim_size() > 0) shape.mutable_dim()->RemoveLast();
      break;
    case 3:
      tensor.clear_shape();
      break;
    case 4:
      if (shape.dim_size() > 1)
        shape.mutable_dim()->SwapElements(0, random.below(shape.dim_size()));
      break;
    default:
      if (shape.dim_size() > 0) {
        auto& dim = *shape.mutable_dim(random.below(shape.dim_size()));
        dim.set_dim_value(random.one_in(10) ? random.integer() : random.size());
      }
  }
}

// An initializer becomes an input, or the other way round.
void change_when_known(onnx::GraphProto& graph, Random& random) {
  if (random.one_in(2) && graph.initializer_size() > 0) {
    const int at = some(graph.initializer(), random);
    const onnx::TensorProto tensor = graph.initializer(at);
    graph.mutable_initializer()->DeleteSubrange(at, 1);
    auto& input = *graph.add_input();
    input.set_name(tensor.name());
    set_type(input, tensor.data_type(), {tensor.dims().begin(), tensor.dims().end()}, random);
  } else if (graph.input_size() > 0) {
    const int at = some(graph.input(), random);
    const onnx::ValueInfoProto input = graph.input(at);
    const Dims dims = known_dims(graph, input.name());
    graph.mutable_input()->DeleteSubrange(at, 1);
    auto& tensor = *graph.add_initializer();
    tensor.set_name(input.name());
    fill(tensor, input.type().tensor_type().elem_type(), dims, random);
  }
}

// Removes a node and lets its users read what it read.
void bypass(onnx::GraphProto& graph, Random& random) {
  const int at = some(graph.node(), random);
  const onnx::NodeProto node = graph.node(at);
  graph.mutable_node()->DeleteSubrange(at, 1);
  if (node.input_size() == 0 || node.output_size() == 0) return;
  for (auto& user : *graph.mutable_node()) {
    for (auto& input : *user.mutable_input()) {
      if (input == node.output(0)) input = node.input(0);
    }
  }
  for (auto& output : *graph.mutable_output()) {
    if (output.name() == node.output(0)) output.set_name(node.input(0));
  }
}

// A second node of the same kind, after the first or beside it.
void duplicate(onnx::GraphProto& graph, Random& random) {
  const int at = some(graph.node(), random);
  onnx::NodeProto node = graph.node(at);
  if (node.output_size() == 0) return;
  const std::string before = node.output(0);
  const std::string after = fresh_name(random);
  const bool behind = node.input_size() > 0 && random.one_in(2);
  if (behind) node.set_input(0, before);
  node.set_output(0, after);
  for (int i = 1; i < node.output_size(); ++i) node.set_output(i, fresh_name(random));
  if (behind) replace_one_use(graph, before, after, graph.node_size(), random);
  if (!behind) graph.add_output()->set_name(after);
  graph.add_node()->Swap(&node);
  for (int i = graph.node_size() - 1; i > at + 1; --i) graph.mutable_node()->SwapElements(i, i - 1);
}

std::string hostile_name(int number, Random& random) {
  const char* const text = random.pick({"*/ int evil(void){} /*", "\";}", "\n#error ", "\\", "?\?/",
                                        "{{ }}", ")\"", "</script>", "\xE2\x80\xAE", "$int", "a b",
                                        "../../x", "%s%n", "'", "<!--", "&amp;"});
  return std::string(kHostileMark) + std::to_string(number) + text;
}

}  // namespace

std::string fresh_name(Random& random) { return "v" + std::to_string(random.below(1000000)); }

std::vector<std::string> value_names(const onnx::GraphProto& graph, Random& random) {
  std::vector<std::string> names;
  for (const auto& input : graph.input()) names.push_back(input.name());
  for (const auto& node : graph.node()) {
    for (const auto& output : node.output()) names.push_back(output);
  }
  if (names.empty() || random.one_in(6)) {
    for (const auto& tensor : graph.initializer()) names.push_back(tensor.name());
  }
  if (names.empty()) names.emplace_back("x");
  return names;
}

Dims known_dims(const onnx::GraphProto& graph, const std::string& name) {
  Dims dims;
  const auto read = [&](const onnx::ValueInfoProto& info) {
    if (info.name() != name) return;
    for (const auto& dim : info.type().tensor_type().shape().dim())
      dims.push_back(dim.dim_value() == 0 ? 1 : dim.dim_value());
  };
  for (const auto& tensor : graph.initializer()) {
    if (tensor.name() == name) return {tensor.dims().begin(), tensor.dims().end()};
  }
  for (const auto& info : graph.input()) read(info);
  if (dims.empty()) {
    for (const auto& info : graph.value_info()) read(info);
  }
  return dims;
}

void replace_one_use(onnx::GraphProto& graph, const std::string& from, const std::string& to,
                     int end, Random& random) {
  std::vector<std::string*> uses;
  for (int i = 0; i < end && i < graph.node_size(); ++i) {
    for (auto& input : *graph.mutable_node(i)->mutable_input()) {
      if (input == from) uses.push_back(&input);
    }
  }
  for (auto& output : *graph.mutable_output()) {
    if (output.name() == from) uses.push_back(output.mutable_name());
  }
  if (uses.empty()) {
    graph.add_output()->set_name(to);
  } else {
    *random.of(uses) = to;
  }
}

void mutate_wiring(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = some_graph(model, random);
  if (graph.node_size() == 0) return;
  auto& node = *graph.mutable_node(some(graph.node(), random));
  const int inputs = node.input_size();
  const std::vector<std::string> names = value_names(graph, random);
  switch (random.below(8)) {
    case 0:
      node.add_input(random.of(names));
      break;
    case 1:
      if (inputs > 0) node.mutable_input()->RemoveLast();
      break;
    case 2:
      if (inputs > 0) node.set_input(random.below(inputs), "");
      break;
    case 3:
      if (inputs > 1)
        node.mutable_input()->SwapElements(random.below(inputs), random.below(inputs));
      break;
    case 4:
      node.add_output(fresh_name(random));
      break;
    case 5:
      if (node.output_size() > 0)
        node.set_output(random.below(node.output_size()), random.one_in(2) ? "" : random.of(names));
      break;
    default:
      if (inputs > 0) node.set_input(random.below(inputs), random.of(names));
  }
}

void mutate_nodes(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  if (graph.node_size() == 0) return;
  switch (random.below(6)) {
    case 0:
      return bypass(graph, random);
    case 1:
      graph.mutable_node()->DeleteSubrange(some(graph.node(), random), 1);
      break;
    case 2:
      graph.mutable_node()->SwapElements(some(graph.node(), random), some(graph.node(), random));
      break;
    default:
      return duplicate(graph, random);
  }
}

void mutate_interface(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  const std::vector<std::string> names = value_names(graph, random);
  switch (random.below(9)) {
    case 0:
      graph.add_output()->set_name(random.of(names));
      break;
    case 1:
      if (graph.output_size() > 0)
        graph.mutable_output()->DeleteSubrange(some(graph.output(), random), 1);
      break;
    case 2: {
      auto& info = *graph.add_value_info();
      info.set_name(random.of(names));
      set_type(info, random_type(random), random_dims(random), random);
      break;
    }
    case 3:
      if (graph.output_size() > 0)
        mutate_declaration(*graph.mutable_output(some(graph.output(), random)), random);
      break;
    case 4:
      return change_when_known(graph, random);
    case 5:
      if (graph.initializer_size() > 1) {
        auto& tensors = *graph.mutable_initializer();
        tensors[some(tensors, random)].mutable_name()->swap(
            *tensors[some(tensors, random)].mutable_name());
      }
      break;
    default:
      if (graph.input_size() > 0)
        mutate_declaration(*graph.mutable_input(some(graph.input(), random)), random);
  }
}

void mutate_versions(onnx::ModelProto& model, Random& random) {
  if (random.one_in(8)) {
    model.set_ir_version(random.one_in(3) ? random.integer() : 3 + random.below(12));
  } else if (random.one_in(8) || model.opset_import_size() == 0) {
    auto& import = *model.add_opset_import();
    import.set_domain(random.pick({"", "com.microsoft", "com.ms.internal.nhwc", "org.etch",
                                   "org.tensorflow", "ai.onnx", "ai.onnx.ml"}));
    import.set_version(1 + random.below(24));
  } else {
    auto& import = *model.mutable_opset_import(some(model.opset_import(), random));
    import.set_version(random.one_in(8) ? random.integer() : 7 + random.below(22));
  }
}

void make_names_hostile(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  int number = 0;
  const auto rename = [&](const std::string& from) {
    if (from.empty()) return;
    const std::string to = hostile_name(number++, random);
    const auto apply = [&](std::string* name) {
      if (*name == from) *name = to;
    };
    for (auto& node : *graph.mutable_node()) {
      for (auto& input : *node.mutable_input()) apply(&input);
      for (auto& output : *node.mutable_output()) apply(&output);
    }
    for (auto& tensor : *graph.mutable_initializer()) apply(tensor.mutable_name());
    for (auto* infos :
         {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
      for (auto& info : *infos) apply(info.mutable_name());
    }
  };
  for (const std::string& name : value_names(graph, random)) {
    if (name.find(kHostileMark) == std::string::npos) rename(std::string(name));
  }
  for (auto& node : *graph.mutable_node()) node.set_name(hostile_name(number++, random));
  graph.set_name(hostile_name(number++, random));
  model.set_producer_name(hostile_name(number, random));
}

}  // namespace etch::fuzz
