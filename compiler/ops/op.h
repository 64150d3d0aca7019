// What an operator is to Etch: one folder under compiler/ops with one OpDef, listed in ops.def.
// An OpDef serves one or more ONNX operator names (for example Conv of ai.onnx, or QLinearConv
// of ai.onnx, com.microsoft and com.ms.internal.nhwc).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/steps/layout_rule.h"

namespace etch {

class Lowering;  // compiler/steps/lowering.h

inline constexpr std::string_view kOnnx = "";
inline constexpr std::string_view kMicrosoft = "com.microsoft";
inline constexpr std::string_view kNhwc = "com.ms.internal.nhwc";
inline constexpr std::string_view kEtch = "org.etch";  // what passes need and no one else defines
inline constexpr std::string_view kTensorFlow = "org.tensorflow";

// An operator's name as files spell it, and the first operator-set version that has it.
struct OpName {
  std::string_view domain;
  std::string_view type;
  int since = 1;
};

// How many inputs and outputs a node may have.
struct Arity {
  int min_inputs = 1;
  int max_inputs = 1;
  int min_outputs = 1;
  int max_outputs = 1;
};

class ResolveContext;

struct OpDef {
  std::string_view folder;  // "qlinear_conv"
  std::span<const OpName> names;
  Arity arity;

  // Checks one node and makes it explicit: consumes every attribute, sets node.params to the
  // operator's resolved struct and each output's dtype and shape (ResolveContext::set_output).
  // All input dtypes and shapes are known. Reports to the context; never throws.
  void (*resolve)(ResolveContext&) = nullptr;

  // Computes the outputs from the inputs by plain loops written from the specification.
  // `inputs` has one entry per node input, null where omitted. The node is resolved. Serves
  // constant folding, tests and, for 8-bit elementwise operators, the making of tables.
  std::vector<Tensor> (*reference)(const Node&, std::span<const Tensor* const> inputs) = nullptr;

  // Adds the steps that compute the node; null: the operator only exists before lowering
  // (folded or rewritten away), and a node that survives is reported as E-UNSUPPORTED.
  void (*lower)(Lowering&, const Node&) = nullptr;

  // True: the operator only rearranges or relabels elements (Reshape, Transpose, Slice ...), so
  // that it commutes with quantization and QDQ pairs of equal parameters around it fold away.
  bool moves_data = false;
  // The same, where it depends on the node (null: it does not).
  bool (*moves_data_if)(const Node&) = nullptr;

  // True: the outputs follow from the shapes of the inputs alone (Shape), so that folding may call
  // `reference` with null in place of inputs that are not constant.
  bool needs_shapes_only = false;

  // How lower() wants the node's tensors to lie in memory (null: row-major), and how much halo
  // around input 0 would spare it border code (null: none).
  LayoutRule (*layout)(const Node&) = nullptr;
  std::optional<HaloWish> (*halo)(const Graph&, const Node&) = nullptr;

  // The inputs that output 0 holds unchanged, where (null: none).
  std::vector<PlacedInput> (*placed)(const Graph&, const Node&) = nullptr;
};

// Every operator, in the order of ops.def.
std::span<const OpDef* const> all_ops();

// The operator for a name, or null. `version` is the imported operator-set version of `domain`.
const OpDef* find_op(std::string_view domain, std::string_view type);

// The name under which `op` serves (domain, type), or null.
const OpName* find_name(const OpDef& op, std::string_view domain, std::string_view type);

// Everything resolve() needs for one node, with the reporting that every operator repeats.
class ResolveContext {
 public:
  ResolveContext(Graph& graph, Node& node, Sink& sink);

  const Node& node() const { return node_; }
  std::int64_t opset() const;  // of the node's domain

  int input_count() const { return static_cast<int>(node_.inputs.size()); }
  bool has_input(int i) const;
  const Value& input(int i) const;  // must be present
  const Shape& shape(int i) const { return *input(i).shape; }
  DType dtype(int i) const { return *input(i).dtype; }
  const Tensor* constant(int i) const;  // null: omitted, or known at run time only

  // Attributes. Each getter consumes the attribute; a wrong type is reported. What no getter
  // asked for is reported as E-ATTR after resolve.
  std::int64_t int_attr(const char* name, std::int64_t fallback);
  float float_attr(const char* name, float fallback);
  std::string string_attr(const char* name, std::string fallback);
  std::optional<std::vector<std::int64_t>> ints_attr(const char* name);
  std::optional<std::vector<float>> floats_attr(const char* name);
  std::optional<Tensor> tensor_attr(const char* name);
  bool has_attr(const char* name) const;
  void ignore_attr(const char* name);  // consumed on purpose, without effect

  // Declares output i. Contradiction with the file's own declaration is reported as E-SHAPE or
  // E-TYPE (a wrong shape of an inner value only warns), a size beyond ir/limits.h as E-LIMIT.
  // An omitted output is ignored.
  void set_output(int i, DType dtype, Shape shape);
  // Declares output i as known already: from here on it is a constant, not an output of the node.
  // `fill` is called with the tensor if the limits let there be one.
  void set_constant_output(int i, DType dtype, const Shape& shape,
                           const std::function<void(Tensor&)>& fill);
  void set_constant_output(int i, const Tensor& tensor);
  // Whether tables with an entry for each position along axes of these sizes may be computed;
  // E-LIMIT otherwise.
  [[nodiscard]] bool may_list_positions(const Shape& sizes);
  template <class Params>
  void set_params(Params params) {
    node_.params = std::move(params);
  }

  // Reports an error about this node; `what` reads "must be >= 1, got 0".
  void error(DiagKind kind, std::string what);
  // ... about its attribute `name`; ... about its input i (named by `role`, e.g. "x_scale").
  void attr_error(const char* name, std::string what);
  void input_error(DiagKind kind, int i, const char* role, std::string what);
  void warning(DiagKind kind, std::string what);
  bool failed() const { return failed_; }

  void report_unused_attributes();

 private:
  // Whether so many bytes more may be computed; E-LIMIT otherwise.
  [[nodiscard]] bool may_compute(std::int64_t bytes);
  const Attribute* find(const char* name);
  void report_shape_conflict(ValueId value, const Shape& computed, std::string what);

  Graph& graph_;
  Node& node_;
  Sink& sink_;
  std::vector<std::string> used_;
  bool failed_ = false;
};

// Whether this node only rearranges or relabels elements.
inline bool moves_data(const Node& node) {
  return node.op->moves_data_if != nullptr ? node.op->moves_data_if(node) : node.op->moves_data;
}

template <class Params>
const Params& params_of(const Node& node) {
  const auto* params = std::any_cast<Params>(&node.params);
  ETCH_CHECK(params != nullptr);
  return *params;
}

}  // namespace etch
