// Operators of QONNX. Domain qonnx.custom_op.general, in older files onnx.brevitas and
// finn.custom_op.general:
//   Quant, IntQuant    integers of a given width, below
//   BipolarQuant       y = (x >= 0 ? 1 : -1) * scale: of a constant x the integers 1 and -1 and
//                      their DequantizeLinear; else Where of such integers, DequantizeLinear
// Domain qonnx.custom_op.channels_last:
//   Conv, MaxPool, BatchNormalization    with the channels as the last axis of x, y and W of Conv:
//                                        the operator of ONNX between transpositions
// Quant: x and scale are floats, zero point and bit width floats or integers; all but x constant.
//   y = ( rne( limits of (x / scale + zero point) ) - zero point ) * scale
// with the limits of integers of that width; `narrow` takes one value off at the low end of signed
// ones, at the high end of unsigned ones. Of a constant x of up to 32 bits the integers and their
// DequantizeLinear; else, with the zero point 0 and 2 to 16 bits,
//   QuantizeLinear to 8 or 16 bits, Clip to the limits where they are others, DequantizeLinear.
#include "compiler/passes/compositions/qonnx.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "compiler/ir/op_def.h"

namespace etch {

namespace {

// Zero point and bit width are floats, or integers where QKeras wrote the file.
float number_of(const Tensor& tensor, std::int64_t index) {
  return tensor.dtype() == DType::kF32 ? tensor.real(index)
                                       : static_cast<float>(tensor.integer(index));
}

std::string in_upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

struct QuantFormat {
  DType type = DType::kS8;
  std::int64_t low = 0, high = 0;
};

// Nothing after a report.
std::optional<QuantFormat> format_of(Parts& parts) {
  const bool is_signed = parts.take<std::int64_t>("signed", 1) != 0;
  const std::int64_t narrow = parts.take<std::int64_t>("narrow", 0) != 0 ? 1 : 0;
  const auto rounding = parts.take<std::string>("rounding_mode", "ROUND");
  const std::string mode = in_upper_case(rounding);  // as its tools compare it
  if (mode != "ROUND" && mode != "HALF_EVEN") {
    parts.fail(DiagKind::kUnsupported,
               cat("only the rounding_mode ROUND can be compiled, got ", printable(rounding)));
    return std::nullopt;
  }
  const Tensor& width = *parts.constant(3);
  const float given = width.size() == 1 ? number_of(width, 0) : 0;
  const auto bits = given >= 1 && given <= 64 ? static_cast<std::int64_t>(given) : 0;
  const std::int64_t most = parts.constant(0) == nullptr ? 16 : is_signed ? 32 : 31;
  if (static_cast<float>(bits) != given || bits < (is_signed ? 2 : 1) || bits > most) {
    parts.fail(DiagKind::kUnsupported, cat("input 3 (bitwidth): only one integer from ",
                                           is_signed ? 2 : 1, " to ", most, " can be compiled"));
    return std::nullopt;
  }
  QuantFormat out;
  if (bits > 16) {
    out.type = DType::kS32;
  } else if (bits > 8) {
    out.type = is_signed ? DType::kS16 : DType::kU16;
  } else {
    out.type = is_signed ? DType::kS8 : DType::kU8;
  }
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  out.low = is_signed ? -half + narrow : 0;
  out.high = is_signed ? half - 1 : 2 * half - 1 - narrow;
  return out;
}

// The axis of x that a tensor broadcast to it has more than one element along; -1: none, -2: it is
// not one axis.
std::int64_t axis_of(const Shape& x, const Shape& part) {
  if (element_count(part) == 1) return part.size() <= x.size() ? -1 : -2;
  if (part.size() > x.size()) return -2;
  std::int64_t axis = -1;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::size_t at = x.size() - part.size() + i;
    if (part[i] == 1) continue;
    if (axis != -1 || part[i] != x[at]) return -2;
    axis = static_cast<std::int64_t>(at);
  }
  return axis;
}

struct Scales {
  std::int64_t axis = -1;  // -1: one for all
  Tensor scale;            // a scalar or [n]
};

std::optional<Scales> scales_of(Parts& parts) {
  const Tensor& scale = *parts.constant(1);
  const std::int64_t axis = axis_of(parts.shape(0), scale.shape());
  if (axis == -2) {
    parts.fail(DiagKind::kShape, cat("input 1 (scale): has the shape ", to_string(scale.shape()),
                                     ", must be one, or one per index of an axis"));
    return std::nullopt;
  }
  for (std::int64_t i = 0; i < scale.size(); ++i) {
    if (std::isfinite(scale.real(i)) && scale.real(i) > 0) continue;
    parts.fail(DiagKind::kQuant, "input 1 (scale): must be finite and above 0");
    return std::nullopt;
  }
  return Scales{axis, scale.reshaped(axis == -1 ? Shape{} : Shape{scale.size()})};
}

template <class T>
void fill(Tensor& out, const std::vector<std::int64_t>& values) {
  const auto to = out.as<T>();
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
}

Tensor integers_of(DType type, const Shape& shape, const std::vector<std::int64_t>& values) {
  Tensor out(type, shape);
  if (type == DType::kS8) fill<std::int8_t>(out, values);
  if (type == DType::kU8) fill<std::uint8_t>(out, values);
  if (type == DType::kS16) fill<std::int16_t>(out, values);
  if (type == DType::kU16) fill<std::uint16_t>(out, values);
  if (type == DType::kS32) fill<std::int32_t>(out, values);
  return out;
}

// Constant x less nothing: the zero point is in the integers, and taken off by DequantizeLinear.
Tensor quantized_constant(const Tensor& x, const Scales& scales, float zero,
                          const QuantFormat& format) {
  std::int64_t after = 1;
  for (std::size_t d = static_cast<std::size_t>(scales.axis + 1); d < x.shape().size(); ++d)
    after *= x.shape()[d];
  const std::int64_t count = scales.scale.size();
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const float quotient = x.real(i) / scales.scale.real(count == 1 ? 0 : i / after % count);
    const auto value = static_cast<double>(quotient + zero);
    const double limited =
        std::clamp(value, static_cast<double>(format.low), static_cast<double>(format.high));
    out.push_back(static_cast<std::int64_t>(std::nearbyint(limited)));
  }
  return integers_of(format.type, x.shape(), out);
}

