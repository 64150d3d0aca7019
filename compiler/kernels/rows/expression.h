// Steps that evaluate expressions over elements, and the search for a tensor's range; the plans are
// in templates/kernels/rows/expression.h.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/lower/arguments.h"
#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/expression.h"

namespace etch {

ETCH_PLAN_STEP(ExpressionStep, ExpressionPlan, expression_kernel, kDivisible);
ETCH_PLAN_STEP(DynamicRangeStep, DynamicRangePlan, dynamic_range_kernel, kDependent);

// Builds the one step that computes output 0 of a node from its inputs, and DynamicQuantizeLinear's
// scale and zero point for it if the node has those as outputs 1 and 2. Values are numbered in the
// order of the calls, which make reals unless they say int32.
class ExpressionBuilder {
 public:
  using Kind = ExpressionValue::Kind;

  // The result is kept as its readers want it, else like the first input with as many elements.
  ExpressionBuilder(Lowering& lowering, const Node& node);

  // Input i, which broadcasts to the output: float32, or as int32 its int32 or stored 8-bit values.
  int input(int i);
  // Input i with an element for each position along `axis` of the output, or one: float32 scales,
  // or as int32 8-bit zero points, stored; -1 is every axis.
  int parameter(int i, std::int64_t axis);
  // The same for values that are no input.
  int vector(const Tensor& values, std::int64_t axis);
  // Memory that is not an input, with one element.
  int single(const View& view);
  int real(float value);
  int integer(std::int64_t value);  // int32
  int apply(Kind kind, int a, int b = -1);

  // fl(fl(stored - zero_point) * scale): what DequantizeLinear gives.
  int dequantized(int stored, int scale, int zero_point);
  // `real_value` rounded as QuantizeLinear does between the limits of `type` minus zero_point:
  // int32.
  int rounded(int real_value, DType type, int zero_point);
  // The same for uint8 with a zero point known at run time, which is added.
  int rounded_with(int real_value, int zero_point_value);

  // Gives the step, of this kind (Step::kind), to the lowering: the result is float32, or 8 bits
  // with `zero_point` (logical) yet to be added.
  void finish(int result, std::optional<int> zero_point, const char* kind, std::string summary);

 private:
  struct Source {
    std::vector<std::int64_t> steps;  // per axis of the output
    DType type = DType::kF32;
    std::int64_t offset = 0;  // bytes, of the view
    int buffer = -1;
  };
  int add(ExpressionValue value);
  int add_input(const Input& input, std::vector<std::int64_t> steps, DType type);
  int constant(const Tensor& tensor, const Shape& shape);
  const char* new_name();
  void plan_axes();
  void plan_times();
  void plan_range();
  void plan_overlaps();

  Lowering& lowering_;
  const Node& node_;
  Shape shape_;
  View y_;
  Order order_;  // of the result and of all inputs with as many elements
  std::unique_ptr<ExpressionStep> step_;
  StepArguments arguments_;
  std::vector<Source> sources_;  // per input of the plan
  std::map<int, int> known_;     // input of the node to value
  std::deque<std::string> names_;
};

}  // namespace etch
