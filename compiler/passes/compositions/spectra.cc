// Windows and discrete Fourier transforms of known size:
//   HannWindow, HammingWindow, BlackmanWindow   constants
//   DFT   MatMul with the cosines and sines of all turns, rounded to float32 (and divided by the
//         length before, for the inverse); of half a spectrum the inverse is real: one part, and
//         what is not in the half counts as its mirror image
//   STFT  Conv with the same table, times the window before it is rounded, and the step as stride
#include <algorithm>
#include <cmath>
#include <string_view>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

// cos(2 pi turn / length) by series that need no libm: the same on every machine.
double small_cosine(double x) {
  double sum = 1;
  for (int k = 10; k >= 1; --k) sum = 1 - sum * (x * x / ((2 * k - 1) * (2 * k)));
  return sum;
}
double small_sine(double x) {
  double sum = 1;
  for (int k = 10; k >= 1; --k) sum = 1 - sum * (x * x / ((2 * k) * (2 * k + 1)));
  return sum * x;
}
double cosine(std::int64_t turn, std::int64_t length) {
  constexpr double kPi = 3.14159265358979323846;
  turn %= length;
  if (turn < 0) turn += length;
  if (2 * turn > length) turn = length - turn;  // cos is even
  const bool negative = 4 * turn > length;      // beyond a quarter
  // Eighths of a turn from 0 or from a half: 8 * (...) stays in integers.
  const std::int64_t rest = negative ? length - 2 * turn : 2 * turn;  // in half turns, times length
  const double angle = kPi * static_cast<double>(rest) / static_cast<double>(length);
  double value = 0;
  if (4 * rest <= length) {
    value = small_cosine(angle);
  } else {
    const std::int64_t other = length - 2 * rest;  // what is left to a quarter
    value = small_sine(kPi * static_cast<double>(other) / static_cast<double>(2 * length));
  }
  return negative ? -value : value;
}
// sin x = cos(x - a quarter): four times the length makes quarters whole.
double sine(std::int64_t turn, std::int64_t length) {
  return cosine(4 * (turn % length) - length, 4 * length);
}

constexpr std::int64_t kMostElements = 4'000'000;  // elements of a table

std::int64_t known_size(Parts& parts, std::size_t i, const char* role) {
  Ints given;
  if (!parts.read(i, role, given)) return 0;
  if (given.size() == 1 && given[0] > 0 && given[0] <= kMostElements) return given[0];
  parts.fail(DiagKind::kShape,
             cat("input ", i, " (", role, "): must be one number from 1 to ", kMostElements));
  return 0;
}

void window(Parts& parts) {
  const bool periodic = parts.take<std::int64_t>("periodic", 1) != 0;
  if (parts.take<std::int64_t>("output_datatype", 1) != 1)
    parts.fail(DiagKind::kType, "output_datatype: must be float32");
  const std::int64_t size = known_size(parts, 0, "size");
  if (parts.failed()) return;
  const std::string_view type = parts.op_type();
  double a = 0.5, b = 0.5, c = 0;
  if (type == "HammingWindow") a = 25.0 / 46.0, b = 21.0 / 46.0;
  if (type == "BlackmanWindow") a = 0.42, c = 0.08;
  const std::int64_t length = std::max<std::int64_t>(1, periodic ? size : size - 1);
  std::vector<float> values;
  for (std::int64_t k = 0; k < size; ++k)
    values.push_back(static_cast<float>(a - b * cosine(k, length) + c * cosine(2 * k, length)));
  parts.add("Identity", {parts.constant(Tensor::of<float>({size}, values))});
}

struct Transform {
  std::int64_t axis = 0, n = 0, parts = 0;  // of the input: places along the axis, 1 or 2 parts
  std::int64_t length = 0, results = 0;
  bool inverse = false, half = false;
  std::int64_t result_parts() const { return inverse && half ? 1 : 2; }
};

// From [n, 2] of half a spectrum to [results, 1]: twice the real part of all but the first and,
// where the length is even, the middle one.
std::vector<double> matrix_of_half(const Transform& t) {
  std::vector<double> out;
  const double share = 1.0 / static_cast<double>(t.length);
  for (std::int64_t k = 0; k < t.n; ++k) {
    const bool alone = k == 0 || 2 * k == t.length;
    const double reach = 2 * k > t.length ? 0 : alone ? share : 2 * share;  // more are cut
    for (const bool imaginary : {false, true}) {
      for (std::int64_t m = 0; m < t.results; ++m) {
        const std::int64_t turn = k * m % t.length;
        out.push_back(reach * (imaginary ? -sine(turn, t.length) : cosine(turn, t.length)));
      }
    }
  }
  return out;
}

