// For the tests of vocabularies: data with extreme and random values, what the portable model in
// templates/native.h makes of them, and comparing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <string>

#include "templates/isa/vocab_check.h"
#include "templates/native.h"

namespace etch::vocab_check {

class Values {
 public:
  explicit Values(unsigned seed) : random_(seed) {}

  std::uint32_t bits() { return static_cast<std::uint32_t>(random_()); }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint32_t>(n)); }

  std::int32_t integer() {
    constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t kExtremes[] = {0,      1,     -1,    127,    -128,      255,
                                          256,    32767, 32768, -32768, -32769,    -33023,
                                          -32513, 65535, kMost, -kMost, -kMost - 1};
    switch (below(3)) {
      case 0:
        return kExtremes[below(std::size(kExtremes))];
      case 1:
        return below(140000) - 70000;
      default:
        return static_cast<std::int32_t>(bits());
    }
  }

  std::uint8_t byte() {
    constexpr std::uint8_t kExtremes[] = {0, 255, 128, 127, 1};
    if (below(3) == 0) return kExtremes[below(std::size(kExtremes))];
    return static_cast<std::uint8_t>(bits());
  }

  std::int8_t weight() { return static_cast<std::int8_t>(byte()); }

  float real() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kExtremes[] = {0.0F,      -0.0F,   kInfinity, -kInfinity, kNan,    1e-45F,
                                   -1.1e-38F, 3.4e38F, -3.4e38F,  1.0F,       -127.5F, 255.5F};
    switch (below(4)) {
      case 0:
        return kExtremes[below(std::size(kExtremes))];
      case 1:
        return any_bits();
      case 2:
        return static_cast<float>(integer());
      default:
        return static_cast<float>(below(2000001) - 1000000) / 4096.0F;
    }
  }

  // A value that rounds to an int32; often half way between two.
  float moderate() {
    switch (below(4)) {
      case 0:
        return static_cast<float>(below(2001) - 1000) / 2;
      case 1:
        return std::ldexp(static_cast<float>(below(1 << 24) - (1 << 23)), below(9) - 1);
      case 2:
        return std::ldexp(static_cast<float>(integer() >> 1), -below(40));
      default:
        return below(2) == 0 ? -0.0F : 2147483520.0F;
    }
  }

  // In (0, 0.99]; powers of two make ties.
  float scale() {
    if (below(3) == 0) return std::ldexp(1.0F, -1 - below(24));
    return std::ldexp(0.99F * static_cast<float>(below(1 << 24) + 1), -24 - below(20));
  }

 private:
  float any_bits() {
    const std::uint32_t pattern = bits();
    float value = 0;
    std::memcpy(&value, &pattern, sizeof value);
    return value;
  }

  std::mt19937 random_;
};

inline void pack_weight(const IsaTraits& isa, std::uint8_t* vector, int lane, int k,
                        std::int8_t value) {
  if (isa.weight_form == WeightForm::kS8x4) {
    vector[4 * lane + k] = static_cast<std::uint8_t>(value);
    return;
  }
  std::uint8_t* const word = vector + (k % 2) * 4 * isa.lanes + 4 * lane + 2 * (k / 2);
  word[0] = static_cast<std::uint8_t>(value);
  word[1] = value < 0 ? 0xFF : 0;
}

// As load_byte_w4 takes it.
inline void pack_byte_weight(const IsaTraits& isa, std::uint8_t* vector, int lane, int k,
                             std::int8_t value) {
  if (isa.weight_form == WeightForm::kS8x4) return pack_weight(isa, vector, lane, k, value);
  vector[k % 2 * 2 * isa.lanes + 2 * lane + k / 2] = static_cast<std::uint8_t>(value);
}

// As load_moved_w4 takes it.
inline void pack_moved_weight(const IsaTraits& isa, std::uint8_t* vector, int lane, int k,
                              std::int8_t value) {
  if (isa.weights_in_pairs && k >= 2 && value == -128) value = -127;  // fits_in_pairs()
  if (!isa.weights_in_pairs) return pack_weight(isa, vector, lane, k, value);
  vector[k / 2 * 2 * isa.lanes + 2 * lane + k % 2] = static_cast<std::uint8_t>(value);
}

// As dot_sums16 takes them: the second of two is made smaller until both fit.
inline void pack_sums16_weight(std::uint8_t* vector, int lane, int k, std::int8_t value) {
  const auto before = static_cast<std::int8_t>(k % 2 == 0 ? 0 : vector[4 * lane + k - 1]);
  while (!fits_sums16(before, value)) value = static_cast<std::int8_t>(value / 2);
  vector[4 * lane + k] = static_cast<std::uint8_t>(value);
}