// The zero point, or nothing after a report.
std::optional<float> zero_point(Parts& parts, const QuantFormat& format) {
  const Tensor& zeros = *parts.constant(2);
  const float zero = zeros.size() == 0 ? 0 : number_of(zeros, 0);
  bool same = zero == std::nearbyint(zero);
  for (std::int64_t i = 0; i < zeros.size(); ++i) same = same && number_of(zeros, i) == zero;
  const bool in_range =
      zero >= static_cast<float>(format.low) && zero <= static_cast<float>(format.high);
  if (same && in_range && (zero == 0 || parts.constant(0) != nullptr)) return zero;
  // QuantizeLinear adds the zero point after rounding, Quant before.
  parts.fail(DiagKind::kUnsupported,
             "input 2 (zeropt): only 0 can be compiled, and of constants one integer in range");
  return std::nullopt;
}

// False after a report. NaN has no integer.
bool is_number(Parts& parts, const Tensor& x) {
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (!std::isnan(x.real(i))) continue;
    parts.fail(DiagKind::kQuant, cat("input 0 (x): element ", i, " is NaN"));
    return false;
  }
  return true;
}

ValueId limited(Parts& parts, ValueId q, const QuantFormat& format) {
  if (format.low == min_of(format.type) && format.high == max_of(format.type)) return q;
  const auto bound = [&](std::int64_t value) {
    return parts.constant(integers_of(format.type, {}, {value}));
  };
  return parts.add("Min", {parts.add("Max", {q, bound(format.low)}), bound(format.high)});
}

// False after a report unless all inputs are there, of types they may have, and those after the
// first constant.
bool has_inputs(Parts& parts, std::initializer_list<const char*> roles) {
  std::size_t i = 0;
  for (const char* const role : roles) {
    if (!parts.needs(i)) return false;
    if (i > 0 && parts.constant(i) == nullptr) {
      parts.needs_constant(i, role);
      return false;
    }
    const bool good = i < 2 ? parts.has_type(i, {DType::kF32})
                            : parts.has_type(i, {DType::kF32, DType::kS32, DType::kS64});
    if (!good) return false;
    ++i;
  }
  return true;
}

Attributes axis_attribute(const Scales& scales) {
  return scales.axis == -1 ? Attributes{} : Attributes{{"axis", scales.axis}};
}

