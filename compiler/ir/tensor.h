// A constant tensor: element type, shape and dense row-major data. int4 and uint4 are kept one
// element per byte (sign- or zero-extended); float16 and bfloat16 as their 16-bit patterns.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/dtype.h"

namespace etch {

using Shape = std::vector<std::int64_t>;  // sizes, outermost first; all >= 0

// Product of the sizes (1 for a scalar). The importer guarantees that it does not overflow.
std::int64_t element_count(const Shape& shape);
// "[1, 3, 224, 224]"
std::string to_string(const Shape& shape);

class Tensor {
 public:
  Tensor() = default;
  // All elements zero.
  Tensor(DType dtype, Shape shape);

  template <class T>
  static Tensor of(Shape shape, const std::vector<T>& values) {
    Tensor out(DTypeOf<T>::value, std::move(shape));
    ETCH_CHECK(static_cast<std::int64_t>(values.size()) == out.size());
    if (!values.empty()) std::memcpy(out.bytes_.data(), values.data(), out.bytes_.size());
    return out;
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return element_count(shape_); }  // elements
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> mutable_bytes() { return bytes_; }

  // Typed view; T must be the element type (int8_t also for s4, uint8_t also for u4 and bool).
  template <class T>
  std::span<const T> as() const {
    ETCH_CHECK(stores<T>());
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> as() {
    ETCH_CHECK(stores<T>());
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

  // Element `index` of any integer or bool type, widened.
  std::int64_t integer(std::int64_t index) const;
  // All elements of an integer tensor, widened.
  std::vector<std::int64_t> integers() const;
  // Element `index` of a float32 tensor, or of a float16, bfloat16 or float64 one rounded to
  // float32.
  float real(std::int64_t index) const;

  // The same data under another shape of equal size.
  Tensor reshaped(Shape shape) const;

  bool operator==(const Tensor& other) const = default;

 private:
  template <class T>
  bool stores() const {
    if (dtype_ == DType::kS4) return std::is_same_v<T, std::int8_t>;
    if (dtype_ == DType::kU4 || dtype_ == DType::kBool) return std::is_same_v<T, std::uint8_t>;
    if (dtype_ == DType::kF16 || dtype_ == DType::kBF16) return std::is_same_v<T, std::uint16_t>;
    return DTypeOf<T>::value == dtype_;
  }

  DType dtype_ = DType::kF32;
  Shape shape_;
  std::vector<std::byte> bytes_;
};

}  // namespace etch
