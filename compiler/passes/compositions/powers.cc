// Pow of integers (ai.onnx since 12): x to the power e in integers of x's type, modulo 2^bits,
// which is the exact power where the type holds it; ONNX leaves the rest open. Powers below 0 are
// those of 1 and -1, and 0 of all others. Exponents of floats have to be constants and whole; so
// have those of unsigned types, and then x may be float32.
#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/ir/geometry/strided.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

constexpr std::int64_t kMost = 1 << 24;  // float32 has all integers up to here

bool is_unsigned(DType type) { return type == DType::kU32 || type == DType::kU64; }

// Constant exponents; false after a report.
bool read_exponents(Parts& parts, Ints& out) {
  const Tensor* const y = parts.constant(1);
  if (y == nullptr) {
    parts.needs_constant(1, "Y", "must be known at compile time when it is no signed integer");
    return false;
  }
  for (std::int64_t i = 0; i < y->size(); ++i) {
    const bool is_float = y->dtype() == DType::kF32;
    const float value = is_float ? y->as<float>()[static_cast<std::size_t>(i)] : 0;
    const std::int64_t whole = is_float ? 0 : y->integer(i);
    const bool wraps = is_unsigned(y->dtype()) && whole < 0;  // uint64 beyond int64
    if (!(std::abs(value) <= static_cast<float>(kMost)) || std::trunc(value) != value ||
        whole > kMost || whole < -kMost || wraps) {
      parts.fail(DiagKind::kUnsupported, cat("exponents must be whole numbers up to 2^24, got ",
                                             is_float ? decimal(value)
                                             : wraps  ? "2^63 or more"
                                                      : std::to_string(whole)));
      return false;
    }
    out.push_back(is_float ? static_cast<std::int64_t>(value) : whole);
  }
  return true;
}

// The exponents, int64, where more than 62 are 62 or 63 and those below 0 are 0 or 1: with these 0,
// 1 and -1 have the same power.
ValueId limited(Parts& parts, ValueId e, ValueId is_negative) {
  const auto number = [&](std::int64_t value) { return parts.number(DType::kS64, value); };
  const ValueId odd = parts.add("BitwiseAnd", {e, number(1)});
  const ValueId most = parts.add("Add", {odd, number(62)});
  return parts.add("Where", {is_negative, odd, parts.add("Min", {e, most})});
}

// x to the power of exponents that take so many bits.
ValueId power(Parts& parts, DType type, ValueId e, int bits) {
  ValueId square = parts.input(0);
  ValueId y = parts.number(type, 1);
  for (int bit = 0; bit < bits; ++bit) {
    if (bit > 0) square = parts.add("Mul", {square, square});
    const ValueId mask = parts.number(DType::kS64, std::int64_t{1} << bit);
    const ValueId has_bit = parts.cast(parts.add("BitwiseAnd", {e, mask}), DType::kBool);
    y = parts.add("Mul", {y, parts.add("Where", {has_bit, square, parts.number(type, 1)})});
  }
  return y;
}

bool is_power_of_integers(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 2 || graph.opset("") < 12) return false;
  if (std::ranges::count(node.inputs, kNoValue) != 0) return false;
  const auto type = [&](std::size_t i) { return *graph.value(node.inputs[i]).dtype; };
  return type(0) == DType::kS32 || type(0) == DType::kS64 || is_unsigned(type(1));
}

void pow_of_integers(Parts& parts) {
  const DType type = parts.dtype(0);
  if (!parts.has_type(0, {DType::kF32, DType::kS32, DType::kS64}) ||
      !parts.has_type(1, {DType::kF32, DType::kS32, DType::kS64, DType::kU32, DType::kU64}))
    return;
  if (!broadcast_shape(parts.shape(0), parts.shape(1))) {
    return parts.fail(DiagKind::kShape, cat("shapes ", to_string(parts.shape(0)), " and ",
                                            to_string(parts.shape(1)), " do not broadcast"));
  }
  const bool is_known = parts.constant(1) != nullptr;
  Ints exponents;
  if ((is_known || parts.dtype(1) == DType::kF32 || is_unsigned(parts.dtype(1))) &&
      !read_exponents(parts, exponents))
    return;
  ValueId e = is_known                        ? parts.ints(parts.shape(1), exponents)
              : parts.dtype(1) == DType::kS64 ? parts.input(1)
                                              : parts.cast(parts.input(1), DType::kS64);
  if (type == DType::kF32) return parts.give(0, parts.add("Pow", {parts.input(0), e}));
  const ValueId is_negative = parts.add("Less", {e, parts.number(DType::kS64, 0)});
  e = limited(parts, e, is_negative);
  std::int64_t most = is_known ? 1 : 63;
  for (const std::int64_t each : exponents) most = std::max(most, std::min<std::int64_t>(each, 63));
  int bits = 0;
  for (; most > 0; most /= 2) ++bits;
  ValueId y = power(parts, type, e, bits);
  const auto is_below = [](std::int64_t each) { return each < 0; };
  if (!is_known || std::ranges::any_of(exponents, is_below)) {
    const ValueId size = parts.add("Abs", {parts.input(0)});
    const ValueId is_one = parts.add("Equal", {size, parts.number(type, 1)});
    const ValueId lost = parts.add("And", {is_negative, parts.add("Not", {is_one})});
    y = parts.add("Where", {lost, parts.number(type, 0), y});
  }
  parts.give(0, y);
}

constexpr Rule kPowerRules[] = {{"Pow", pow_of_integers, 2, 1, 12, is_power_of_integers}};

}  // namespace

std::span<const Rule> power_rules() { return kPowerRules; }

}  // namespace etch
