// Resize with antialias (ai.onnx, since 18), in linear and cubic mode: each output is the mean of
// all inputs under a filter that is as wide as the ratio of sizes. Along each axis that is a
// product with a constant matrix, from the last axis to the first. Weights are computed in float64
// and rounded once; docs/spec/float.md section 9.6 has the formula, which is ONNX Runtime's.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

enum Input : std::size_t { kData, kRoi, kScales, kSizes };

constexpr std::int64_t kMostWeights = 1 << 24;  // of one axis: 64 MiB

struct Filter {
  bool cubic = false, excludes_outside = false;
  double a = -0.75;
  std::string coordinates;

  double radius() const { return cubic ? 2 : 1; }
  double at(double x) const {
    x = std::abs(x);
    if (!cubic) return std::max(1 - x, 0.0);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
  }
  // Where the centre of an output is in the input.
  double place(std::int64_t i, double scale, std::int64_t in, std::int64_t out) const {
    const auto x = static_cast<double>(i), last = static_cast<double>(in - 1);
    if (coordinates == "asymmetric") return x / scale;
    if (coordinates == "align_corners")
      return out == 1 ? 0 : x * last / static_cast<double>(out - 1);
    if (coordinates == "pytorch_half_pixel" && out == 1) return 0;
    return (x + 0.5) / scale - 0.5;
  }
};

struct Size {
  std::int64_t out = 1;
  double scale = 1;
};

// [in, out]; what a filter has outside of the input is added to the border or left out.
Tensor weights(const Filter& filter, std::int64_t in, const Size& to) {
  Tensor out(DType::kF32, {in, to.out});
  const double ratio = std::max(1 / to.scale, 1.0), support = filter.radius() * ratio;
  std::vector<double> column(static_cast<std::size_t>(in));
  for (std::int64_t i = 0; i < to.out; ++i) {
    const double center = filter.place(i, to.scale, in, to.out) + 0.5;
    auto first = static_cast<std::int64_t>(std::floor(center - support + 0.5));
    auto end = static_cast<std::int64_t>(std::floor(center + support + 0.5));
    if (filter.excludes_outside) {
      first = std::max<std::int64_t>(first, 0);
      end = std::min(end, in);
    }
    std::ranges::fill(column, 0);
    double total = 0;
    for (std::int64_t x = first; x < end; ++x) {
      const double weight = filter.at((static_cast<double>(x) - center + 0.5) / ratio);
      column[static_cast<std::size_t>(std::clamp<std::int64_t>(x, 0, in - 1))] += weight;
      total += weight;
    }
    for (std::int64_t x = 0; x < in; ++x) {
      out.as<float>()[static_cast<std::size_t>(x * to.out + i)] =
          static_cast<float>(column[static_cast<std::size_t>(x)] / (total == 0 ? 1 : total));
    }
  }
  return out;
}

