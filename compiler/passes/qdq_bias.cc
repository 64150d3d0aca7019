// Biases of QDQ groups; see qdq_bias.h.
#include "compiler/passes/qdq_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "compiler/base/text.h"

namespace etch {

float unit_of_bias(const Quantization& x, const Quantization& w, std::int64_t c) {
  return x.scale_at(0) * w.scale_at(c);
}

std::int32_t in_units(float value, float unit) {
  constexpr double kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  const float quotient = value / unit;
  return static_cast<std::int32_t>(
      std::clamp(static_cast<double>(std::nearbyint(quotient)), kLeast, kMost));
}

namespace {
BiasResult refused(std::string why) { return {std::nullopt, "", std::move(why)}; }

std::int64_t units_in_last_place(float a, float b) {
  return std::abs(std::int64_t{std::bit_cast<std::int32_t>(a)} - std::bit_cast<std::int32_t>(b));
}

enum class Match { kEqual, kClose, kNone };

Match compare(float scale, float expected) {
  if (units_in_last_place(scale, expected) <= 4) return Match::kEqual;
  // ONNX Runtime's tolerance, absolute plus relative.
  const bool close = std::fabs(scale - expected) <= 1e-6F + 1e-2F * std::fabs(expected);
  return close ? Match::kClose : Match::kNone;
}

bool has_one_value_per_channel(const Shape& shape, std::int64_t channels) {
  return !shape.empty() && shape.back() == channels && element_count(shape) == channels;
}

// value(c) in units of each channel, as a new constant of shape [channels].
template <class Value>
ValueId requantized(Graph& graph, const Quantization& x, const Quantization& w,
                    std::int64_t channels, Value value) {
  std::vector<std::int32_t> bias;
  for (std::int64_t c = 0; c < channels; ++c)
    bias.push_back(in_units(value(c), unit_of_bias(x, w, c)));
  return graph.add_constant(Tensor::of<std::int32_t>({channels}, bias));
}

// Products of the smallest scales are 0, those of the largest infinite.
bool has_units(const BiasRequest& request, const Quantization& x, const Quantization& w) {
  for (std::int64_t c = 0; c < request.channels; ++c) {
    const float unit = unit_of_bias(x, w, c);
    if (!(unit > 0) || !std::isfinite(unit)) return false;
  }
  return true;
}

BiasResult from_float(Graph& graph, const BiasRequest& request, const Quantization& x,
                      const Quantization& w) {
  const auto constant = graph.value(request.value).constant;
  if (constant == nullptr || constant->dtype() != DType::kF32) {
    return refused("the bias is neither a float constant nor from DequantizeLinear");
  }
  const auto bias = constant->as<float>();
  if (std::ranges::any_of(bias, [](float value) { return !std::isfinite(value); })) {
    return refused("the bias is not finite");
  }
  return {requantized(graph, x, w, request.channels,
                      [&](std::int64_t c) { return bias[static_cast<std::size_t>(c)]; }),
          "", ""};
}

Match match_of(const QuantizedOperand& bias, std::int64_t channels, const Quantization& x,
               const Quantization& w) {
  Match match = Match::kEqual;
  for (std::int64_t c = 0; c < channels; ++c) {
    match = std::max(match, compare(bias.quantization.scale_at(c), unit_of_bias(x, w, c)));
  }
  return match;
}

bool has_only_zero_points_of_zero(const QuantizedOperand& bias) {
  return std::ranges::all_of(bias.quantization.zero_point, [](int zero) { return zero == 0; });
}

// The bias of channel c as a sum of doubles: integers in pieces of 24 bits times a float are exact.
std::vector<double> parts_of(const Tensor& constant, const QuantizedOperand* operand,
                             std::int64_t c) {
  if (operand == nullptr)
    return {static_cast<double>(constant.as<float>()[static_cast<std::size_t>(c)])};
  constexpr std::int64_t kPiece = std::int64_t{1} << 24;
  std::int64_t q = constant.integer(c);
  double scale = operand->quantization.scale_at(c);
  std::vector<double> out;
  for (; q != 0; q /= kPiece, scale *= kPiece)
    out.push_back(static_cast<double>(q % kPiece) * scale);
  return out;
}

struct Units {
  double whole = 0, rest = 0;  // of one unit; |rest| <= 1/2
};

// remainder() is exact, so what is left is as exact as a quotient of less than 1 can be.
Units divided(const std::vector<double>& parts, double unit) {
  Units out;
  for (const double part : parts) {
    const double left = std::remainder(part, unit);
    out.whole += std::nearbyint((part - left) / unit);
    out.rest += left / unit;
  }
  const double carried = std::nearbyint(out.rest);
  return {out.whole + carried, out.rest - carried};
}

std::string exact_fault(const Graph& graph, const BiasRequest& request, const Quantization& x,
                        const Quantization& w) {
  if (!has_one_value_per_channel(*graph.value(request.value).shape, request.channels))
    return "the bias does not have one value per channel";
  if (!has_units(request, x, w)) return "input scale * weight scale is 0 or infinite in float32";
  const QuantizedOperand* const operand = request.operand;
  if (operand != nullptr && !has_only_zero_points_of_zero(*operand))
    return "the zero point of the bias is not 0";
  if (operand != nullptr && operand->axis.granularity == QuantizationGranularity::kBlock)
    return "the bias is quantized in blocks";
  const auto constant = graph.value(operand != nullptr ? operand->value : request.value).constant;
  if (constant == nullptr || (operand == nullptr && constant->dtype() != DType::kF32))
    return "the bias is neither a float constant nor from DequantizeLinear";
  return "";
}
}  // namespace

ExactBias exact_bias(Graph& graph, const BiasRequest& request, const Quantization& x,
                     const Quantization& w) {
  if (std::string fault = exact_fault(graph, request, x, w); !fault.empty())
    return {std::nullopt, kNoValue, std::move(fault)};
  const auto constant =
      graph.value(request.operand != nullptr ? request.operand->value : request.value).constant;
  std::vector<std::int32_t> units, rests;
  for (std::int64_t c = 0; c < request.channels; ++c) {
    const double unit = double{x.scale_at(0)} * double{w.scale_at(c)};
    const Units bias = divided(parts_of(*constant, request.operand, c), unit);
    // Not for NaN either.
    if (!(std::fabs(bias.whole) <= std::numeric_limits<std::int32_t>::max()))
      return {std::nullopt, kNoValue, "the bias leaves 32 bits"};
    units.push_back(static_cast<std::int32_t>(bias.whole));
    rests.push_back(static_cast<std::int32_t>(std::nearbyint(std::ldexp(bias.rest, 31))));
  }
  ExactBias out{graph.add_constant(Tensor::of<std::int32_t>({request.channels}, units)), kNoValue,
                ""};
  if (std::ranges::any_of(rests, [](std::int32_t rest) { return rest != 0; }))
    out.rests = graph.add_constant(Tensor::of<std::int32_t>({request.channels}, rests));
  return out;
}

BiasResult quantized_bias(Graph& graph, const BiasRequest& request, const Quantization& x,
                          const Quantization& w) {
  if (!has_one_value_per_channel(*graph.value(request.value).shape, request.channels)) {
    return refused("the bias does not have one value per channel");
  }
  if (!has_units(request, x, w))
    return refused("input scale * weight scale is 0 or infinite in float32");
  if (request.operand == nullptr) {
    if (request.float_bias == FloatBias::kQuantize) return from_float(graph, request, x, w);
    return refused("the bias is float, and so is the output");
  }
  const QuantizedOperand& bias = *request.operand;
  if (bias.dtype != DType::kS32) return refused(cat("the bias is ", name_of(bias.dtype)));
  if (!has_only_zero_points_of_zero(bias)) return refused("the zero point of the bias is not 0");
  if (bias.axis.granularity == QuantizationGranularity::kBlock) {
    return refused("the bias is quantized in blocks");
  }
  const Match match = match_of(bias, request.channels, x, w);
  if (match == Match::kNone) return refused("the bias' scale is not input scale * weight scale");
  if (match == Match::kEqual) return {bias.value, "", ""};
  const auto constant = graph.value(bias.value).constant;
  if (constant == nullptr) {
    return refused("the bias' scale is not input scale * weight scale, and it is no constant");
  }
  const auto old = constant->as<std::int32_t>();
  const auto value = [&](std::int64_t c) {
    return static_cast<float>(old[static_cast<std::size_t>(c)]) * bias.quantization.scale_at(c);
  };
  return {requantized(graph, x, w, request.channels, value),
          "the bias' scale is not input scale * weight scale; the bias was requantized", ""};
}

}  // namespace etch
