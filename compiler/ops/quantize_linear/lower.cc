// Lowering of QuantizeLinear: SIMD code for 8 bits with one constant scale, else rows.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/quantize/mve.h"
#include "compiler/kernels/quantize/scales.h"
#include "compiler/kernels/rows/elementwise.h"
#include "compiler/kernels/rows/without_floats.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/memory_order.h"
#include "compiler/lower/nest.h"
#include "compiler/ops/quantize_linear/op.h"

namespace etch {

namespace {

// Shorter runs are not worth a call.
constexpr int kLeastRun = 8;

void use_assembly(QuantizeStep& step, const IsaTraits& isa) {
  QuantizePlan& plan = step.plan;
  if (isa.assembly != Assembly::kMve || plan.nest.run < kLeastRun) return;
  std::optional<AssemblyFunction> function = mve_quantize(
      {plan.nest.run, plan.nest.out_step, plan.scale, plan.low, plan.high, plan.zero_point});
  if (!function) return;
  plan.function = function->name;
  step.assembly.push_back(std::move(*function));
}

// Without an FPU a quotient of floats takes hundreds of instructions.
std::unique_ptr<QuantizeBitsStep> from_bits(const QuantizePlan& plan, const IsaTraits& isa) {
  constexpr float kLeast = 0x1p-60F, kMost = 0x1p60F;  // what rt::quantize_bits() takes
  if (isa.fpu || plan.nest.run < kLeastRun || !(plan.scale >= kLeast && plan.scale <= kMost))
    return nullptr;
  constexpr int kBits = 32;
  int exponent = 0;
  const double significand = std::frexp(1 / double{plan.scale}, &exponent);
  const auto bits = static_cast<std::uint32_t>(std::llround(std::ldexp(significand, kBits)));
  auto step = std::make_unique<QuantizeBitsStep>();
  step->kind = "quantize";
  step->plan = {plan, static_cast<int>(bits), kBits - exponent};
  return step;
}

}  // namespace

void lower_quantize_linear(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QuantizeLinearParams>(node);
  const View x = lowering.view(node, 0);
  if (!params.y || params.y->scale.size() != 1 || params.y->zero_point.size() != 1 ||
      !is_8bit(params.type) || x.dtype != DType::kF32) {
    add_quantization(lowering, node, params.axis, params.type);
    return;
  }
  const View y = lowering.new_output(node, 0, memory_order(x));
  const View* const views[] = {&x, &y};
  auto step = std::make_unique<QuantizeStep>();
  step->kind = "quantize";
  const int zero = params.y->zero_point_at(0);
  step->plan.nest = make_nest(views);
  step->plan.scale = params.y->scale_at(0);
  step->plan.low = static_cast<int>(min_of(params.type)) - zero;
  step->plan.high = static_cast<int>(max_of(params.type)) - zero;
  step->plan.zero_point = zero + lowering.stored_offset(y);
  const std::string summary =
      cat("quantize: scale ", decimal(step->plan.scale), ", zero point ", zero);
  if (auto bits = from_bits(step->plan, lowering.isa())) {
    bits->summary = summary;
    lowering.add(node, std::move(bits), {{"x", &x}, {"y", &y}});
    return;
  }
  use_assembly(*step, lowering.isa());
  if (step->plan.function.empty()) interleave_planes(step->plan.nest);
  step->summary = summary;
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

}  // namespace etch
