// QuantizeV2 and Dequantize against results that TensorFlow gave (tests/data/quantize_v2, made by
// tools/record_quantize_v2.py): the reference functions and the runtime's, bit for bit. The
// recording holds results only; ranges and elements come from the generator below, which repeats
// the script's float operations one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/dequantize/op.h"
#include "compiler/ops/quantize_v2/op.h"
#include "compiler/ops/reference_math.h"
#include "runtime/etch_quantize.h"
#include "tests/support/one_node.h"
#include "tests/support/paths.h"
#include "tests/support/results.h"

namespace etch {
namespace {

const std::string kFolder = source_dir() + "/tests/data/quantize_v2/";
constexpr std::uint64_t kSeed = 20260101;
constexpr DType kTypes[] = {DType::kS8, DType::kU8, DType::kS16, DType::kU16, DType::kS32};
constexpr float kMinimumRanges[] = {0.01F, 0.0F, 0.001F, 0.25F};
struct Mode {
  const char* mode;
  const char* round_mode;
};
constexpr Mode kModes[] = {{"MIN_COMBINED", "HALF_AWAY_FROM_ZERO"},
                           {"MIN_FIRST", "HALF_AWAY_FROM_ZERO"},
                           {"SCALED", "HALF_AWAY_FROM_ZERO"},
                           {"SCALED", "HALF_TO_EVEN"}};

class Random {  // splitmix64
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>((next() >> 11) % static_cast<std::uint64_t>(n)); }
  float unit() { return static_cast<float>(next() >> 40) * 0x1p-24F; }

 private:
  std::uint64_t state_;
};

using Range = std::pair<float, float>;

Range random_range(Random& r) {
  const int kind = r.below(4);
  const float unit = std::ldexp(1.0F, r.below(41) - 20);
  const float a = r.unit() * unit;
  const float b = r.unit() * unit;
  if (kind == 0) return {-a, b};
  if (kind == 1) {
    constexpr float kDivisors[] = {1, 2, 4, 10, 100};
    const float divisor = kDivisors[r.below(5)];
    const float low = -(static_cast<float>(r.below(256)) / divisor);
    return {low, static_cast<float>(r.below(256)) / divisor};
  }
  if (kind == 2) {
    const float high = a + b;
    return r.below(2) == 0 ? Range{a, high} : Range{-high, -a};
  }
  const int which = r.below(3);
  if (which == 0) return {0.0F, b};
  return which == 1 ? Range{-a, 0.0F} : Range{a, a};
}

float random_element(Random& r, Range range, int levels) {
  const auto [low, high] = range;
  const int kind = r.below(8);
  const float width = high - low;
  const auto steps = static_cast<float>(2 * levels);
  if (kind <= 2) return low + width * (r.unit() * 1.5F - 0.25F);
  if (kind <= 4) return low + width * static_cast<float>(r.below(2 * levels + 1)) / steps;
  if (kind == 5) {
    const float most = high > -low ? high : -low;
    return most * static_cast<float>(r.below(4 * levels + 1) - 2 * levels) / steps;
  }
  if (kind == 6) {
    const float special[] = {0, low, high, 1e30F, -1e30F, 1e-40F, high + high, low + low};
    return special[r.below(8)];
  }
  auto bits = static_cast<std::uint32_t>(r.next() >> 32);
  if (((bits >> 23) & 0xFFU) == 0xFFU) bits &= 0x80000000U;
  return rt::bits_float(bits);
}

int levels_of(DType type) { return bytes_of(type) == 1 ? 255 : 65535; }

// The recording, read from front to back.
class Recorded {
 public:
  Recorded() {
    std::ifstream file(kFolder + "recorded.bin", std::ios::binary);
    data_.assign(std::istreambuf_iterator<char>(file), {});
  }
  Tensor take(DType type, Shape shape) {
    Tensor out(type, std::move(shape));
    const auto bytes = out.mutable_bytes();
    if (at_ + bytes.size() <= data_.size()) std::memcpy(bytes.data(), &data_[at_], bytes.size());
    at_ += bytes.size();
    return out;
  }
  bool ends_here() const { return at_ == data_.size(); }

 private:
  std::string data_;
  std::size_t at_ = 0;
};

struct QuantizeCase {
  DType type = DType::kU8;
  Mode mode{};
  bool narrow = false;
  int axis = -1;
  float minimum_range = 0.01F;
  Tensor x, min, max;

