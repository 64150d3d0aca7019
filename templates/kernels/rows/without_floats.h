// Elementwise kernels for cores where floats are expensive, which call functions of the runtime for
// whole runs: QLinearMul as a line in integers, which the compiler has proved equal to the rule of
// templates/kernels/rows/product.h, and QuantizeLinear from the bits of floats.
#pragma once

#include <cstddef>
#include <cstdint>

#include "templates/external/byte_lines.h"
#include "templates/kernels/rows/elementwise.h"

namespace etch {

// What rt::multiply_bytes() and, in int32, its siblings take.
struct ProductLineArguments {
  rt::SumForm form = rt::kWideSum;
  int factor = 0, offset_low = 0, offset_high = 0, bits = 32;
};
struct MultiplyLinePlan : MultiplyPlan {
  ProductLineArguments line;
};

// One element that is repeated along the run is the second factor. Outputs are side by side.
template <class S>
void multiply_line_kernel(S& s, const MultiplyLinePlan& plan) {
  const ProductFactors& f = plan.factors;
  const ProductLineArguments& line = plan.line;
  const bool exchanged = plan.nest.repeats[0];
  const int a_zero = exchanged ? f.b_zero : f.a_zero, b_zero = exchanged ? f.a_zero : f.b_zero;
  const int b_step = exchanged || plan.nest.repeats[1] ? 0 : 1;
  nest_detail::both(
      s, plan, plan.nest.run, [&](const auto& pa, const auto& pb, const auto& y, int n) {
        const auto& a = exchanged ? pb : pa;
        const auto& b = exchanged ? pa : pb;
        if (line.form == rt::kWideSum) {
          s.call(external::MultiplyBytes{}, a, b, b_step, y, n, a_zero, b_zero, line.factor,
                 line.offset_low, line.offset_high, line.bits - 32, plan.low, plan.high);
        } else {
          s.call(external::MultiplyBytesNarrow(line.form == rt::kSumToEven), a, b, b_step, y, n,
                 a_zero, b_zero, line.factor, line.offset_low, line.bits, plan.low, plan.high);
        }
      });
}

// What rt::quantize_bits() takes for 1 / scale.
struct QuantizeBitsPlan : QuantizePlan {
  int reciprocal = 0, digits = 0;
};

template <class S>
void quantize_bits_kernel(S& s, const QuantizeBitsPlan& plan) {
  const Nest& nest = plan.nest;
  nest_detail::chunks(s, nest, nest.run, [&](const nest_detail::At<S>& at, int n) {
    s.call(external::QuantizeBits{}, s.template operand<const float>(0) + at.i[0],
           s.template operand<std::uint8_t>(1) + at.i[kNestOperands - 1], n,
           static_cast<int>(nest.out_step), plan.scale, plan.reciprocal, plan.digits, plan.low,
           plan.high, plan.zero_point);
  });
}

}  // namespace etch
