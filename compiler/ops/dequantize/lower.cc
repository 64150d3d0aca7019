// Lowering of Dequantize: the vector kernel for 8 bits and constant ranges, else the runtime.
#include "compiler/ops/quantize_v2/lower.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ops/dequantize/op.h"
#include "runtime/etch_quantize.h"

namespace etch {

namespace {

QuantizeV2Rule rule_of(const DequantizeParams& params) {
  QuantizeV2Rule rule;
  rule.mode = params.mode;
  rule.narrow_range = params.narrow_range;
  rule.type = params.type;
  return rule;
}

std::string summary_of(const DequantizeParams& params) {
  return cat("Dequantize ", name_of(params.mode), " from ", tensorflow_name(params.type));
}

// What the vector kernel computes for a stored byte.
float vector_value(int byte, int shift, float scale, const float* offset) {
  const volatile float product = static_cast<float>(byte + shift) * scale;
  const volatile float sum = offset == nullptr ? product : product + *offset;
  return sum;
}

// Fills in shift, scale and offset. False unless the kernel gives the runtime's bits for all 256
// bytes in every slice; not where numbers are subnormal, infinite or no numbers.
bool plan_terms(DequantizeV2Plan& plan, const DequantizeParams& params, std::span<const float> min,
                std::span<const float> max) {
  const int mode = static_cast<int>(params.mode);
  const auto least = static_cast<int>(least_of(rule_of(params)));
  const auto most = static_cast<int>(max_of(params.type));
  const int stored = is_signed(params.type) ? 128 : 0;
  plan.has_offset = params.mode != RangeMode::kScaled;
  std::array<std::uint8_t, 256> bytes{};
  std::array<float, 256> expected{};
  for (int q = 0; q < 256; ++q) bytes[static_cast<std::size_t>(q)] = static_cast<std::uint8_t>(q);
  for (std::size_t slice = 0; slice < min.size(); ++slice) {
    const auto terms = rt::dequantize_terms(min[slice], max[slice], mode, least, most);
    plan.shift = static_cast<int>(terms.before) - stored;
    plan.scale.push_back(terms.scale);
    if (plan.has_offset) plan.offset.push_back(terms.after);
    rt::dequantize_v2(bytes.data(), 1, &min[slice], &max[slice], 0, expected.data(), 1, 256, 0,
                      stored, mode, least, most);
    for (int q = 0; q < 256; ++q) {
      const float* const offset = plan.has_offset ? &plan.offset.back() : nullptr;
      const float value = vector_value(q, plan.shift, terms.scale, offset);
      const float wanted = expected[static_cast<std::size_t>(q)];
      const bool same = rt::float_bits(value) == rt::float_bits(wanted);
      if (!same || !std::isfinite(wanted)) return false;
    }
  }
  return true;
}

// True when the step was made.
bool lower_to_vectors(Lowering& lowering, const Node& node) {
  const auto& params = params_of<DequantizeParams>(node);
  if (!is_8bit(params.type) || lowering.is_constant(node, 0) || !lowering.is_constant(node, 1) ||
      !lowering.is_constant(node, 2)) {
    return false;
  }
  auto step = std::make_unique<DequantizeV2Step>();
  const auto min = lowering.constant(node, 1).as<float>();
  const auto max = lowering.constant(node, 2).as<float>();
  if (!plan_terms(step->plan, params, min, max)) return false;
  const View y = lowering.new_output(node, 0, order_like(lowering.view(node, 0)));
  if (!has_order(y, order_like(y))) return false;  // gaps between elements: a part of a tensor
  const View x = lowering.ordered(node, 0, order_like(y));
  plan_vectors(step->plan, params.slices, x, y);
  ETCH_CHECK(step->plan.nest.out_step == 1);
  step->kind = "dequantize";
  step->summary = summary_of(params);
  step->facts.push_back(cat(min.size() > 1 ? "first range " : "range ", decimal(min[0]), " to ",
                            decimal(max[0]), ", a step is ", decimal(step->plan.scale[0])));
  add_slice_constants(*step, step->plan, lowering.isa().lanes, "what each slice adds");
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
  return true;
}

}  // namespace

void lower_dequantize(Lowering& lowering, const Node& node) {
  if (lower_to_vectors(lowering, node)) return;
  const auto& params = params_of<DequantizeParams>(node);
  const auto rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  const bool in_memory = !lowering.is_constant(node, 0);
  const Order order = in_memory ? order_like(lowering.view(node, 0)) : row_major(rank);
  const View y = lowering.new_output(node, 0, order);
  auto step = std::make_unique<DequantizeRangeStep>();
  step->kind = "dequantize";
  step->summary = summary_of(params);
  StepArguments arguments(lowering, node, *step);
  plan_rule(step->plan, rule_of(params));
  plan_rows(step->plan, params.slices, arguments, y);
  step->plan.quantized = element_of(params.type);
  arguments.add(std::move(step));
}

}  // namespace etch
