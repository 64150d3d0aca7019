// Arithmetic that the reference functions of several quantized operators share, written from
// docs/spec/numbers.md and docs/spec/requantization.md: 32-bit wrap-around, rounding to nearest
// even, saturation. Nothing here is used by generated code or by kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/float_steps.h"
#include "compiler/ir/tensor.h"

namespace etch {

// `value` modulo 2^32, as the accumulators of the integer operators overflow.
std::int32_t wrap_to_int32(std::int64_t value);

// Clamps `value` to what `type` can hold once `zero_point` is added, rounds it half to even and
// adds the zero point: the last three steps of every quantization. NaN gives the least value.
// `type` is an integer type of at most 16 bits.
std::int32_t round_and_saturate(float value, int zero_point, DType type);

// fl(fl(accumulator) * scale), then round_and_saturate.
std::int32_t requantize(std::int32_t accumulator, float scale, int zero_point, DType type);

// The sum of floats as reductions and normalizations take it: element i is added to partial sum i
// mod 16, in ascending order; then the upper eight onto the lower eight, neighbours, neighbouring
// pairs, and the two halves.
class FloatSum {
 public:
  void add(float x) { part_[count_++ % 16] += x; }
  float value() const;

 private:
  float part_[16] = {};
  std::size_t count_ = 0;
};

// The same of a product, from 16 times 1 on.
class FloatProduct {
 public:
  void add(float x);
  float value() const;

 private:
  std::vector<float> part_ = std::vector<float>(16, 1.0F);
  std::size_t count_ = 0;
};

// A product that a sum of a float product takes next.
struct FloatTerm {
  float x, w;
  FloatSteps steps;
};

// The sum of a float product, from 0 on. It is never -0: see docs/decisions/0008.
class TermSum {
 public:
  TermSum(int zero = 0) : sum_(static_cast<float>(zero)) {}  // NOLINT(google-explicit-constructor)
  void operator+=(const FloatTerm& term);
  float value() const { return sum_ + 0.0F; }

 private:
  float sum_;
};

// The elements of an integer tensor of at most 32 bits (not uint32), widened.
std::vector<std::int32_t> widened(const Tensor& tensor);

// The reverse: a tensor of an integer type that holds every one of `values`.
Tensor narrowed(DType type, Shape shape, const std::vector<std::int32_t>& values);

}  // namespace etch
