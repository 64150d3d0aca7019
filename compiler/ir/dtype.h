// Element types of tensors. Values of the enumerators are ours, not ONNX's.
#pragma once

#include <cstdint>
#include <string_view>

namespace etch {

// id, ONNX name, bytes of one element in our (unpacked) storage
#define ETCH_DTYPES(X)    \
  X(kF32, "float32", 4)   \
  X(kF64, "float64", 8)   \
  X(kF16, "float16", 2)   \
  X(kBF16, "bfloat16", 2) \
  X(kU8, "uint8", 1)      \
  X(kS8, "int8", 1)       \
  X(kU16, "uint16", 2)    \
  X(kS16, "int16", 2)     \
  X(kU32, "uint32", 4)    \
  X(kS32, "int32", 4)     \
  X(kU64, "uint64", 8)    \
  X(kS64, "int64", 8)     \
  X(kBool, "bool", 1)     \
  X(kU4, "uint4", 1)      \
  X(kS4, "int4", 1)

enum class DType : std::uint8_t {
#define ETCH_DTYPE(id, name, bytes) id,
  ETCH_DTYPES(ETCH_DTYPE)
#undef ETCH_DTYPE
};

std::string_view name_of(DType type);
int bytes_of(DType type);

constexpr bool is_8bit(DType type) { return type == DType::kU8 || type == DType::kS8; }
constexpr bool is_signed(DType type) {
  return type == DType::kS8 || type == DType::kS16 || type == DType::kS32 || type == DType::kS64 ||
         type == DType::kS4;
}

// Least and greatest value of an integer type of at most 32 bits.
std::int64_t min_of(DType type);
std::int64_t max_of(DType type);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kF64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::kU8;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::kS8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::kU16;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::kS16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::kU32;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::kS32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::kU64;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::kS64;
};

}  // namespace etch
