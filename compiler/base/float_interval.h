// Bounds of a float that generated code computes. Every operation rounds monotonically, so the ends
// of an interval, taken through the same operation in float, bound everything between them:
// exactly, with no margin for rounding. What overflows becomes infinite or NaN at an end and then
// fits nothing.
//
// This is how the compiler proves that a float may be converted to an integer as it is. Where
// the proof fails, the value has to be clamped in float first: the conversion of what does not fit
// is undefined in C++, and instructions differ in what they give.
#pragma once

namespace etch {

struct FloatInterval {
  float low = 0, high = 0;
};

FloatInterval sum(const FloatInterval& a, const FloatInterval& b);
// `factor` of either sign.
FloatInterval product(const FloatInterval& x, float factor);
// divisor > 0.
FloatInterval quotient(const FloatInterval& x, float divisor);
// x * factor + addend with one rounding.
FloatInterval fused(const FloatInterval& x, float factor, const FloatInterval& addend);

bool is_finite(const FloatInterval& x);
// Whether every value can be rounded to an int32, to either neighbour. Not if an end is NaN.
bool fits_int32(const FloatInterval& x);

}  // namespace etch
