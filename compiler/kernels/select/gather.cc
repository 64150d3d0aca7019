// Building of Gather steps; see gather.h.
#include "compiler/kernels/select/gather.h"

#include <memory>
#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/select/select.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/halves.h"
#include "compiler/program/constants.h"

namespace etch {

namespace {

// The operands of a gathering step: data as bytes, in any buffer, and indices.
class GatherOperands {
 public:
  GatherOperands(Lowering& lowering, const Node& node, Step& step)
      : lowering_(lowering), node_(node), step_(step), arguments_(lowering, node, step) {}

  // Row-major and dense.
  Argument data() {
    if (lowering_.is_constant(node_, 0)) {
      const Tensor& x = lowering_.constant(node_, 0);
      step_.constants.push_back(raw_array("x", x, lowering_.isa(), "row-major, as in the model"));
      return {"x", -1, static_cast<std::int64_t>(x.bytes().size()), {0, 0}};
    }
    const View& as_is = lowering_.view(node_, 0);
    const Order order = row_major(as_is.rank());
    const bool raw = as_is.dtype == DType::kS8;
    View x = !raw && is_contiguous(as_is, order) ? as_is : lowering_.contiguous(node_, 0, order);
    x.dtype = DType::kU8;
    return arguments_.memory(x, "x").argument;
  }

  Argument indices() { return arguments_.parameter(1, "indices").argument; }

  int output(View y) {
    y.dtype = DType::kU8;
    return arguments_.output("y", y);
  }

  StepArguments& arguments() { return arguments_; }

 private:
  Lowering& lowering_;
  const Node& node_;
  Step& step_;
  StepArguments arguments_;
};

// Constant int8 data becomes stored bytes as everything else: the top bit inverted.
void flip_constant(Step& step, DType type) {
  if (type != DType::kS8) return;
  for (ConstantArray& constant : step.constants) {
    if (constant.suffix != "x") continue;
    for (std::byte& byte : constant.bytes) byte ^= std::byte{128};
  }
}

bool has_wide_indices(Lowering& lowering, const Node& node) {
  return *lowering.value(node.inputs[1]).dtype == DType::kS64;
}

struct Slices {
  std::int64_t outer, size, inner;
};

// Dense memory of its own: a place in another value, or a halo, would make gaps.
View dense_output(Lowering& lowering, const Node& node, DType type) {
  const Shape& shape = *lowering.value(node.outputs[0]).shape;
  return lowering.scratch(type == DType::kS8 || type == DType::kBool ? DType::kU8 : type,
                          element_count(shape));
}

// Gives output 0 the memory that a step has written.
void set_output(Lowering& lowering, const Node& node, View y, DType type) {
  y.flipped = type == DType::kS8;
  y.shape = *lowering.value(node.outputs[0]).shape;
  y.halo_begin.clear();
  y.halo_end.clear();
  lay_out(y, row_major(y.rank()));
  lowering.set_view(node, 0, y);
}

template <class Plan>
void set_slices(Plan& plan, const Slices& slices, Lowering& lowering, const Node& node) {
  plan.wide = has_wide_indices(lowering, node);
  plan.outer = static_cast<int>(slices.outer);
  plan.size = static_cast<int>(slices.size);
  plan.count = static_cast<int>(element_count(*lowering.value(node.inputs[1]).shape));
}

// Of a table of floats that are kept as 16 bits.
void add_half_gather(Lowering& lowering, const Node& node, const Slices& slices, DType half) {
  auto step = std::make_unique<GatherHalvesStep>();
  step->kind = "gather";
  step->summary = cat("pick from ", counted(slices.size, "slice"), " of ",
                      counted(slices.inner, "element"), ", kept as ", name_of(half));
  StepArguments arguments(lowering, node, *step);
  GatherHalvesPlan& plan = step->plan;
  plan.type = half;
  set_slices(plan, slices, lowering, node);
  plan.inner = static_cast<int>(slices.inner);
  plan.x = arguments
               .data(as_halves(lowering.constant(node, 0), half), "x",
                     cat(name_of(half), ", row-major, as in the model"))
               .argument;
  plan.indices = arguments.parameter(1, "indices").argument;
  const View y = dense_output(lowering, node, DType::kF32);
  plan.y = arguments.output("y", y);
  arguments.add(std::move(step));
  set_output(lowering, node, y, DType::kF32);
}

}  // namespace

void add_gather(Lowering& lowering, const Node& node, std::int64_t outer, std::int64_t size,
                std::int64_t inner) {
  if (lowering.is_constant(node, 0)) {
    if (const auto half = kept_as_halves(lowering.constant(node, 0)))
      return add_half_gather(lowering, node, {outer, size, inner}, *half);
  }
  const DType type = *lowering.value(node.outputs[0]).dtype;
  auto step = std::make_unique<GatherStep>();
  step->kind = "gather";
  step->summary = cat("pick from ", counted(size, "slice"), " of ", counted(inner, "element"));
  GatherOperands operands(lowering, node, *step);
  GatherPlan& plan = step->plan;
  set_slices(plan, {outer, size, inner}, lowering, node);
  plan.x = operands.data();
  flip_constant(*step, type);
  plan.indices = operands.indices();
  const View y = dense_output(lowering, node, type);
  plan.y = operands.output(y);
  plan.bytes = static_cast<int>(inner * bytes_of(type));
  operands.arguments().add(std::move(step));
  set_output(lowering, node, y, type);
}

void add_gather_elements(Lowering& lowering, const Node& node, std::size_t axis,
                         const Shape& shape) {
  const DType type = *lowering.value(node.outputs[0]).dtype;
  auto step = std::make_unique<GatherElementsStep>();
  step->kind = "gather";
  step->summary = cat("pick ", counted(element_count(shape), "element"));
  GatherOperands operands(lowering, node, *step);
  GatherElementsPlan& plan = step->plan;
  plan.wide = has_wide_indices(lowering, node);
  plan.x = operands.data();
  flip_constant(*step, type);
  plan.indices = operands.indices();
  const View y = lowering.new_output(node, 0, row_major(static_cast<int>(shape.size())));
  plan.y = operands.output(y);
  // Steps in bytes, of the indices in elements.
  View dense;
  dense.dtype = type;
  dense.shape = *lowering.value(node.inputs[0]).shape;
  lay_out(dense, row_major(dense.rank()));
  View index = dense;
  index.dtype = DType::kU8;
  index.shape = shape;
  lay_out(index, row_major(index.rank()));
  std::vector<std::int64_t> x_steps = dense.stride;
  plan.axis_step = static_cast<int>(x_steps[axis]);
  x_steps[axis] = 0;
  RowNest& rows = plan.rows;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    RowAxis row;
    row.count = static_cast<int>(shape[d]);
    row.step = {x_steps[d], index.stride[d], y.stride[d], 0};
    rows.axes.push_back(row);
  }
  rows.n = rows.axes.back().count;
  rows.step = rows.axes.back().step;
  rows.axes.pop_back();
  plan.size = static_cast<int>(dense.shape[axis]);
  plan.x_step = static_cast<int>(rows.step[0]);
  plan.index_step = static_cast<int>(rows.step[1]);
  plan.y_step = static_cast<int>(rows.step[2]);
  plan.bytes = bytes_of(type);
  operands.arguments().add(std::move(step));
}

}  // namespace etch
