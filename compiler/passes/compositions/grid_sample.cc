// GridSample: per axis the taps that a coordinate needs and their weights, in float32 as ONNX
// Runtime has them; then Gather of the places that each combination of taps names, weighted and
// summed axis by axis, the last axis first.
//   coordinate   fl(fl(fl(g + 1) / 2) * (size - 1)), or without align_corners
//                fl(fl(fl(fl(g + 1) * size) - 1) / 2); limited to +-2^23
//   taps         nearest: the even neighbour of halves; linear: floor and the next; cubic: from the
//                one before floor on, four
//   padding      of the taps' positions, which are integers: border limits them, reflection turns
//                them back at the ends, those outside name a row of zeros where zeros are asked for
// AffineGrid: at each place of a grid of `size`, theta times its coordinates, the last axis of the
// grid first, and 1; the products are summed in the order of the axes, what is beside 1 last.
//   coordinate   fl(-1 + fl(i * fl(2 / (n - 1)))), the last one 1; without align_corners
//                fl(fl(that * (n - 1)) / n)
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

struct Tap {
  ValueId place = kNoValue;   // int64 [n, places], inside of the axis
  ValueId inside = kNoValue;  // bool; none: always
  ValueId weight = kNoValue;  // float; none: 1
};

class Sampler {
 public:
  explicit Sampler(Parts& parts) : parts_(parts) {}

  void write() {
    if (!read()) return;
    const Shape x = parts_.shape(0), grid = parts_.shape(1);
    axes_ = x.size() - 2;
    batch_ = x[0];
    size_.assign(x.begin() + 2, x.end());
    count_ = element_count(grid) / static_cast<std::int64_t>(axes_) / batch_;
    for (std::size_t d = 0; d < axes_; ++d) taps_.push_back(taps_of(d));
    Ints last{0};
    for (std::size_t d = 2; d < x.size(); ++d) last.push_back(static_cast<std::int64_t>(d));
    last.push_back(1);
    const std::int64_t rows = batch_ * element_count(size_);
    rows_ = parts_.reshape(parts_.transpose(parts_.input(0), last), {rows, x[1]});
    if (padding_ == "zeros") {
      nothing_ = parts_.number(DType::kS64, rows);
      rows_ = parts_.add("Concat", {rows_, parts_.constant(Tensor(DType::kF32, {1, x[1]}))},
                         {{"axis", std::int64_t{0}}});
    }
    Ints starts = count_up(static_cast<std::size_t>(batch_));
    for (std::int64_t& each : starts) each *= element_count(size_);
    const ValueId y = interpolated(0, parts_.ints({batch_, 1}, starts), kNoValue);
    Shape result{batch_};
    result.insert(result.end(), grid.begin() + 1, grid.end() - 1);
    result.push_back(x[1]);
    Ints perm{0, static_cast<std::int64_t>(axes_) + 1};
    for (std::size_t d = 1; d <= axes_; ++d) perm.push_back(static_cast<std::int64_t>(d));
    parts_.transpose(parts_.reshape(y, result), perm);
  }

 private:
  bool read() {
    if (!parts_.needs(1) || !parts_.has_type(0, {DType::kF32}) ||
        !parts_.has_type(1, {DType::kF32})) {
      return false;
    }
    mode_ = parts_.take<std::string>("mode", parts_.opset() < 20 ? "bilinear" : "linear");
    padding_ = parts_.take<std::string>("padding_mode", "zeros");
    aligned_ = parts_.take<std::int64_t>("align_corners", 0) != 0;
    if (mode_ == "bilinear") mode_ = "linear";
    if (mode_ == "bicubic") mode_ = "cubic";
    if (mode_ != "linear" && mode_ != "cubic" && mode_ != "nearest")
      parts_.fail(DiagKind::kAttr, "mode: must be linear, cubic or nearest");
    if (padding_ != "zeros" && padding_ != "border" && padding_ != "reflection")
      parts_.fail(DiagKind::kAttr, "padding_mode: must be zeros, border or reflection");
    const Shape x = parts_.shape(0), grid = parts_.shape(1);
    const bool fits = x.size() >= 3 && x.size() <= 5 && grid.size() == x.size() &&
                      grid[0] == x[0] && element_count(x) > 0 && element_count(grid) > 0 &&
                      grid.back() == static_cast<std::int64_t>(x.size()) - 2;
    if (!fits) {
      parts_.fail(DiagKind::kShape, cat("a grid of shape ", to_string(grid),
                                        " does not fit an input of shape ", to_string(x)));
    }
    return !parts_.failed();
  }

