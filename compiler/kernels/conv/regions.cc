// Segments along one axis; see regions.h. Axes can be long and kernels as large as files, so what a
// position reads is computed, not searched: the taps of all positions with the same remainder
// modulo the stride form one progression, of which each position reads an interval.
#include "compiler/kernels/conv/regions.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace etch {

namespace {

// Quotients rounded down and up, of a divisor > 0.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - static_cast<std::int64_t>(a % b < 0);
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + static_cast<std::int64_t>(a % b > 0);
}

// x with a x = 1 modulo m, for coprime a and m (Euclid's algorithm).
std::int64_t inverse(std::int64_t a, std::int64_t m) {
  std::int64_t x = 1, next_x = 0;
  for (std::int64_t r = a % m, next_r = m; next_r != 0;) {
    const std::int64_t quotient = r / next_r;
    r = std::exchange(next_r, r - quotient * next_r);
    x = std::exchange(next_x, x - quotient * next_x);
  }
  return (x % m + m) % m;
}

// The taps that positions of one phase could read: kernel indices first + t * kernel_step.
struct Progression {
  std::int64_t first = 0, kernel_step = 1, count = 0;
  std::int64_t input_step = 1;  // of the input position, per tap; negative where transposed
};

// The taps that one position reads: t in [begin, end).
struct Interval {
  std::int64_t begin = 0, end = 0;
  bool operator==(const Interval&) const = default;
};

class AxisWalk {
 public:
  AxisWalk(const ConvAxis& axis, ConvDirection direction, std::int64_t low, std::int64_t high)
      : axis_(axis), forward_(direction == ConvDirection::kForward), low_(low), high_(high) {}

  // Calls take(segment without taps, progression, interval, first input) for each segment in order
  // until it returns false.
  template <class Take>
  void run(const Take& take) const {
    const std::int64_t step = forward_ ? 1 : axis_.stride;
    for (std::int64_t phase = 0; phase < std::min(step, axis_.out); ++phase) {
      const Progression taps = progression(phase);
      for (std::int64_t o = phase; o < axis_.out;) {
        const Interval read = interval(taps, o);
        Segment segment{o, 1, step, forward_ ? axis_.stride : 1, {}};
        segment.count += more_alike(taps, read, segment);
        o += segment.count * step;
        while (o < axis_.out && interval(taps, o) == read) {
          ++segment.count;
          o += step;
        }
        if (!take(segment, taps, read, input_of(taps, segment.first))) return;
      }
    }
  }

 private:
  Progression progression(std::int64_t phase) const {
    if (forward_) return {0, 1, axis_.kernel, axis_.dilation};
    // Those j for which phase + pad_begin - j * dilation is a multiple of the stride.
    const std::int64_t common = std::gcd(axis_.stride, axis_.dilation);
    const std::int64_t shifted = phase + axis_.pad_begin;
    Progression out{0, axis_.stride / common, 0, -axis_.dilation / common};
    if (shifted % common != 0) return out;
    const std::int64_t modulus = out.kernel_step;
    const std::int64_t solution = inverse(axis_.dilation / common, modulus);
    const std::int64_t multiple = shifted / common % modulus;
    out.first = multiple * solution % modulus;  // strides are below 2^31 (conv_geometry)
    if (out.first < axis_.kernel) out.count = (axis_.kernel - 1 - out.first) / out.kernel_step + 1;
    return out;
  }

  // The input position of tap t = 0 for output position `o` of the progression's phase.
  std::int64_t input_of(const Progression& taps, std::int64_t o) const {
    if (forward_) return o * axis_.stride - axis_.pad_begin;
    return floor_div(o + axis_.pad_begin - taps.first * axis_.dilation, axis_.stride);
  }

  Interval interval(const Progression& taps, std::int64_t o) const {
    const std::int64_t input = input_of(taps, o);
    const std::int64_t step = taps.input_step;
    std::int64_t begin =
        step > 0 ? ceil_div(low_ - input, step) : ceil_div(input - high_ + 1, -step);
    std::int64_t end =
        step > 0 ? floor_div(high_ - 1 - input, step) + 1 : floor_div(input - low_, -step) + 1;
    begin = std::max<std::int64_t>(begin, 0);
    end = std::min(end, taps.count);
    return begin < end ? Interval{begin, end} : Interval{};
  }

  // At how many positions more the segment's first interval is known to stay as it is: all taps
  // readable, or none. Inputs only grow from position to position.
  std::int64_t more_alike(const Progression& taps, const Interval& read,
                          const Segment& segment) const {
    const std::int64_t left = (axis_.out - 1 - segment.first) / segment.step;
    if (taps.count == 0) return left;
    const std::int64_t first = input_of(taps, segment.first);
    const std::int64_t last = first + (taps.count - 1) * taps.input_step;
    const auto [lowest, highest] = std::minmax(first, last);
    if (lowest >= high_) return left;
    if (highest < low_) return std::min(left, (low_ - 1 - highest) / segment.advance);
    if (read != Interval{0, taps.count}) return 0;
    return std::min(left, (high_ - 1 - highest) / segment.advance);
  }

  const ConvAxis& axis_;
  bool forward_;
  std::int64_t low_, high_;  // readable inputs
};

}  // namespace

std::vector<Segment> plan_segments(const ConvAxis& axis, ConvDirection direction,
                                   std::int64_t halo_begin, std::int64_t halo_end,
                                   std::size_t most) {
  std::vector<Segment> out;
  AxisWalk(axis, direction, -halo_begin, axis.in + halo_end)
      .run(
          [&](Segment& segment, const Progression& taps, const Interval& read, std::int64_t input) {
            for (std::int64_t t = read.begin; t < read.end; ++t) {
              segment.taps.push_back({static_cast<int>(taps.first + t * taps.kernel_step),
                                      input + t * taps.input_step});
            }
            out.push_back(std::move(segment));
            return out.size() <= most;
          });
  return out;
}

SegmentCount count_segments(const ConvAxis& axis, ConvDirection direction, std::int64_t halo_begin,
                            std::int64_t halo_end, std::size_t most) {
  SegmentCount out;
  AxisWalk(axis, direction, -halo_begin, axis.in + halo_end)
      .run([&](const Segment&, const Progression&, const Interval& read, std::int64_t) {
        out.taps += read.end - read.begin;
        return ++out.segments <= most;
      });
  return out;
}

HaloNeed halo_need(const ConvAxis& axis, ConvDirection direction) {
  if (direction == ConvDirection::kTransposed) {
    const std::int64_t before = (axis.kernel - 1) * axis.dilation - axis.pad_begin;
    const std::int64_t last = (axis.out - 1 + axis.pad_begin) / axis.stride;
    return {std::max<std::int64_t>(0, before) / axis.stride,
            std::max<std::int64_t>(0, last - (axis.in - 1))};
  }
  const std::int64_t last =
      (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation - axis.pad_begin;
  return {axis.pad_begin, std::max<std::int64_t>(0, last - (axis.in - 1))};
}

}  // namespace etch
