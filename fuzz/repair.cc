// Repair of a mutated model up to what the importer wants: names made once and before their use,
// data as long as its shape says, versions in range. What operators want is left to chance. See
// mutations.h.
#include <algorithm>
#include <set>
#include <string>

#include "fuzz/mutations.h"

namespace etch::fuzz {

namespace {

template <class Field, class Keep>
void keep_if(Field& field, Keep keep) {
  int kept = 0;
  for (int i = 0; i < field.size(); ++i) {
    if (!keep(*field.Mutable(i))) continue;
    if (i != kept) field.SwapElements(i, kept);
    ++kept;
  }
  field.DeleteSubrange(kept, field.size() - kept);
}

void repair_versions(onnx::ModelProto& model) {
  if (model.ir_version() < 3 || model.ir_version() > 14) model.set_ir_version(8);
  std::set<std::string> seen;
  for (auto& import : *model.mutable_opset_import()) {
    if (import.domain() == "ai.onnx") import.clear_domain();
  }
  keep_if(*model.mutable_opset_import(),
          [&](const auto& import) { return seen.insert(import.domain()).second; });
  if (seen.count("") == 0) model.add_opset_import()->set_domain("");
  for (auto& import : *model.mutable_opset_import()) {
    const bool onnx = import.domain().empty();
    if (!onnx && import.domain() == "com.microsoft") import.set_version(1);
    if (import.version() < (onnx ? 7 : 1) || (onnx && import.version() > 28))
      import.set_version(onnx ? 13 : 1);
  }
}

std::int64_t numbers_in(const onnx::TensorProto& tensor) {
  return std::int64_t{tensor.float_data_size()} + tensor.int32_data_size() +
         tensor.int64_data_size() + tensor.double_data_size() + tensor.uint64_data_size() +
         tensor.string_data_size();
}

// Whether it may stay; new data where there is too much or too little.
bool repair_tensor(onnx::TensorProto& tensor, Random& random) {
  const Dims dims(tensor.dims().begin(), tensor.dims().end());
  std::int64_t count = 1;
  for (const std::int64_t size : dims) {
    if (size < 0 || size > 4096 || count > 4096) return false;
    count *= size;
  }
  const int bytes = bytes_of(tensor.data_type());
  if (dims.size() > 8 || bytes == 0 || bytes > 8 || tensor.data_type() == 17) return false;
  const bool raw = tensor.has_raw_data();
  const std::int64_t got =
      raw ? static_cast<std::int64_t>(tensor.raw_data().size()) / bytes : numbers_in(tensor);
  if (got == count && !(raw && numbers_in(tensor) > 0) && tensor.external_data_size() == 0 &&
      !tensor.has_segment())
    return true;
  fill(tensor, tensor.data_type(), dims, random);
  return true;
}

bool repair_input(onnx::ValueInfoProto& info) {
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  if (bytes_of(tensor.elem_type()) == 0 || bytes_of(tensor.elem_type()) > 8)
    tensor.set_elem_type(kUint8);
  auto& dims = *tensor.mutable_shape()->mutable_dim();
  while (dims.size() > 6) dims.RemoveLast();
  std::int64_t count = 1;
  for (auto& dim : dims) {
    const bool fixed = dim.value_case() == onnx::TensorShapeProto::Dimension::kDimValue;
    if (!fixed || dim.dim_value() < 0 || dim.dim_value() > 4096 || count * dim.dim_value() > 16384)
      dim.set_dim_value(1);
    count *= std::max<std::int64_t>(dim.dim_value(), 1);
  }
  return true;
}

void repair_nodes(onnx::GraphProto& graph, std::set<std::string>& made, Random& random);

// A body may read what is made before its node, and makes what nothing else makes.
bool repair_body(onnx::GraphProto& body, std::set<std::string>& made, Random& random) {
  body.clear_value_info();
  body.clear_sparse_initializer();
  const auto is_new = [&](const std::string& name) {
    return !name.empty() && made.insert(name).second;
  };
  keep_if(*body.mutable_initializer(),
          [&](auto& tensor) { return repair_tensor(tensor, random) && is_new(tensor.name()); });
  for (auto& input : *body.mutable_input()) {
    while (!is_new(input.name())) input.set_name(fresh_name(random));
  }
  repair_nodes(body, made, random);
  return true;
}

void repair_attributes(onnx::NodeProto& node, std::set<std::string>& made, Random& random) {
  using Proto = onnx::AttributeProto;
  std::set<std::string> seen;
  keep_if(*node.mutable_attribute(), [&](auto& attribute) {
    if (attribute.type() == Proto::GRAPH)
      return attribute.has_g() && seen.insert(attribute.name()).second &&
             repair_body(*attribute.mutable_g(), made, random);
    const bool known = attribute.type() == Proto::INT || attribute.type() == Proto::FLOAT ||
                       attribute.type() == Proto::STRING || attribute.type() == Proto::INTS ||
                       attribute.type() == Proto::FLOATS || attribute.type() == Proto::TENSOR;
    if (attribute.type() == Proto::TENSOR && !repair_tensor(*attribute.mutable_t(), random))
      return false;
    return known && !attribute.has_g() && attribute.ref_attr_name().empty() &&
           !attribute.name().empty() && seen.insert(attribute.name()).second;
  });
}

// Nodes read what is made before them and make what nothing else makes.
void repair_nodes(onnx::GraphProto& graph, std::set<std::string>& made, Random& random) {
  std::vector<std::string> values(made.begin(), made.end());
  for (auto& node : *graph.mutable_node()) {
    repair_attributes(node, made, random);
    for (auto& input : *node.mutable_input()) {
      if (!input.empty() && made.count(input) == 0 && !values.empty()) input = random.of(values);
    }
    for (auto& output : *node.mutable_output()) {
      if (output.empty()) continue;
      while (!made.insert(output).second) output = fresh_name(random);
      values.push_back(output);
    }
  }
  std::set<std::string> listed;
  keep_if(*graph.mutable_output(), [&](auto& output) {
    output.clear_type();
    return made.count(output.name()) != 0 && listed.insert(output.name()).second;
  });
  if (graph.output_size() == 0 && !values.empty()) graph.add_output()->set_name(values.back());
}

}  // namespace

void repair(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  repair_versions(model);
  graph.clear_value_info();
  graph.clear_sparse_initializer();
  std::set<std::string> made;
  const auto is_new = [&](const std::string& name) {
    return !name.empty() && made.insert(name).second;
  };
  keep_if(*graph.mutable_initializer(),
          [&](auto& tensor) { return repair_tensor(tensor, random) && is_new(tensor.name()); });
  keep_if(*graph.mutable_input(),
          [&](auto& input) { return is_new(input.name()) && repair_input(input); });
  repair_nodes(graph, made, random);
}

}  // namespace etch::fuzz
