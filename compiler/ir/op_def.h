// What an operator declares about itself: its names, how its nodes are checked, computed and
// lowered, and the properties that passes and lowering rely on. Nodes point to it; the folders of
// compiler/ops define it. An OpDef serves one or more ONNX operator names (for example Conv of
// ai.onnx, or QLinearConv of ai.onnx, com.microsoft and com.ms.internal.nhwc).
#pragma once

#include <any>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/layout_rule.h"
#include "compiler/ir/quantization.h"

namespace etch {

class Lowering;        // compiler/lower/lowering.h
class ResolveContext;  // compiler/ops/op.h

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

// Which elements of the inputs one element of an output is made of. Passes rely on it, so the
// operator declares it; trying it out with some values proves nothing.
enum class ElementRule {
  kMixed,  // nothing is promised
  // In output 0: those at its own place, by one function for all places. Inputs are broadcast; of
  // their shapes only counts where they are 1.
  kPointwise,
  // In every output that is computed: one element of input 0, unchanged (Reshape, Transpose, Slice
  // ...), so that the operator commutes with quantization, and QDQ pairs of equal parameters around
  // it fold away.
  kMoved,
};

// For OpDef::elements of operators whose rule never depends on the node.
inline ElementRule pointwise_rule(const Node&) { return ElementRule::kPointwise; }
inline ElementRule moved_rule(const Node&) { return ElementRule::kMoved; }

struct OpDef {
  std::string_view folder;  // "qlinear_conv"
  std::span<const OpName> names;
  Arity arity;

  // Checks one node and makes it explicit: consumes every attribute, sets node.params to the
  // operator's resolved struct and each output's dtype and shape (ResolveContext::set_output).
  // All input dtypes and shapes are known. Reports to the context; never throws.
  void (*resolve)(ResolveContext&) = nullptr;

  // Computes the outputs from the inputs by plain loops written from docs/spec and ONNX.
  // `inputs` has one entry per node input, null where omitted. The node is resolved. Serves
  // constant folding, tests and, for pointwise operators, the making of tables.
  std::vector<Tensor> (*reference)(const Node&, std::span<const Tensor* const> inputs) = nullptr;

  // Adds the steps that compute the node; null: the operator only exists before lowering
  // (folded or rewritten away), and a node that survives is reported as E-UNSUPPORTED.
  void (*lower)(Lowering&, const Node&) = nullptr;

  // Which elements of the inputs an element of an output is made of (null: kMixed).
  ElementRule (*elements)(const Node&) = nullptr;

  // True: the outputs follow from the shapes of the inputs alone (Shape), so that folding may call
  // `reference` with null in place of inputs that are not constant.
  bool needs_shapes_only = false;

  // Which layout lower() wants for the node's tensors (null: row-major), and how much halo
  // around input 0 would spare it border code (null: none).
  LayoutRule (*layout)(const Node&) = nullptr;
  std::optional<HaloWish> (*halo)(const Graph&, const Node&) = nullptr;

  // The quantization with which a node reads input 0, or writes output 0, where that is one pair of
  // constants (null: none that the interface of a network could state).
  std::optional<Quantization> (*reads)(const Node&) = nullptr;
  std::optional<Quantization> (*writes)(const Node&) = nullptr;

  // The inputs that output 0 holds unchanged, where (null: none).
  std::vector<PlacedInput> (*placed)(const Graph&, const Node&) = nullptr;
};

// The rule of a resolved node.
inline ElementRule element_rule(const Node& node) {
  return node.op->elements == nullptr ? ElementRule::kMixed : node.op->elements(node);
}
inline bool is_pointwise(const Node& node) { return element_rule(node) == ElementRule::kPointwise; }
inline bool moves_data(const Node& node) { return element_rule(node) == ElementRule::kMoved; }

template <class Params>
const Params& params_of(const Node& node) {
  const auto* params = std::any_cast<Params>(&node.params);
  ETCH_CHECK(params != nullptr);
  return *params;
}

}  // namespace etch
