// Lowering of Cast between float32, bool and integers of 8 to 64 bits, and between float32 and the
// other floats; between signed and unsigned of 32 or 64 bits nothing is to do.
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/rows/other_float.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/cast/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
bool can_be_compiled(DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kBool:
    case DType::kU8:
    case DType::kS8:
    case DType::kU16:
    case DType::kS16:
    case DType::kS32:
    case DType::kS64:
      return true;
    default:
      return false;
  }
}

bool is_other_float(DType type) {
  return type == DType::kF16 || type == DType::kBF16 || type == DType::kF64;
}

// Integers of one width above 16 bits, between which all bits stay.
bool differ_in_sign(DType a, DType b) {
  if (is_signed(b)) std::swap(a, b);
  return (a == DType::kS32 && b == DType::kU32) || (a == DType::kS64 && b == DType::kU64);
}

template <class Step>
void add_step(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Cast>(node);
  auto step = std::make_unique<Step>();
  step->kind = "cast";
  step->summary = cat("convert ", name_of(params.from), " to ", name_of(params.to));
  StepArguments arguments(lowering, node, *step);
  const Input x = arguments.input(0, "x");
  const View y = lowering.new_output(node, 0, order_like(x.view));
  arguments.output("y", y);
  step->plan.from = params.from;
  step->plan.to = params.to;
  step->plan.x = x.argument.stored;
  step->plan.y = stored_as(y);
  step->plan.rows = make_rows(y.shape, {steps_of(x.view), steps_of(y)});
  arguments.add(std::move(step));
}
}  // namespace

void lower_cast(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Cast>(node);
  if (params.from == params.to) {
    lowering.set_view(node, 0, lowering.view(node, 0));
    return;
  }
  if (differ_in_sign(params.from, params.to)) {
    View view = lowering.view(node, 0);
    view.dtype = params.to;
    lowering.set_view(node, 0, std::move(view));
    return;
  }
  const bool widens = is_other_float(params.from) && params.to == DType::kF32;
  const bool narrows = params.from == DType::kF32 && is_other_float(params.to);
  if (!widens && !narrows && (!can_be_compiled(params.from) || !can_be_compiled(params.to))) {
    lowering.unsupported(node, cat("a conversion from ", name_of(params.from), " to ",
                                   name_of(params.to), " cannot be compiled yet"));
    return;
  }
  if (refuse_empty(lowering, node)) return;
  if (widens || narrows) return add_step<OtherFloatStep>(lowering, node);
  add_step<CastStep>(lowering, node);
}

}  // namespace etch
