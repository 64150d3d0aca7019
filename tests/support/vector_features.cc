// See vector_features.h.
#include "tests/support/vector_features.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "compiler/base/text.h"

namespace etch {

namespace {

using Ints = std::vector<std::int64_t>;

// Where an operator has its arguments.
struct Places {
  int x_zero, w, w_scale, w_zero;
};

class Classified {
 public:
  explicit Classified(const onnx::GraphProto& graph) : graph_(graph), node_(graph.node(0)) {}

  std::vector<std::string> features() {
    const bool is_integer = node_.op_type() == "ConvInteger";
    const bool is_transposed = node_.op_type() == "QLinearConvTranspose";
    if (!is_integer && !is_transposed && node_.op_type() != "QLinearConv") return {};
    const Places at = is_integer ? Places{2, 1, -1, 3} : Places{2, 3, 4, 5};
    add("types");
    const Ints x = shape(0), w = shape(at.w);
    if (x.size() != 4) add(cat(x.size() - 2, "-D"));
    if (x[0] > 1) add("batch");
    for (const char* name : {"strides", "dilations"}) {
      const Ints list = ints(name);
      if (std::any_of(list.begin(), list.end(), [](std::int64_t v) { return v > 1; })) add(name);
    }
    for (const char* name : {"pads", "output_padding", "output_shape"}) {
      const Ints list = ints(name);
      if (std::any_of(list.begin(), list.end(), [](std::int64_t v) { return v != 0; })) add(name);
    }
    const onnx::AttributeProto* const group = attribute("group");
    if (group != nullptr && group->i() > 1)
      add(w[1] == 1 && !is_transposed ? "depthwise" : "groups");
    if (attribute("auto_pad") != nullptr && attribute("auto_pad")->s() != "NOTSET") add("auto_pad");
    if (attribute("kernel_shape") != nullptr) add("kernel_shape");
    if (is_integer) add_zero_points(at);
    if (node_.op_type() == "QLinearConv") {
      add(cat("w_scale-", form(at.w_scale), "-w_zero_point-", form(at.w_zero)));
    }
    if (!is_constant(at.w)) add("at-run-time");
    return std::move(out_);
  }

 private:
  void add(const std::string& feature) { out_.push_back(cat(node_.op_type(), "/", feature)); }

  void add_zero_points(const Places& at) {
    if (!given(at.x_zero) && !given(at.w_zero)) add("no-zero-points");
    if (given(at.w_zero) && form(at.w_zero) == std::string("all")) add("w_zero_point-per-channel");
  }

  const onnx::AttributeProto* attribute(const std::string& name) const {
    for (const auto& each : node_.attribute())
      if (each.name() == name) return &each;
    return nullptr;
  }
  Ints ints(const std::string& name) const {
    const onnx::AttributeProto* const found = attribute(name);
    return found == nullptr ? Ints{} : Ints(found->ints().begin(), found->ints().end());
  }

  bool given(int input) const { return input < node_.input_size() && !node_.input(input).empty(); }
  bool is_constant(int input) const {
    const auto& all = graph_.initializer();
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& each) { return each.name() == node_.input(input); });
  }
  Ints shape(int input) const {
    const std::string& name = node_.input(input);
    for (const auto& each : graph_.initializer())
      if (each.name() == name) return {each.dims().begin(), each.dims().end()};
    Ints out;
    for (const auto& each : graph_.input()) {
      if (each.name() != name) continue;
      for (const auto& dim : each.type().tensor_type().shape().dim())
        out.push_back(dim.dim_value());
    }
    return out;
  }
  // As the conformance cases call it: no axis, one element or one per channel.
  const char* form(int input) const {
    if (!given(input)) return "scalar";
    const Ints dims = shape(input);
    if (dims.empty()) return "scalar";
    return dims[0] == 1 ? "one" : "all";
  }

  const onnx::GraphProto& graph_;
  const onnx::NodeProto& node_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> vector_features(const onnx::ModelProto& model) {
  return model.graph().node_size() == 1 ? Classified(model.graph()).features()
                                        : std::vector<std::string>{};
}

}  // namespace etch