  std::string text() const {
    return std::string(tensorflow_name(type)) + " " + mode.mode + " " + mode.round_mode +
           (narrow ? " narrow" : "") + " [" + std::to_string(min.real(0)) + ", " +
           std::to_string(max.real(0)) + "]";
  }
};

// The row of docs/conformance.md.
std::string feature_of(const QuantizeCase& each) {
  const bool is_scaled = each.mode.mode == std::string("SCALED");
  return "QuantizeV2/" + std::string(each.mode.mode) +
         (is_scaled ? " " + std::string(each.mode.round_mode) : "") + " to " +
         std::string(tensorflow_name(each.type));
}

std::vector<Tensor> reference(const QuantizeCase& each) {
  OneNode node("QuantizeV2", "org.tensorflow", 1);
  node.input(each.x).input(each.min).input(each.max).outputs(3);
  node.attribute("T", std::string(tensorflow_name(each.type)))
      .attribute("mode", std::string(each.mode.mode))
      .attribute("round_mode", std::string(each.mode.round_mode))
      .attribute("narrow_range", std::int64_t{each.narrow})
      .attribute("axis", std::int64_t{each.axis})
      .attribute("ensure_minimum_range", each.minimum_range);
  return node.run();
}

template <class Out>
std::vector<std::int32_t> by_runtime(const QuantizeCase& each, int offset) {
  const bool narrow = each.narrow && each.mode.mode == std::string("SCALED");
  const int least = static_cast<int>(min_of(each.type)) + (narrow ? 1 : 0);
  const auto n = static_cast<int>(each.x.size());
  std::vector<Out> y(static_cast<std::size_t>(n));
  const auto mode = static_cast<int>(*range_mode(each.mode.mode));
  rt::quantize_v2(each.x.as<float>().data(), 1, each.min.as<float>().data(),
                  each.max.as<float>().data(), 0, y.data(), 1, n, mode,
                  each.mode.round_mode == std::string("HALF_TO_EVEN") ? 1 : 0, least,
                  static_cast<int>(max_of(each.type)), each.minimum_range);
  std::vector<std::int32_t> out;
  out.reserve(y.size());
  for (const Out value : y) out.push_back(static_cast<std::int32_t>(value) - offset);
  return out;
}

std::vector<std::int32_t> by_runtime(const QuantizeCase& each) {
  switch (each.type) {
    case DType::kS8:
      return by_runtime<std::uint8_t>(each, 128);
    case DType::kU8:
      return by_runtime<std::uint8_t>(each, 0);
    case DType::kS16:
      return by_runtime<std::int16_t>(each, 0);
    case DType::kU16:
      return by_runtime<std::uint16_t>(each, 0);
    default:
      return by_runtime<std::int32_t>(each, 0);
  }
}

// TensorFlow converts float to qint32 without a check. What rounds to 2^31 becomes the least int32
// on x86 and the greatest on Arm; Etch saturates.
bool overflows_in_tensorflow(const QuantizeCase& each, std::int64_t recorded, std::int64_t ours) {
  return each.type == DType::kS32 && each.mode.mode != std::string("MIN_FIRST") &&
         recorded == std::numeric_limits<std::int32_t>::min() &&
         ours == std::numeric_limits<std::int32_t>::max();
}

struct Elements {
  int elements = 0;
  int overflows = 0;
  int wrong = 0;
};

void compare(const QuantizeCase& each, const Tensor& recorded, const Tensor& ours,
             Elements& tally) {
  for (std::int64_t i = 0; i < recorded.size(); ++i) {
    ++tally.elements;
    const std::int64_t theirs = recorded.integer(i);
    if (theirs == ours.integer(i)) continue;
    if (overflows_in_tensorflow(each, theirs, ours.integer(i))) {
      ++tally.overflows;
    } else if (++tally.wrong < 20) {
      ADD_FAILURE() << each.text() << " of " << each.x.real(i) << ": " << ours.integer(i)
                    << ", TensorFlow " << theirs;
    }
  }
}

QuantizeCase random_case(Random& r, int elements) {
  QuantizeCase out;
  out.type = kTypes[r.below(5)];
  out.mode = kModes[r.below(4)];
  out.narrow = r.below(2) == 1;
  out.minimum_range = kMinimumRanges[r.below(4)];
  const Range range = random_range(r);
  if (range.first == range.second) out.minimum_range = kMinimumRanges[0];
  std::vector<float> x;
  x.reserve(static_cast<std::size_t>(elements));
  for (int i = 0; i < elements; ++i) x.push_back(random_element(r, range, levels_of(out.type)));
  out.x = Tensor::of<float>({elements}, x);
  out.min = Tensor::of<float>({}, {range.first});
  out.max = Tensor::of<float>({}, {range.second});
  return out;
}

void check_per_tensor(Recorded& recorded, std::uint64_t seed, int cases, int elements) {
  Random r(seed);
  Elements tally;
  Tally rows("tensorflow");
  for (int i = 0; i < cases; ++i) {
    const QuantizeCase each = random_case(r, elements);
    const int wrong = tally.wrong;
    const Tensor y = recorded.take(each.type, {elements});
    const std::vector<Tensor> ours = reference(each);
    ASSERT_EQ(ours.size(), 3U) << each.text();
    compare(each, y, ours[0], tally);
    ASSERT_EQ(ours[1], recorded.take(DType::kF32, {})) << each.text();
    ASSERT_EQ(ours[2], recorded.take(DType::kF32, {})) << each.text();
    ASSERT_EQ(by_runtime(each), widened(ours[0])) << each.text();
    rows.count(feature_of(each), tally.wrong == wrong);
    if (each.narrow && each.mode.mode == std::string("SCALED"))
      rows.count("QuantizeV2/narrow_range", tally.wrong == wrong);
    if (each.minimum_range != 0.01F)
      rows.count("QuantizeV2/ensure_minimum_range", tally.wrong == wrong);
    rows.count("QuantizeV2/output_min and output_max", true);
  }
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_EQ(tally.elements, cases * elements);
  EXPECT_GT(tally.overflows, 0);  // the one known difference does occur
  std::printf("%d elements, %d beyond qint32\n", tally.elements, tally.overflows);
}

void check_per_axis(Recorded& recorded, std::uint64_t seed, int cases) {
  const Shape shape{2, 3, 4};
  Random r(seed);
  Elements tally;
  Tally rows("tensorflow");
  for (int i = 0; i < cases; ++i) {
    QuantizeCase each;
    each.type = kTypes[r.below(5)];
    const int with_axis[] = {0, 2, 3};
    each.mode = kModes[with_axis[r.below(3)]];
    each.narrow = r.below(2) == 1;
    each.axis = r.below(3);
    const std::int64_t slices = shape[static_cast<std::size_t>(each.axis)];
    std::vector<Range> ranges;
    ranges.reserve(static_cast<std::size_t>(slices));
    for (std::int64_t s = 0; s < slices; ++s) ranges.push_back(random_range(r));
    const std::int64_t inner[] = {12, 4, 1};
    std::vector<float> x, low, high;
    for (std::int64_t e = 0; e < 24; ++e) {
      const auto slice = static_cast<std::size_t>(e / inner[each.axis] % slices);
      x.push_back(random_element(r, ranges[slice], levels_of(each.type)));
    }
    for (const Range& range : ranges) {
      low.push_back(range.first);
      high.push_back(range.second);
    }
    each.x = Tensor::of<float>(shape, x);
    each.min = Tensor::of<float>({slices}, low);
    each.max = Tensor::of<float>({slices}, high);
    const std::vector<Tensor> ours = reference(each);
    ASSERT_EQ(ours.size(), 3U);
    const Tensor y = recorded.take(each.type, shape);
    compare(each, y, ours[0], tally);
    ASSERT_EQ(ours[1], recorded.take(DType::kF32, {slices})) << each.text();
    ASSERT_EQ(ours[2], recorded.take(DType::kF32, {slices})) << each.text();
    OneNode back("Dequantize", "org.tensorflow", 1);
    back.input(y).input(ours[1]).input(ours[2]);
    back.attribute("mode", std::string(each.mode.mode))
        .attribute("narrow_range", std::int64_t{each.narrow})
        .attribute("axis", std::int64_t{each.axis});
    ASSERT_EQ(back.run().at(0), recorded.take(DType::kF32, shape)) << each.text();
    rows.count("QuantizeV2/axis", tally.wrong == 0);
    rows.count("Dequantize/axis", true);
  }
  EXPECT_EQ(tally.wrong, 0);
}

template <class In>
Tensor dequantized_by_runtime(const std::vector<std::int32_t>& q, Range range, int mode, int least,
                              int most, int offset) {
  std::vector<In> x;
  x.reserve(q.size());
  for (const std::int32_t value : q) x.push_back(static_cast<In>(value + offset));
  std::vector<float> y(q.size());
  rt::dequantize_v2(x.data(), 1, &range.first, &range.second, 0, y.data(), 1,
                    static_cast<int>(q.size()), 0, offset, mode, least, most);
  return Tensor::of<float>({static_cast<std::int64_t>(q.size())}, y);
}

Tensor dequantized_by_runtime(DType type, const std::vector<std::int32_t>& q, Range range, int mode,
                              bool narrow) {
  const int least = static_cast<int>(min_of(type)) + (narrow && mode == rt::kScaled ? 1 : 0);
  const int most = static_cast<int>(max_of(type));
  switch (type) {
    case DType::kS8:
      return dequantized_by_runtime<std::uint8_t>(q, range, mode, least, most, 128);
    case DType::kU8:
      return dequantized_by_runtime<std::uint8_t>(q, range, mode, least, most, 0);
    case DType::kS16:
      return dequantized_by_runtime<std::int16_t>(q, range, mode, least, most, 0);
    case DType::kU16:
      return dequantized_by_runtime<std::uint16_t>(q, range, mode, least, most, 0);
    default:
      return dequantized_by_runtime<std::int32_t>(q, range, mode, least, most, 0);
  }
}

void check_dequantize(Recorded& recorded, std::uint64_t seed, int cases, int elements) {
  Random r(seed);
  Tally rows("tensorflow");
  for (int i = 0; i < cases; ++i) {
    const DType type = kTypes[r.below(5)];
    const Mode mode = kModes[r.below(3)];
    const bool narrow = r.below(2) == 1;
    const Range range = random_range(r);
    std::vector<std::int32_t> q;
    for (int e = 0; e < elements; ++e) {
      Tensor one(type, {1});
      const std::uint64_t bits = r.next();
      std::memcpy(one.mutable_bytes().data(), &bits, static_cast<std::size_t>(bytes_of(type)));
      q.push_back(static_cast<std::int32_t>(one.integer(0)));
    }
    OneNode node("Dequantize", "org.tensorflow", 1);
    node.input(narrowed(type, {elements}, q))
        .input(Tensor::of<float>({}, {range.first}))
        .input(Tensor::of<float>({}, {range.second}))
        .attribute("mode", std::string(mode.mode))
        .attribute("narrow_range", std::int64_t{narrow});
    const Tensor expected = recorded.take(DType::kF32, {elements});
    const std::string what = std::string(tensorflow_name(type)) + " " + mode.mode + " [" +
                             std::to_string(range.first) + ", " + std::to_string(range.second);
    // Bit for bit, except for the payload of NaN: a range of no width has no scale.
    const auto same = [](const Tensor& a, const Tensor& b) {
      for (std::int64_t e = 0; e < a.size(); ++e) {
        if (std::isnan(a.real(e)) && std::isnan(b.real(e))) continue;
        if (rt::float_bits(a.real(e)) != rt::float_bits(b.real(e))) return false;
      }
      return true;
    };
    ASSERT_TRUE(same(node.run().at(0), expected)) << what;
    const auto mode_number = static_cast<int>(*range_mode(mode.mode));
    ASSERT_TRUE(same(dequantized_by_runtime(type, q, range, mode_number, narrow), expected))
        << what;
    rows.count(
        "Dequantize/" + std::string(mode.mode) + " from " + std::string(tensorflow_name(type)),
        true);
  }
}

TEST(RecordedQuantizeV2, EqualsTensorFlow) {
  std::ifstream file(kFolder + "recorded.json");
  const auto about = nlohmann::json::parse(file);
  ASSERT_EQ(about.at("seed").get<std::uint64_t>(), kSeed);
  const auto& sections = about.at("sections");
  const auto cases = [&](const char* section) {
    return sections.at(section).at("cases").get<int>();
  };
  ASSERT_GE(cases("short"), 10000);
  Recorded recorded;
  check_per_tensor(recorded, kSeed, cases("short"), 8);
  check_per_tensor(recorded, kSeed + 1, cases("long"), 256);
  check_per_axis(recorded, kSeed + 2, cases("axis"));
  check_dequantize(recorded, kSeed + 3, cases("dequantize"), 8);
  EXPECT_TRUE(recorded.ends_here());
}

}  // namespace
}  // namespace etch
