// The inputs of a step whose kernel takes everything as arguments (templates/kernels/arguments.h):
// each is memory or a constant, whichever the node has.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/lowering.h"
#include "templates/kernels/arguments.h"

namespace etch {

struct Input {
  Argument argument;
  View view;  // of a constant: row-major, without a buffer

  // The view's strides in elements against `shape`, to which it broadcasts.
  std::vector<std::int64_t> steps(const Shape& shape) const;
  // 0 for one element, else 1: the step from one channel's parameter to the next.
  std::int64_t parameter_step() const { return argument.elements == 1 ? 0 : 1; }
};

// How the 8-bit values of a view are kept.
rt::Stored stored_as(const View& view);

// Strides of a view in elements.
std::vector<std::int64_t> steps_of(const View& view);

// Elements from the first to after the last.
std::int64_t extent_of(const View& view);

// Gathers the operands and constants of `step`, which must outlive it, in the order of the calls:
// inputs first, then outputs.
class StepArguments {
 public:
  StepArguments(Lowering& lowering, const Node& node, Step& step)
      : lowering_(lowering), node_(node), step_(step) {}

  // Input `i` of the node in any buffer. An omitted one is a single zero of `omitted`.
  Input input(int i, const char* name, DType omitted = DType::kU8);
  // The same, but dense in row-major order: scales and zero points.
  Input parameter(int i, const char* name, DType omitted = DType::kU8);
  // A constant that is not an input of the node.
  Input data(const Tensor& tensor, const char* name, std::string comment);
  // Memory that is not an input of the node.
  Input memory(const View& view, const char* name);
  // How many operands there are so far.
  int operands() const { return static_cast<int>(operands_.size()); }
  // Memory that the step writes and reads back; after all inputs, before the outputs.
  int scratch(const char* name, const View& view);
  // The operand number of an output.
  int output(const char* name, const View& view);

  // Gives the step to the lowering.
  void add(std::unique_ptr<Step> step);

 private:
  Lowering& lowering_;
  const Node& node_;
  Step& step_;
  std::deque<View> views_;  // a deque, so that pointers stay valid
  std::vector<std::pair<const char*, const View*>> operands_;
  std::size_t outputs_ = 0;
  std::size_t scratch_ = 0;
};

// Loops over `shape` where operand k has the strides steps[k], in elements; the last operand is
// the output, along whose dense axis the rows run.
RowNest make_rows(const Shape& shape, const std::vector<std::vector<std::int64_t>>& steps);

// A memory order for a result that follows `view`.
Order order_like(const View& view);

}  // namespace etch