inline void fill_weights(const IsaTraits& isa, Values& values, Data& data) {
  for (int i = 0; i < 4; ++i) {
    for (int lane = 0; lane < isa.lanes; ++lane) {
      for (int k = 0; k < 4; ++k) {
        pack_weight(isa, data.weights + i * isa.weight_bytes(), lane, k, values.weight());
        pack_byte_weight(isa, data.byte_weights + i * 4 * isa.lanes, lane, k, values.weight());
        pack_moved_weight(isa, data.moved_weights + i * isa.weight_bytes(), lane, k,
                          values.weight());
        pack_sums16_weight(data.sums16_weights + i * kWindow, lane, k, values.weight());
        pack_weight(isa, data.unit_weights + i * isa.weight_bytes(), lane, k, i == k ? 1 : 0);
      }
    }
  }
}

// Multipliers, offsets of at most 2^61, shifts, offsets for odd results; values to correct;
// scales of any size.
inline void fill_requantization(const IsaTraits& isa, Values& values, Data& data) {
  for (int c = 0; c < isa.lanes; ++c) {
    const auto at = [&](int kind) { return kind * isa.lanes + c; };
    data.factors[at(0)] = values.integer() & 0x7fffffff;
    data.factors[at(1)] = static_cast<std::int32_t>(values.bits());
    data.factors[at(2)] = static_cast<std::int32_t>(values.bits()) >> (2 + values.below(30));
    data.factors[at(3)] = values.below(32);
    data.factors[at(4)] = values.below(2) == 0 ? 0 : values.integer();
    data.corrections[at(0)] = values.below(2) == 0 ? data.integers[c] : values.integer();
    data.corrections[at(1)] = values.below(3) - 1;
    const float scale = values.below(4) == 0 ? 1.0F + values.scale() : values.scale();
    std::memcpy(data.scale_bits + c, &scale, sizeof scale);
    if (values.below(3) == 0) data.scale_bits[c] = 0;
  }
}

// Makes some of a * b + c cancel to the rounding error of the product.
inline void make_sums_cancel(float* reals) {
  for (int c = 0; c < kMostLanes; c += 3) {
    reals[2 * kMostLanes + c] = -(reals[c] * reals[kMostLanes + c]);
  }
}

inline std::unique_ptr<Data> random_data(const IsaTraits& isa, unsigned seed) {
  auto data = std::make_unique<Data>();
  Values values(seed);
  for (std::int32_t& v : data->integers) v = values.integer();
  for (std::int32_t& v : data->sums) v = values.integer();
  for (float& v : data->scales) v = values.scale();
  for (float& v : data->reals) v = values.real();
  for (float& v : data->moderate) v = values.moderate();
  for (std::uint8_t& v : data->bytes) v = values.byte();
  make_sums_cancel(data->reals);
  fill_weights(isa, values, *data);
  const std::int32_t places[] = {0, 5, 12, kWindow - 4};
  std::copy(std::begin(places), std::end(places), data->places);
  fill_requantization(isa, values, *data);
  data->lanes = isa.lanes;
  data->weight_bytes = isa.weight_bytes();
  data->zero_point = values.byte();
  data->low = static_cast<float>(-data->zero_point);
  data->high = static_cast<float>(255 - data->zero_point);
  return data;
}

inline void run_model(const IsaTraits& isa, const Input& in, Output& out) {
  NativeVerbs verbs(isa);
  vocab_check::EveryVerb<NativeVerbs>(verbs, in, out).run();
}

// Empty if both hold the same results.
inline std::string first_difference(const Output& expected, const Output& actual) {
  if (expected.results != actual.results) return "different numbers of results";
  int begin = 0;
  for (int r = 0; r < expected.results; ++r) {
    if (expected.end[r] != actual.end[r]) return "results of different sizes";
    for (int i = begin; i < expected.end[r]; ++i) {
      if (expected.data[i] == actual.data[i]) continue;
      return std::string(expected.verb[r]) + ": byte " + std::to_string(i - begin) + " of result " +
             std::to_string(r) + " is " + std::to_string(actual.data[i]) + ", expected " +
             std::to_string(expected.data[i]);
    }
    begin = expected.end[r];
  }
  return {};
}

}  // namespace etch::vocab_check