// From [n, parts] to [results, 2].
std::vector<double> matrix(const Transform& t) {
  if (t.result_parts() == 1) return matrix_of_half(t);
  std::vector<double> out;
  const double share = t.inverse ? 1.0 / static_cast<double>(t.length) : 1.0;
  const std::int64_t length = t.length;
  for (std::int64_t k = 0; k < t.n; ++k) {
    for (std::int64_t part = 0; part < t.parts; ++part) {
      for (std::int64_t m = 0; m < t.results; ++m) {
        const std::int64_t turn = k >= length ? 0 : k * m % length;
        const double reach = k >= length ? 0 : share;  // longer inputs are cut
        const double turned = (t.inverse ? reach : -reach) * sine(turn, length);
        const double straight = reach * cosine(turn, length);
        out.push_back(part == 0 ? straight : -turned);
        out.push_back(part == 0 ? turned : straight);
      }
    }
  }
  return out;
}

bool read(Parts& parts, Transform& t) {
  const Shape shape = parts.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  t.inverse = parts.take<std::int64_t>("inverse", 0) != 0;
  t.half = parts.take<std::int64_t>("onesided", 0) != 0;
  const bool real = t.half && t.inverse;
  t.axis = parts.opset() < 20 ? parts.take<std::int64_t>("axis", 1) : -2;
  if (parts.opset() >= 20 && parts.input(2) != kNoValue) {
    Ints axis;
    if (!parts.read(2, "axis", axis)) return false;
    if (!axis.empty()) t.axis = axis[0];
  }
  if (t.axis < 0) t.axis += rank;
  if (rank < 2 || t.axis < 0 || t.axis >= rank - 1 || shape.back() > 2 ||
      element_count(shape) == 0 || (real && shape.back() != 2)) {
    parts.fail(
        DiagKind::kUnsupported,
        cat("only transforms along an axis before the last of 1 or 2 parts, and of 2 for the "
            "inverse of half a spectrum, can be compiled; the shape is ",
            to_string(shape)));
    return false;
  }
  t.n = shape[static_cast<std::size_t>(t.axis)];
  t.parts = shape.back();
  const std::int64_t usual = real ? std::max<std::int64_t>(1, 2 * (t.n - 1)) : t.n;
  t.length = parts.input(1) == kNoValue ? usual : known_size(parts, 1, "dft_length");
  if (parts.failed()) return false;
  if (real && t.length / 2 + 1 > t.n) {
    parts.fail(DiagKind::kShape, cat("half a spectrum of length ", t.length, " has ",
                                     t.length / 2 + 1, " places, the input has ", t.n));
    return false;
  }
  t.results = t.half && !t.inverse ? t.length / 2 + 1 : t.length;
  if (t.n > kMostElements || t.results > kMostElements / (2 * t.n * t.parts)) {
    parts.fail(DiagKind::kLimit, "the table of cosines has more than 4,000,000 elements");
    return false;
  }
  return true;
}

void dft(Parts& parts) {
  Transform t;
  if (!parts.has_type(0, {DType::kF32}) || !read(parts, t)) return;
  const Shape shape = parts.shape(0);
  Ints there, back;  // the axis goes before the last one, and back
  for (std::int64_t d = 0; d + 1 < static_cast<std::int64_t>(shape.size()); ++d) {
    if (d != t.axis) there.push_back(d);
  }
  there.push_back(t.axis);
  there.push_back(static_cast<std::int64_t>(shape.size()) - 1);
  Shape result;
  for (const std::int64_t d : there) result.push_back(shape[static_cast<std::size_t>(d)]);
  result[shape.size() - 2] = t.results;
  result.back() = t.result_parts();
  for (const std::int64_t d : count_up(shape.size()))
    back.push_back(std::ranges::find(there, d) - there.begin());
  const std::int64_t rows = element_count(shape) / (t.n * t.parts);
  const ValueId x = parts.reshape(parts.transpose(parts.input(0), there), {rows, t.n * t.parts});
  const std::vector<double> turns = matrix(t);
  const ValueId table =
      parts.constant(Tensor::of<float>({t.n * t.parts, t.result_parts() * t.results},
                                       std::vector<float>(turns.begin(), turns.end())));
  const ValueId y = parts.reshape(parts.add("MatMul", {x, table}), result);
  parts.give(0, parts.transpose(y, back));
}

