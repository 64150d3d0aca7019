// See profile.h.
#include "compiler/cli/profile.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "compiler/base/text.h"
#include "compiler/text/names.h"

namespace etch::cli {
namespace {

// What one of the operators that Etch specifies asks of a node.
struct Specified {
  std::string_view domain, op_type;
  std::vector<std::string_view> attributes;  // to be written out
  std::vector<std::size_t> zero_points;      // inputs that have to be there
  std::vector<std::size_t> constants;        // inputs that have to be known when compiling
};

const std::vector<Specified>& specified() {
  static const std::vector<Specified> kAll = {
      {"",
       "QLinearConv",
       {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
       {2, 5, 7},
       {1, 2, 3, 4, 5, 6, 7, 8}},
      {"",
       "ConvInteger",
       {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"},
       {2, 3},
       {1, 2, 3}},
      {"com.ms.internal.nhwc",
       "QLinearConvTranspose",
       {"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "pads", "strides"},
       {2, 5, 7},
       {1, 2, 3, 4, 5, 6, 7, 8}},
      {"", "QuantizeLinear", {}, {2}, {1, 2}},
      {"", "DequantizeLinear", {}, {2}, {1, 2}},
      {"org.tensorflow",
       "QuantizeV2",
       {"T", "axis", "ensure_minimum_range", "mode", "narrow_range", "round_mode"},
       {},
       {1, 2}}};
  return kAll;
}

// What the working group has specified beside those.
constexpr std::array kByTheGroup =
    std::to_array<std::string_view>({"Abs",    "Add",     "ArgMax",    "BatchNormalization",
                                     "Clip",   "Concat",  "Constant",  "Conv",
                                     "Div",    "Exp",     "Flatten",   "Gemm",
                                     "LSTM",   "Less",    "LeakyRelu", "Log",
                                     "MatMul", "Max",     "MaxPool",   "Mul",
                                     "Neg",    "Pad",     "Pow",       "Range",
                                     "Relu",   "Reshape", "Shape",     "Sigmoid",
                                     "Slice",  "Softmax"});

class Rules {
 public:
  explicit Rules(const ProfileInput& input) : input_(input), graph_(input.graph) {}

  std::vector<ProfileFinding> findings() {
    check_shapes();
    check_structure();
    for (const Node& node : graph_.nodes) check_operator(node);
    for (const Node& node : graph_.nodes) check_attributes(node);
    for (const Node& node : graph_.nodes) check_zero_points(node);
    for (const Node& node : graph_.nodes) check_constants(node);
    check_sums();
    return std::move(findings_);
  }

 private:
  void add(std::string rule, std::string where, std::string what) {
    findings_.push_back({std::move(rule), std::move(where), std::move(what)});
  }

  static const Specified* specification_of(const Node& node) {
    const auto found = std::ranges::find_if(specified(), [&](const Specified& each) {
      return each.domain == node.domain && each.op_type == node.op_type;
    });
    return found == specified().end() ? nullptr : &*found;
  }

  bool is_given(const Node& node, std::size_t input) const {
    return input < node.inputs.size() && node.inputs[input] != kNoValue;
  }

  // P1
  void check_shapes() {
    if (graph_.shapes_chosen) add("P1", "", "options choose shapes that the file leaves open");
    for (const Diagnostic& each : input_.sink.sorted()) {
      if (each.kind == DiagKind::kShape) add("P1", each.location, each.message);
    }
  }

  // P2
  void check_structure() {
    for (const std::string& function : input_.functions) {
      add("P2", "", cat("the model defines the function '", printable(function), "'"));
    }
    for (const Node& node : graph_.nodes) {
      constexpr std::array<std::string_view, 3> kControl = {"If", "Loop", "Scan"};
      if (!node.branches.empty() || std::ranges::find(kControl, node.op_type) != kControl.end()) {
        add("P2", location_of(node), "contains a graph");
      }
    }
  }

  // P3
  void check_operator(const Node& node) {
    const bool by_the_group =
        node.domain.empty() && std::ranges::find(kByTheGroup, node.op_type) != kByTheGroup.end();
    if (specification_of(node) == nullptr && !by_the_group) {
      add("P3", location_of(node), "its operator is not specified");
    }
  }

  // P4
  void check_attributes(const Node& node) {
    const auto padding = node.attributes.find("auto_pad");
    if (padding != node.attributes.end()) {
      const auto* mode = std::get_if<std::string>(&padding->second);
      if (mode != nullptr && *mode != "NOTSET") {
        add("P4", location_of(node), cat("auto_pad is ", printable(*mode), ", must be NOTSET"));
      }
    }
    const Specified* specification = specification_of(node);
    if (specification == nullptr) return;
    std::string missing;
    for (const std::string_view name : specification->attributes) {
      if (node.attributes.contains(std::string(name))) continue;
      missing += cat(missing.empty() ? "" : ", ", name);
    }
    if (!missing.empty()) add("P4", location_of(node), cat("does not write out ", missing));
  }

  // P5
  void check_zero_points(const Node& node) {
    const Specified* specification = specification_of(node);
    if (specification == nullptr) return;
    for (const std::size_t input : specification->zero_points) {
      if (is_given(node, input)) continue;
      if (node.op_type == "DequantizeLinear" && reads_int32(node)) continue;  // has none
      add("P5", location_of(node), cat("has no zero point at input ", input));
    }
  }

  bool reads_int32(const Node& node) const {
    return is_given(node, 0) && graph_.value(node.inputs[0]).dtype == DType::kS32;
  }

  // P6
  void check_constants(const Node& node) {
    const Specified* specification = specification_of(node);
    if (specification == nullptr) return;
    for (const std::size_t input : specification->constants) {
      if (!is_given(node, input) || graph_.value(node.inputs[input]).constant) continue;
      add("P6", location_of(node), cat("input ", input, " is not a constant"));
    }
  }

  // P7
  void check_sums() {
    if (input_.program == nullptr) {
      add("P7", "", "cannot be compiled, so its sums are unknown");
      return;
    }
    using Limits = std::numeric_limits<std::int32_t>;
    for (const auto& step : input_.program->steps) {
      if (!step->accumulators) continue;
      const AccumulatorBounds bounds = *step->accumulators;
      if (bounds.low >= Limits::min() && bounds.high <= Limits::max()) continue;
      add("P7", cat("step ", step->name),
          cat("its sums reach from ", with_thousands(bounds.low), " to ",
              with_thousands(bounds.high)));
    }
  }

  const ProfileInput& input_;
  const Graph& graph_;
  std::vector<ProfileFinding> findings_;
};

}  // namespace

std::vector<ProfileFinding> sonnx_findings(const ProfileInput& input) {
  return Rules(input).findings();
}

}  // namespace etch::cli