std::optional<Filter> take_filter(Parts& parts) {
  Filter out;
  const auto mode = parts.take<std::string>("mode", "nearest");
  out.cubic = mode == "cubic";
  out.a = parts.take<float>("cubic_coeff_a", -0.75F);
  out.excludes_outside = parts.take<std::int64_t>("exclude_outside", 0) != 0;
  out.coordinates = parts.take<std::string>("coordinate_transformation_mode", "half_pixel");
  parts.take<std::string>("nearest_mode", "");
  parts.take<float>("extrapolation_value", 0);
  const bool is_known = is_one_of(
      out.coordinates, {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"});
  if ((out.cubic || mode == "linear") && is_known && std::isfinite(out.a)) return out;
  parts.fail(DiagKind::kUnsupported,
             cat("attribute 'antialias' needs mode linear or cubic and half_pixel, "
                 "pytorch_half_pixel, asymmetric or align_corners, got '",
                 printable(mode), "' and '", printable(out.coordinates), "'"));
  return std::nullopt;
}

// The size along `axes`, in their order; none after a report.
std::vector<Size> take_sizes(Parts& parts, const Shape& from, const Ints& axes) {
  const auto fail = [&](std::string what) {
    parts.fail(DiagKind::kShape, std::move(what));
    return std::vector<Size>();
  };
  const auto given = [&](std::size_t i) {
    return parts.has_input(i) && element_count(parts.shape(i)) > 0;
  };
  if (given(kScales) == given(kSizes)) return fail("needs either scales or sizes");
  const std::size_t i = given(kScales) ? kScales : kSizes;
  const char* const role = i == kScales ? "scales" : "sizes";
  const Tensor* const values = parts.constant(i);
  if (values == nullptr) {
    parts.needs_constant(i, role);
    return {};
  }
  if (!parts.has_type(i, {i == kScales ? DType::kF32 : DType::kS64})) return {};
  if (values->size() != std::ssize(axes))
    return fail(cat(role, " must have ", axes.size(), " elements, got ", values->size()));
  std::vector<Size> out;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t in = from[static_cast<std::size_t>(axes[k])];
    const auto size = static_cast<float>(in);
    constexpr float kMost = 1e9F;
    Size to{0, i == kScales ? values->as<float>()[k] : 0};
    if (i == kSizes) {
      to.out = values->integer(static_cast<std::int64_t>(k));
      to.scale = static_cast<double>(static_cast<float>(to.out) / size);
    } else if (to.scale > 0 && static_cast<float>(to.scale) * size < kMost) {
      to.out = static_cast<std::int64_t>(static_cast<float>(to.scale) * size);
    }
    if (in < 1 || to.out < 1)
      return fail(cat(role, ": cannot resize ", in, " elements along axis ", axes[k],
                      " to this size with antialias"));
    if (to.out > kMostWeights / in)
      return fail(cat(role, ": antialias multiplies axis ", axes[k], " by a matrix of ", in, " x ",
                      to.out, " weights, of which there can be at most ", kMostWeights));
    out.push_back(to);
  }
  return out;
}

std::optional<Ints> take_axes(Parts& parts, std::size_t rank) {
  Ints axes = parts.take<Ints>("axes", count_up(rank));
  for (std::int64_t& axis : axes) {
    const auto size = static_cast<std::int64_t>(rank);
    if (axis < -size || axis >= size || axes.size() > rank) {
      parts.fail(DiagKind::kAttr, cat("attribute 'axes' must be in [", -size, ", ", size - 1, "]"));
      return std::nullopt;
    }
    axis += axis < 0 ? size : 0;
  }
  if (std::set(axes.begin(), axes.end()).size() != axes.size()) {
    parts.fail(DiagKind::kAttr, "attribute 'axes' names an axis twice");
    return std::nullopt;
  }
  return axes;
}

void write_antialias(Parts& parts) {
  parts.take<std::int64_t>("antialias", 0);
  if (!parts.has_type(kData, {DType::kF32})) return;
  const Shape shape = parts.shape(kData);
  const std::size_t rank = shape.size();
  const auto filter = take_filter(parts);
  const auto axes = filter ? take_axes(parts, rank) : std::nullopt;
  if (!axes) return;
  const auto policy = parts.take<std::string>("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && parts.has_input(kSizes)) {
    return parts.fail(DiagKind::kUnsupported,
                      "attribute 'antialias' needs keep_aspect_ratio_policy = stretch");
  }
  const std::vector<Size> sizes = take_sizes(parts, shape, *axes);
  if (parts.failed()) return;
  ValueId y = parts.input(kData);
  for (std::size_t k = axes->size(); k-- > 0;) {
    const auto d = static_cast<std::size_t>((*axes)[k]);
    if (sizes[k].scale == 1 && sizes[k].out == shape[d]) continue;
    Ints perm = count_up(rank);
    std::swap(perm[d], perm[rank - 1]);
    const ValueId matrix = parts.constant(weights(*filter, shape[d], sizes[k]));
    y = parts.transpose(parts.add("MatMul", {parts.transpose(y, perm), matrix}), perm);
  }
  parts.give(0, y);
}

bool has_antialias(const Graph& /*graph*/, const Node& node) {
  return int_attribute(node, "antialias", 0) != 0;
}

constexpr Rule kRules[] = {{"Resize", write_antialias, 4, 1, 18, has_antialias}};

}  // namespace

std::span<const Rule> antialias_rules() { return kRules; }

}  // namespace etch
