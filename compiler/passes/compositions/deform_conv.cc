// DeformConv: per tap of the kernel and place of the output the row and the column that the offset
// names, in float32; then Gather of the four elements around them, weighted and summed in the order
// top left, top right, bottom left, bottom right; then MatMul with the weights.
//   row, column  fl(place * stride - padding + tap * dilation, an integer, + offset), limited to
//                +-2^23; elements outside of X are 0
//   weights      fl(fl(1 - share) * fl(1 - share)) and so on, where share = fl(row - floor(row))
//   value        of a tap, times the mask where there is one
#include <algorithm>
#include <vector>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

constexpr std::int64_t kMostTapElements = std::int64_t{1} << 28;

class DeformableConv {
 public:
  explicit DeformableConv(Parts& parts) : parts_(parts) {}

  void write() {
    if (!read_attributes() || !read_shapes()) return;
    const Ints around = {0, 1, 3, 4, 2};
    const ValueId split =
        parts_.reshape(parts_.input(0), {batch_, offset_groups_, lanes_, height_, width_});
    rows_ = parts_.reshape(parts_.transpose(split, around),
                           {batch_ * offset_groups_ * height_ * width_, lanes_});
    const ValueId taps = sampled(neighbours(0), neighbours(1));
    const ValueId y = product(taps);
    if (!parts_.has_input(3)) return parts_.give(0, y);
    parts_.add("Add", {y, parts_.reshape(parts_.input(3), {1, filters_, 1, 1})});
  }

 private:
  // The element before a coordinate and the next, along one axis.
  struct Neighbour {
    ValueId place = kNoValue;   // int64, limited to the axis
    ValueId inside = kNoValue;  // bool
    ValueId weight = kNoValue;  // float
  };

  bool read_attributes() {
    stride_ = parts_.take<Ints>("strides", {1, 1});
    dilation_ = parts_.take<Ints>("dilations", {1, 1});
    pads_ = parts_.take<Ints>("pads", {0, 0, 0, 0});
    groups_ = parts_.take<std::int64_t>("group", 1);
    offset_groups_ = parts_.take<std::int64_t>("offset_group", 1);
    kernel_ = parts_.take<Ints>("kernel_shape", {});
    const auto is_step = [](std::int64_t each) { return each > 0 && each < 65536; };
    const auto is_pad = [](std::int64_t each) { return each >= 0 && each < 65536; };
    const bool fits = stride_.size() == 2 && dilation_.size() == 2 && pads_.size() == 4 &&
                      std::ranges::all_of(stride_, is_step) &&
                      std::ranges::all_of(dilation_, is_step) &&
                      std::ranges::all_of(pads_, is_pad) && groups_ > 0 && offset_groups_ > 0;
    if (!fits) {
      parts_.fail(DiagKind::kAttr,
                  "strides, dilations and pads must be those of two axes, below 65536");
    }
    return !parts_.failed();
  }