void quant(Parts& parts) {
  if (!has_inputs(parts, {"x", "scale", "zeropt", "bitwidth"})) return;
  const auto format = format_of(parts);
  if (!format) return;
  const auto scales = scales_of(parts);
  const auto zero = zero_point(parts, *format);
  if (!scales || !zero) return;
  if (parts.constant(0) != nullptr && !is_number(parts, *parts.constant(0))) return;
  const Attributes axis = axis_attribute(*scales);
  const ValueId scale = parts.constant(scales->scale);
  const ValueId offset = parts.constant(
      integers_of(format->type, scales->scale.shape(),
                  std::vector<std::int64_t>(static_cast<std::size_t>(scales->scale.size()),
                                            static_cast<std::int64_t>(*zero))));
  const ValueId q =
      parts.constant(0) != nullptr
          ? parts.constant(quantized_constant(*parts.constant(0), *scales, *zero, *format))
          : limited(parts,
                    parts.add("QuantizeLinear", {parts.input(0), scale, offset}, axis,
                              kMicrosoft.data()),
                    *format);
  parts.add("DequantizeLinear", {q, scale, offset}, axis, kMicrosoft.data());
}

// NaN is not at least 0: -1.
Tensor signs_of(const Tensor& x) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < x.size(); ++i) out.push_back(x.real(i) >= 0 ? 1 : -1);
  return integers_of(DType::kS8, x.shape(), out);
}

void bipolar_quant(Parts& parts) {
  if (!has_inputs(parts, {"x", "scale"})) return;
  const auto scales = scales_of(parts);
  if (!scales) return;
  const auto sign = [&](std::int64_t value) {
    return parts.constant(integers_of(DType::kS8, {}, {value}));
  };
  ValueId q = kNoValue;
  if (parts.constant(0) != nullptr) {
    q = parts.constant(signs_of(*parts.constant(0)));
  } else {
    const ValueId above = parts.add("GreaterOrEqual", {parts.input(0), parts.scalar(0)});
    q = parts.add("Where", {above, sign(1), sign(-1)});
  }
  parts.add("DequantizeLinear", {q, parts.constant(scales->scale)}, axis_attribute(*scales),
            kMicrosoft.data());
}

// The first of two permutations of `rank` axes takes the last axis to the second place, the second
// takes it back.
std::pair<Ints, Ints> channel_moves(std::size_t rank) {
  Ints first = count_up(rank), last = count_up(rank);
  std::rotate(first.begin() + 1, first.end() - 1, first.end());
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  return {first, last};
}

void channels_last(Parts& parts) {
  const std::size_t moved = parts.op_type() == "Conv" ? 2 : 1;
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < parts.inputs(); ++i) inputs.push_back(parts.input(i));
  for (std::size_t i = 0; i < moved; ++i) {
    if (!parts.needs(i)) return;
    const std::size_t rank = parts.shape(i).size();
    if (rank < 2)
      return parts.fail(DiagKind::kShape, cat("input ", i, ": must have 2 axes or more"));
    inputs[i] = parts.transpose(inputs[i], channel_moves(rank).first);
  }
  const std::size_t rank = parts.shape(0).size();
  const ValueId y = parts.add(parts.op_type().c_str(), std::move(inputs), parts.take_all());
  parts.transpose(y, channel_moves(rank).second);
}

constexpr std::string_view kGeneral[] = {"qonnx.custom_op.general", "onnx.brevitas",
                                         "finn.custom_op.general"};
constexpr std::string_view kChannelsLast = "qonnx.custom_op.channels_last";

constexpr Rule kGeneralRules[] = {{"Quant", quant, 4, 1, 0},
                                  {"IntQuant", quant, 4, 1, 0},
                                  {"BipolarQuant", bipolar_quant, 2, 1, 0}};
constexpr Rule kChannelsLastRules[] = {{"Conv", channels_last, 3, 1, 0},
                                       {"MaxPool", channels_last, 1, 1, 0},
                                       {"BatchNormalization", channels_last, 5, 1, 0}};

}  // namespace

bool is_qonnx(std::string_view domain) {
  return domain == kChannelsLast || std::ranges::find(kGeneral, domain) != std::end(kGeneral);
}

const Rule* qonnx_rule(const Node& node) {
  if (!is_qonnx(node.domain)) return nullptr;
  const std::span<const Rule> rules =
      node.domain == kChannelsLast ? kChannelsLastRules : kGeneralRules;
  const auto found = std::ranges::find(rules, node.op_type, &Rule::op_type);
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace etch
