// Mutations of control flow: a node is moved into the body of a Loop, a Scan or an If, whose counts
// and axes are now and then absurd, or becomes what a FlexAttention does with its scores; see
// mutations.h.
#include <string>

#include "fuzz/mutations.h"

namespace etch::fuzz {

namespace {

std::string add_scalar(onnx::GraphProto& graph, int type, std::int64_t value) {
  auto& tensor = *graph.add_initializer();
  tensor.set_name("k" + std::to_string(graph.initializer_size()) + "_" + std::to_string(value));
  tensor.set_data_type(type);
  type == kInt64 ? tensor.add_int64_data(value) : tensor.add_int32_data(value != 0 ? 1 : 0);
  return tensor.name();
}

onnx::AttributeProto& attribute(onnx::NodeProto& node, const char* name,
                                onnx::AttributeProto::AttributeType type) {
  auto& out = *node.add_attribute();
  out.set_name(name);
  out.set_type(type);
  return out;
}

onnx::GraphProto& add_body(onnx::NodeProto& node, const char* name) {
  return *attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g();
}

void add_input(onnx::GraphProto& body, const std::string& name) {
  body.add_input()->set_name(name);
}

// The node in a body, reading `from` in place of its first input, with results of other names.
void put(onnx::GraphProto& body, const onnx::NodeProto& node, const std::string& from,
         Random& random) {
  auto& copy = *body.add_node();
  copy = node;
  if (!from.empty()) copy.set_input(0, from);
  for (auto& output : *copy.mutable_output()) output = fresh_name(random);
}

std::int64_t trips(Random& random) { return random.one_in(6) ? random.integer() : random.below(5); }

// Carries the node's first input, which then is its result, and gives what it makes in each trip.
void make_loop(onnx::GraphProto& graph, const onnx::NodeProto& node, onnx::NodeProto& out,
               Random& random) {
  const std::string count = add_scalar(graph, kInt64, trips(random));
  const std::string go = random.one_in(3) ? "" : add_scalar(graph, 9, random.one_in(8) ? 0 : 1);
  const std::string trip = fresh_name(random), goes = fresh_name(random), h = fresh_name(random);
  const bool carries = !random.one_in(3);
  out.set_op_type("Loop");
  out.add_input(random.one_in(10) ? "" : count);
  out.add_input(go);
  auto& body = add_body(out, "body");
  add_input(body, trip);
  add_input(body, goes);
  if (carries) add_input(body, h);
  put(body, node, carries ? h : "", random);
  const std::string made = body.node(0).output(0);
  body.add_output()->set_name(random.one_in(12) ? made : goes);
  if (carries) {
    out.add_input(node.input(0));
    out.add_output(random.one_in(2) ? node.output(0) : fresh_name(random));
    body.add_output()->set_name(made);
  }
  out.add_output(carries && out.output(0) == node.output(0) ? fresh_name(random) : node.output(0));
  auto& slice = *body.add_node();
  slice.set_op_type("Identity");
  slice.add_input(made);
  slice.add_output(fresh_name(random));
  body.add_output()->set_name(slice.output(0));
}

// Goes through the first input along an axis.
void make_scan(const onnx::NodeProto& node, onnx::NodeProto& out, Random& random) {
  out.set_op_type("Scan");
  out.add_input(node.input(0));
  out.add_output(node.output(0));
  const auto list = [&](const char* name, std::int64_t value) {
    attribute(out, name, onnx::AttributeProto::INTS).add_ints(value);
  };
  attribute(out, "num_scan_inputs", onnx::AttributeProto::INT)
      .set_i(random.one_in(12) ? random.integer() : 1);
  if (random.one_in(2))
    list("scan_input_axes", random.one_in(8) ? random.integer() : random.below(3));
  if (random.one_in(2)) list("scan_input_directions", random.below(2));
  if (random.one_in(2)) list("scan_output_axes", random.below(3) - 1);
  if (random.one_in(2)) list("scan_output_directions", random.below(2));
  const std::string row = fresh_name(random);
  auto& body = add_body(out, "body");
  add_input(body, row);
  put(body, node, row, random);
  body.add_output()->set_name(body.node(0).output(0));
}

// The node, or its first input as it is.
void make_if(onnx::GraphProto& graph, const onnx::NodeProto& node, onnx::NodeProto& out,
             Random& random) {
  out.set_op_type("If");
  out.add_output(node.output(0));
  if (random.one_in(3)) {
    out.add_input(add_scalar(graph, 9, random.below(2)));
  } else {
    out.add_input(fresh_name(random));
    auto& condition = *graph.add_input();
    condition.set_name(out.input(0));
    condition.mutable_type()->mutable_tensor_type()->set_elem_type(9);
    condition.mutable_type()->mutable_tensor_type()->mutable_shape();
  }
  for (const char* const name : {"then_branch", "else_branch"}) {
    auto& body = add_body(out, name);
    put(body, node, "", random);
    if (random.one_in(3)) {
      body.mutable_node(0)->set_op_type("Identity");
      body.mutable_node(0)->clear_attribute();
      body.mutable_node(0)->clear_domain();
      body.mutable_node(0)->mutable_input()->DeleteSubrange(1, node.input_size() - 1);
    }
    body.add_output()->set_name(body.node(0).output(0));
  }
}

// Attention of its first input to itself, whose scores or shares the node changes.
void make_attention(onnx::ModelProto& model, const onnx::NodeProto& node, onnx::NodeProto& out,
                    Random& random) {
  constexpr const char* kPreview = "ai.onnx.preview";
  auto& import = *model.add_opset_import();
  import.set_domain(kPreview);
  import.set_version(1);
  out.set_op_type("FlexAttention");
  out.set_domain(kPreview);
  for (int i = 0; i < 3; ++i) out.add_input(node.input(0));
  out.add_output(node.output(0));
  for (const char* const name : {"score_mod", "prob_mod"}) {
    if (random.one_in(2)) continue;
    const std::string scores = fresh_name(random);
    auto& body = add_body(out, name);
    add_input(body, scores);
    put(body, node, random.one_in(6) ? "" : scores, random);
    body.add_output()->set_name(body.node(0).output(0));
  }
}

}  // namespace

void enclose(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  if (graph.node_size() == 0) return;
  const int at = random.below(graph.node_size());
  const onnx::NodeProto node = graph.node(at);
  if (node.input_size() == 0 || node.output_size() == 0 || node.input(0).empty()) return;
  onnx::NodeProto out;
  switch (random.below(4)) {
    case 0:
      make_loop(graph, node, out, random);
      break;
    case 1:
      make_scan(node, out, random);
      break;
    case 2:
      make_attention(model, node, out, random);
      break;
    default:
      make_if(graph, node, out, random);
  }
  graph.mutable_node(at)->Swap(&out);
}

onnx::GraphProto& some_graph(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto* graph = model.mutable_graph();
  for (int depth = 0; depth < 24 && graph->node_size() > 0 && !random.one_in(3); ++depth) {
    auto& node = *graph->mutable_node(random.below(graph->node_size()));
    if (node.attribute_size() == 0) break;
    auto& found = *node.mutable_attribute(random.below(node.attribute_size()));
    if (!found.has_g()) break;
    graph = found.mutable_g();
  }
  return *graph;
}

}  // namespace etch::fuzz
