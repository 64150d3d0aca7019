// What an operator is to Etch: one folder under compiler/ops with one OpDef (compiler/ir/op_def.h),
// listed in ops.def; and what its resolve() works with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/op_def.h"

namespace etch {

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
  // The same where input i is what a DequantizeLinear makes of constants, which is folded late.
  std::optional<Tensor> dequantized_constant(int i) const;

  // Attributes. Each getter consumes the attribute; a wrong type is reported. What no getter
  // asked for is reported as E-ATTR after resolve.
  std::int64_t int_attr(const char* name, std::int64_t fallback);
  float float_attr(const char* name, float fallback);
  std::string string_attr(const char* name, const std::string& fallback);
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
  // Reports that input i is known at run time only; says how to give it where it is an input of the
  // model.
  void needs_constant(int i, const char* role, std::string what = "must be known at compile time");
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

}  // namespace etch