  ValueId floats(const char* op, ValueId a, float b) {
    return parts_.add(op, {a, parts_.scalar(b)});
  }
  ValueId whole(const char* op, ValueId a, std::int64_t b) {
    return parts_.add(op, {a, parts_.number(DType::kS64, b)});
  }

  // Where the grid points along axis d, as float [n, places].
  ValueId coordinate(std::size_t d) {
    const auto at = static_cast<std::int64_t>(axes_ - 1 - d);
    const auto axis = static_cast<std::int64_t>(axes_) + 1;
    const ValueId part = parts_.slice(parts_.input(1), axis, at, at + 1);
    ValueId g = floats("Add", parts_.reshape(part, {batch_, count_}), 1);
    const auto size = static_cast<float>(size_[d]);
    if (aligned_) {
      g = floats("Mul", floats("Div", g, 2), size - 1);
    } else {
      g = floats("Div", floats("Sub", floats("Mul", g, size), 1), 2);
    }
    return floats("Min", floats("Max", g, -8388608.0F), 8388608.0F);
  }

  // A tap at the integer position `at` of axis d.
  Tap tap(std::size_t d, ValueId at, ValueId weight) {
    const std::int64_t size = size_[d];
    Tap out{at, kNoValue, weight};
    if (padding_ == "reflection") {
      const std::int64_t period = std::max<std::int64_t>(1, aligned_ ? 2 * (size - 1) : 2 * size);
      const ValueId turn = whole("Mod", at, period);
      const ValueId back =
          parts_.add("Sub", {parts_.number(DType::kS64, aligned_ ? period : period - 1), turn});
      out.place = parts_.add("Min", {turn, back});
    } else if (padding_ == "zeros") {
      out.inside = parts_.add("And", {whole("GreaterOrEqual", at, 0), whole("Less", at, size)});
    }
    out.place = whole("Min", whole("Max", out.place, 0), size - 1);
    return out;
  }

  std::vector<Tap> taps_of(std::size_t d) {
    const ValueId x = coordinate(d);
    if (mode_ == "nearest")
      return {tap(d, parts_.cast(parts_.add("Round", {x}), DType::kS64), kNoValue)};
    const ValueId floor = parts_.add("Floor", {x});
    const ValueId first = parts_.cast(floor, DType::kS64);
    const ValueId share = parts_.add("Sub", {x, floor});
    if (mode_ == "linear") {
      const ValueId rest = parts_.add("Sub", {floats("Add", floor, 1), x});
      return {tap(d, first, rest), tap(d, whole("Add", first, 1), share)};
    }
    std::vector<Tap> out;
    out.reserve(4);
    for (int k = 0; k < 4; ++k)
      out.push_back(tap(d, whole("Add", first, k - 1), cubic_weight(share, k)));
    return out;
  }

  // Of tap k, `share` after the second of four; the kernel's parameter is -0.75.
  ValueId cubic_weight(ValueId share, int k) {
    constexpr float kA = -0.75F;
    ValueId s = share;
    if (k == 0) s = floats("Add", share, 1);
    if (k == 2) s = parts_.add("Sub", {parts_.scalar(1), share});
    if (k == 3) s = parts_.add("Sub", {parts_.scalar(2), share});
    if (k == 0 || k == 3) {
      ValueId y = floats("Sub", floats("Mul", s, kA), 5 * kA);
      y = floats("Add", parts_.add("Mul", {y, s}), 8 * kA);
      return floats("Sub", parts_.add("Mul", {y, s}), 4 * kA);
    }
    const ValueId y = floats("Sub", floats("Mul", s, kA + 2), kA + 3);
    return floats("Add", parts_.add("Mul", {parts_.add("Mul", {y, s}), s}), 1);
  }