// The window of an STFT, ones where it has none; false after a report.
bool read_window(Parts& parts, Transform& t, std::vector<double>& window) {
  if (parts.has_input(3)) t.n = known_size(parts, 3, "frame_length");
  if (parts.has_input(2)) {
    const Tensor* given = parts.constant(2);
    if (given == nullptr) {
      parts.needs_constant(2, "window");
    } else if (parts.has_type(2, {DType::kF32})) {
      const std::span<const float> values = given->as<float>();
      window.assign(values.begin(), values.end());
      if (given->shape().size() != 1 || (t.n != 0 && given->shape()[0] != t.n))
        parts.fail(DiagKind::kShape, "input 2 (window): must be a list of frame_length numbers");
      t.n = static_cast<std::int64_t>(window.size());
    }
  } else if (t.n == 0) {
    parts.fail(DiagKind::kGraph, "needs a window or a frame_length");
  } else {
    window.assign(static_cast<std::size_t>(t.n), 1.0);
  }
  return !parts.failed();
}

// Reads what an STFT is, and its step; false after a report.
bool read_frames(Parts& parts, Transform& t, std::vector<double>& window, std::int64_t& step) {
  const Shape shape = parts.shape(0);
  const bool half = parts.take<std::int64_t>("onesided", 1) != 0;
  step = known_size(parts, 1, "frame_step");
  if (!read_window(parts, t, window)) return false;
  t.parts = shape.size() == 3 ? shape[2] : 1;
  if ((shape.size() != 3 && shape.size() != 2) || t.parts < 1 || t.parts > 2 || t.n < 1 ||
      shape[1] < t.n || (half && t.parts == 2)) {
    parts.fail(DiagKind::kShape,
               cat("the signal must be [batch, length] or [batch, length, 1 or 2] of at least one "
                   "frame, of 1 part if onesided; is ",
                   to_string(shape)));
    return false;
  }
  t.length = t.n;
  t.results = half ? t.n / 2 + 1 : t.n;
  if (t.results > kMostElements / (2 * t.n * t.parts)) {
    parts.fail(DiagKind::kLimit, "the table of cosines has more than 4,000,000 elements");
  }
  return !parts.failed();
}

void stft(Parts& parts) {
  Transform t;
  std::vector<double> window;
  std::int64_t step = 0;
  if (!parts.has_type(0, {DType::kF32}) || !read_frames(parts, t, window, step)) return;
  const std::vector<double> table = matrix(t);
  const auto width = static_cast<std::size_t>(2 * t.results);
  const auto count = static_cast<std::size_t>(t.parts);
  std::vector<float> weights;  // [results * 2, parts, n]
  for (std::size_t o = 0; o < width; ++o) {
    for (std::size_t part = 0; part < count; ++part) {
      for (std::size_t k = 0; k < window.size(); ++k)
        weights.push_back(static_cast<float>(window[k] * table[(k * count + part) * width + o]));
    }
  }
  const Shape shape = parts.shape(0);
  const std::int64_t frames = (shape[1] - t.n) / step + 1;
  const ValueId x = t.parts == 1 ? parts.reshape(parts.input(0), {shape[0], 1, shape[1]})
                                 : parts.transpose(parts.input(0), {0, 2, 1});
  const ValueId y = parts.add(
      "Conv", {x, parts.constant(Tensor::of<float>({2 * t.results, t.parts, t.n}, weights))},
      {{"kernel_shape", Ints{t.n}}, {"strides", Ints{step}}});
  parts.reshape(parts.transpose(y, {0, 2, 1}), {shape[0], frames, t.results, 2});
}

constexpr Rule kSpectrumRules[] = {{"HannWindow", window, 1, 1, 17},
                                   {"HammingWindow", window, 1, 1, 17},
                                   {"BlackmanWindow", window, 1, 1, 17},
                                   {"DFT", dft, 3, 1, 17},
                                   {"STFT", stft, 4, 1, 17}};
}  // namespace

std::span<const Rule> spectrum_rules() { return kSpectrumRules; }

}  // namespace etch
