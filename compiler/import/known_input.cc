// Numbers as tensors of a declared type and shape; see known_input.h.
#include "compiler/import/known_input.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/base/text.h"

namespace etch {

namespace {

// False if a number is no value of T.
template <class T>
bool fill(std::span<const double> numbers, std::span<T> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double number = numbers[numbers.size() == 1 ? 0 : i];
    if constexpr (std::numeric_limits<T>::is_integer) {
      // 2^63 is a double, the greatest int64 is none.
      const double past = std::ldexp(1.0, std::numeric_limits<T>::digits);
      const double least = std::numeric_limits<T>::is_signed ? -past : 0;
      if (number != std::floor(number) || number < least || number >= past) return false;
    } else {
      const double most = std::numeric_limits<T>::max();
      if (std::isfinite(number) && std::fabs(number) > most) return false;
    }
    out[i] = static_cast<T>(number);
  }
  return true;
}

// Null if numbers cannot be values of the type of `out`.
std::optional<bool> fill(std::span<const double> numbers, Tensor& out) {
  switch (out.dtype()) {
    case DType::kF32:
      return fill(numbers, out.as<float>());
    case DType::kF64:
      return fill(numbers, out.as<double>());
    case DType::kS64:
      return fill(numbers, out.as<std::int64_t>());
    case DType::kU64:
      return fill(numbers, out.as<std::uint64_t>());
    case DType::kU32:
      return fill(numbers, out.as<std::uint32_t>());
    case DType::kS32:
      return fill(numbers, out.as<std::int32_t>());
    case DType::kS16:
      return fill(numbers, out.as<std::int16_t>());
    case DType::kU16:
      return fill(numbers, out.as<std::uint16_t>());
    case DType::kS8:
      return fill(numbers, out.as<std::int8_t>());
    case DType::kU8:
      return fill(numbers, out.as<std::uint8_t>());
    case DType::kBool:
      return std::ranges::all_of(numbers, [](double n) { return n == 0 || n == 1; }) &&
             fill(numbers, out.as<std::uint8_t>());
    default:
      return std::nullopt;
  }
}

// The declared one, of which an open size of a list follows from its length.
Shape shape_for(const Tensor& given, const Declaration& declared) {
  if (!declared.shape) return given.shape();
  Shape shape = *declared.shape;
  if (shape.size() == 1 && shape[0] < 0) shape[0] = given.size();
  return shape;
}

}  // namespace

std::optional<Tensor> known_input(const Tensor& given, const Declaration& declared,
                                  const Limits& limits, const std::string& location, Sink& sink) {
  const bool numbers = given.dtype() == DType::kF64 && given.shape().size() <= 1;
  if (!numbers || !declared.dtype) return given;
  const Shape shape = shape_for(given, declared);
  const bool open = std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; });
  if (!open && !within_limits(shape, limits, location, sink)) return std::nullopt;
  if (open || (given.size() != 1 && element_count(shape) != given.size())) {
    sink.error(DiagKind::kShape, location,
               cat("--constant has ", counted(given.size(), "number"), " for the shape ",
                   to_string(shape)));
    return std::nullopt;
  }
  Tensor out(*declared.dtype, shape);
  const std::optional<bool> filled = fill(given.as<double>(), out);
  if (filled == true) return out;
  sink.error(DiagKind::kType, location,
             filled ? cat("--constant has a number that is no ", name_of(*declared.dtype))
                    : cat("--constant takes a file for ", name_of(*declared.dtype),
                          ", numbers cannot be it"));
  return std::nullopt;
}

}  // namespace etch