  bool read_shapes() {
    for (std::size_t i = 1; i < 3; ++i) {
      if (!parts_.needs(i)) return false;
    }
    if (!parts_.has_type(0, {DType::kF32}) || !parts_.has_type(1, {DType::kF32})) return false;
    const Shape x = parts_.shape(0), w = parts_.shape(1);
    const bool fits = x.size() == 4 && w.size() == 4 && element_count(x) > 0 &&
                      element_count(w) > 0 && x[1] % groups_ == 0 && x[1] % offset_groups_ == 0 &&
                      w[0] % groups_ == 0 && w[1] == x[1] / groups_ &&
                      (kernel_.empty() || kernel_ == Ints{w[2], w[3]});
    if (!fits) {
      parts_.fail(DiagKind::kShape,
                  cat("X of shape ", to_string(x), " and W of shape ", to_string(w), " do not fit ",
                      groups_, " groups and ", offset_groups_, " groups of offsets"));
      return false;
    }
    batch_ = x[0];
    channels_ = x[1];
    height_ = x[2];
    width_ = x[3];
    filters_ = w[0];
    kernel_ = {w[2], w[3]};
    lanes_ = channels_ / offset_groups_;
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t room =
          x[d + 2] + pads_[d] + pads_[d + 2] - dilation_[d] * (kernel_[d] - 1) - 1;
      if (room < 0) {
        parts_.fail(DiagKind::kShape, cat("the kernel of ", to_string(Shape(kernel_)),
                                          " is larger than the padded X of ", to_string(x)));
        return false;
      }
      out_.push_back(room / stride_[d] + 1);
    }
    taps_ = kernel_[0] * kernel_[1];
    const Shape mask = {batch_, offset_groups_ * taps_, out_[0], out_[1]};
    const Shape offset = {batch_, offset_groups_ * taps_ * 2, out_[0], out_[1]};
    if (!has_at_most({batch_, channels_, taps_, out_[0], out_[1]}, kMostTapElements)) {
      parts_.fail(DiagKind::kLimit, cat("more than ", kMostTapElements, " elements are sampled"));
      return false;
    }
    return parts_.expects(2, DType::kF32, offset) && parts_.allows(3, DType::kF32, {filters_}) &&
           parts_.allows(4, DType::kF32, mask);
  }

  ValueId floats(const char* op, ValueId a, float b) {
    return parts_.add(op, {a, parts_.scalar(b)});
  }
  ValueId whole(const char* op, ValueId a, std::int64_t b) {
    return parts_.add(op, {a, parts_.number(DType::kS64, b)});
  }

  // Where each tap is without its offset, along axis d: [1, 1, taps, height, 1] or
  // [1, 1, taps, 1, width].
  ValueId grid(std::size_t d) {
    Tensor out(DType::kF32, {1, 1, taps_, d == 0 ? out_[0] : 1, d == 0 ? 1 : out_[1]});
    const auto values = out.as<float>();
    std::size_t at = 0;
    for (std::int64_t tap = 0; tap < taps_; ++tap) {
      const std::int64_t step = d == 0 ? tap / kernel_[1] : tap % kernel_[1];
      for (std::int64_t i = 0; i < out_[d]; ++i)
        values[at++] = static_cast<float>(i * stride_[d] - pads_[d] + step * dilation_[d]);
    }
    return parts_.constant(std::move(out));
  }

  std::vector<Neighbour> neighbours(std::size_t d) {
    const ValueId pairs =
        parts_.reshape(parts_.input(2), {batch_, offset_groups_, taps_, 2, out_[0] * out_[1]});
    const auto part = static_cast<std::int64_t>(d);
    const ValueId offset = parts_.reshape(parts_.slice(pairs, 3, part, part + 1),
                                          {batch_, offset_groups_, taps_, out_[0], out_[1]});
    ValueId at = parts_.add("Add", {offset, grid(d)});
    at = floats("Min", floats("Max", at, -8388608.0F), 8388608.0F);
    const ValueId floor = parts_.add("Floor", {at});
    const ValueId first = parts_.cast(floor, DType::kS64);
    const ValueId share = parts_.add("Sub", {at, floor});
    const ValueId rest = parts_.add("Sub", {parts_.scalar(1), share});
    return {neighbour(d, first, rest), neighbour(d, whole("Add", first, 1), share)};
  }

  Neighbour neighbour(std::size_t d, ValueId at, ValueId weight) {
    const std::int64_t size = d == 0 ? height_ : width_;
    const ValueId inside =
        parts_.add("And", {whole("GreaterOrEqual", at, 0), whole("Less", at, size)});
    return {whole("Min", whole("Max", at, 0), size - 1), inside, weight};
  }

  // x of one element per tap and place, beside the lanes of each.
  ValueId column(ValueId x) { return parts_.reshape(x, {count(), 1}); }
  std::int64_t count() const { return batch_ * offset_groups_ * taps_ * out_[0] * out_[1]; }

  // The values of all taps: [count(), lanes].
  ValueId sampled(const std::vector<Neighbour>& rows, const std::vector<Neighbour>& columns) {
    Ints starts = count_up(static_cast<std::size_t>(batch_ * offset_groups_));
    for (std::int64_t& each : starts) each *= height_ * width_;
    const ValueId image = parts_.ints({batch_, offset_groups_, 1, 1, 1}, starts);
    ValueId sum = kNoValue;
    for (const Neighbour& row : rows) {
      const ValueId start = parts_.add("Add", {whole("Mul", row.place, width_), image});
      for (const Neighbour& col : columns) {
        const ValueId at = parts_.add("Add", {start, col.place});
        const ValueId inside = parts_.add("And", {row.inside, col.inside});
        const ValueId weight = parts_.add("Mul", {row.weight, col.weight});
        const ValueId found = parts_.gather(rows_, parts_.reshape(at, {count()}), 0);
        const ValueId known = parts_.add("Where", {column(inside), found, parts_.scalar(0)});
        const ValueId value = parts_.add("Mul", {known, column(weight)});
        sum = sum == kNoValue ? value : parts_.add("Add", {sum, value});
      }
    }
    if (parts_.has_input(4)) sum = parts_.add("Mul", {sum, column(parts_.input(4))});
    return sum;
  }

  // The sums of products of the taps' values and the weights: [batch, filters, height, width].
  ValueId product(ValueId taps) {
    const std::int64_t places = out_[0] * out_[1];
    const std::int64_t depth = channels_ / groups_ * taps_;
    ValueId x = parts_.reshape(taps, {batch_, offset_groups_, taps_, places, lanes_});
    x = parts_.reshape(parts_.transpose(x, {0, 3, 1, 4, 2}), {batch_, places, groups_, depth});
    x = parts_.transpose(x, {0, 2, 1, 3});
    ValueId w = parts_.reshape(parts_.input(1), {groups_, filters_ / groups_, depth});
    w = parts_.transpose(w, {0, 2, 1});
    if (groups_ == 1) w = parts_.reshape(w, {depth, filters_});
    const ValueId y = parts_.transpose(parts_.add("MatMul", {x, w}), {0, 1, 3, 2});
    return parts_.reshape(y, {batch_, filters_, out_[0], out_[1]});
  }

  Parts& parts_;
  Ints stride_, dilation_, pads_, kernel_, out_;
  std::int64_t groups_ = 1, offset_groups_ = 1, taps_ = 1;
  std::int64_t batch_ = 1, channels_ = 1, height_ = 1, width_ = 1, filters_ = 1;
  std::int64_t lanes_ = 1;   // channels of one group of offsets
  ValueId rows_ = kNoValue;  // X with the lanes last
};

constexpr Rule kDeformableRules[] = {
    {"DeformConv", [](Parts& parts) { DeformableConv(parts).write(); }, 5, 1, 19}};
}  // namespace

std::span<const Rule> deformable_rules() { return kDeformableRules; }

}  // namespace etch