  // The sum over the taps of axis d and all after it; `at` are the rows that the axes before it
  // have chosen, divided by the places after them.
  ValueId interpolated(std::size_t d, ValueId at, ValueId inside) {
    if (d == axes_) {
      if (inside != kNoValue) at = parts_.add("Where", {inside, at, nothing_});
      const ValueId flat = parts_.reshape(at, {batch_ * count_});
      return parts_.add("Gather", {rows_, flat}, {{"axis", std::int64_t{0}}});
    }
    std::int64_t stride = 1;
    for (std::size_t later = d + 1; later < axes_; ++later) stride *= size_[later];
    ValueId sum = kNoValue;
    for (const Tap& tap : taps_[d]) {
      const ValueId step = stride == 1 ? tap.place : whole("Mul", tap.place, stride);
      const bool both = inside != kNoValue && tap.inside != kNoValue;
      const ValueId good = both ? parts_.add("And", {inside, tap.inside}) : tap.inside;
      ValueId value = interpolated(d + 1, parts_.add("Add", {at, step}), good);
      if (tap.weight != kNoValue) value = parts_.add("Mul", {column(tap.weight), value});
      sum = sum == kNoValue ? value : parts_.add("Add", {sum, value});
    }
    return sum;
  }

  ValueId column(ValueId x) { return parts_.reshape(x, {batch_ * count_, 1}); }

  Parts& parts_;
  std::string mode_, padding_;
  bool aligned_ = false;
  std::size_t axes_ = 0;
  std::int64_t batch_ = 1, count_ = 1;  // count_: places of one output image
  Shape size_;
  std::vector<std::vector<Tap>> taps_;  // by axis
  ValueId rows_ = kNoValue;     // the input with channels last; padding zeros: and a row of 0
  ValueId nothing_ = kNoValue;  // the number of that row
};

// The coordinates of n places along an axis, in a shape of `rank` axes.
Tensor coordinates(std::int64_t n, bool aligned, std::size_t rank, std::size_t axis) {
  Tensor out(DType::kF32, along(rank, axis, n));
  const auto size = static_cast<float>(n);
  const float step = n > 1 ? 2.0F / (size - 1) : 0.0F;
  for (std::int64_t i = 0; i < n; ++i) {
    const float product = static_cast<float>(i) * step;
    const float at = i + 1 == n ? 1.0F : -1.0F + product;
    const float scaled = at * (size - 1);
    out.as<float>()[static_cast<std::size_t>(i)] = aligned ? at : scaled / size;
  }
  return out;
}

constexpr std::int64_t kMostPlaces = 1 << 24;

void affine_grid(Parts& parts) {
  const bool aligned = parts.take<std::int64_t>("align_corners", 0) != 0;
  Ints size;
  if (!parts.read(1, "size", size)) return;
  const bool has_places = (size.size() == 4 || size.size() == 5) &&
                          std::ranges::all_of(size, [](std::int64_t n) { return n > 0; });
  if (!has_places || !has_at_most(size, kMostPlaces)) {
    parts.fail(DiagKind::kShape, cat("size must be [N, C, H, W] or [N, C, D, H, W] with at most ",
                                     kMostPlaces, " elements, is ", to_string(size)));
    return;
  }
  const auto axes = static_cast<std::int64_t>(size.size()) - 2;
  if (!parts.expects(0, DType::kF32, {size[0], axes, axes + 1})) return;
  Shape column(size.size(), 1);  // of theta: a row for each result at each place
  column.front() = size[0];
  column.back() = axes;
  const auto theta = [&](std::int64_t k) {
    return parts.reshape(parts.slice(parts.input(0), 2, k, k + 1), column);
  };
  ValueId sum = kNoValue;
  for (std::int64_t k = axes - 1; k >= 0; --k) {
    const auto axis = static_cast<std::size_t>(axes - k);  // 1, 2 ... of the result
    const ValueId at = parts.constant(coordinates(size[axis + 1], aligned, size.size(), axis));
    const ValueId product = parts.add("Mul", {at, theta(k)});
    sum = sum == kNoValue ? product : parts.add("Add", {sum, product});
  }
  parts.add("Add", {sum, theta(axes)});
}

constexpr Rule kGridSampleRules[] = {
    {"GridSample", [](Parts& parts) { Sampler(parts).write(); }, 2, 1, 16},
    {"AffineGrid", affine_grid, 2, 1, 20}};
}  // namespace

std::span<const Rule> grid_sample_rules() { return kGridSampleRules; }

}  // namespace etch
