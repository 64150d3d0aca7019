// See conv_node.h.
#include "tests/support/conv_node.h"

#include <cmath>
#include <limits>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {
std::string letter(DType type) { return type == DType::kU8 ? "u" : "s"; }

std::string joined(const std::vector<std::int64_t>& sizes) {
  std::string out;
  for (const std::int64_t size : sizes) out += cat(out.empty() ? "" : "x", size);
  return out;
}

std::vector<std::int64_t> both_ends(const ConvShape& shape) {
  std::vector<std::int64_t> pads = shape.pad_begin;
  pads.insert(pads.end(), shape.pad_end.begin(), shape.pad_end.end());
  return pads;
}
}  // namespace

DType any_8bit(Dice& dice) { return dice.one_in(2) ? DType::kU8 : DType::kS8; }

int any_zero_point(Dice& dice, DType type) {
  const auto least = static_cast<int>(min_of(type));
  switch (dice.between(0, 4)) {
    case 0:
      return least;
    case 1:
      return static_cast<int>(max_of(type));
    case 2:
      return least + 128;
    default:
      return static_cast<int>(dice.between(least, max_of(type)));
  }
}

Shape input_shape(const ConvShape& shape) {
  const std::int64_t channels = shape.group * shape.in_per_group;
  Shape out{shape.batch};
  if (!shape.channels_last) out.push_back(channels);
  out.insert(out.end(), shape.in.begin(), shape.in.end());
  if (shape.channels_last) out.push_back(channels);
  return out;
}

void add_activation(ModelBuilder& model, const std::string& name,
                    const QuantizedActivation& activation) {
  model.initializer(name + "_scale", Tensor::of<float>({}, {activation.scale}));
  model.initializer(name + "_zero_point", narrowed(activation.type, {}, {activation.zero_point}));
}

ConvNode::ConvNode(const ConvShape& shape, DType type, Scaling scaling, Dice& dice)
    : ConvNode(shape, QuantizedActivation{type, 0.02F, any_zero_point(dice, type)}, scaling, dice) {
}

ConvNode::ConvNode(const ConvShape& shape, const QuantizedActivation& x, Scaling scaling,
                   Dice& dice)
    : shape_(shape), x_(x) {
  draw(scaling, dice);
}

std::int64_t ConvNode::products() const {
  std::int64_t count = shape_.in_per_group;
  for (const std::int64_t size : shape_.kernel) count *= size;
  return count;
}

void ConvNode::draw(Scaling scaling, Dice& dice) {
  const DType w_type = any_8bit(dice);
  const bool transposed = shape_.kind == ConvShape::Kind::kTransposed;
  Shape w_shape{out_channels(), shape_.in_per_group};
  if (transposed) w_shape = {shape_.group * shape_.in_per_group, shape_.out_per_group};
  w_shape.insert(w_shape.end(), shape_.kernel.begin(), shape_.kernel.end());
  w_ = random_bytes(dice, w_type, w_shape);
  const std::int64_t zero_points = dice.one_in(2) ? out_channels() : 1;
  std::vector<std::int32_t> w_zero_point;
  const bool symmetric = dice.one_in(2);
  for (std::int64_t m = 0; m < zero_points; ++m) {
    w_zero_point.push_back(symmetric ? static_cast<std::int32_t>(min_of(w_type)) + 128
                                     : any_zero_point(dice, w_type));
  }
  const bool is_scalar = zero_points == 1 && dice.one_in(2);
  w_zero_point_ = narrowed(w_type, is_scalar ? Shape{} : Shape{zero_points}, w_zero_point);
  has_bias_ = scaling == Scaling::kWrapping || !dice.one_in(3);
  std::vector<std::int32_t> bias;
  const std::int64_t reach = 30'000 + 2'000 * products();
  for (std::int64_t m = 0; m < out_channels(); ++m) {
    std::int64_t b = dice.between(-reach, reach);
    if (scaling == Scaling::kWrapping)
      b = dice.one_in(2) ? std::numeric_limits<std::int32_t>::max() - reach + b
                         : std::numeric_limits<std::int32_t>::min() + reach + b;
    bias.push_back(wrap_to_int32(b));
  }
  bias_ = Tensor::of<std::int32_t>({out_channels()}, bias);
  draw_scales(scaling, dice);
  if (shape_.kind != ConvShape::Kind::kConvInteger) return;
  has_x_zero_point_ = !dice.one_in(5);
  has_w_zero_point_ = !dice.one_in(4);
}

// y_scale is chosen so that accumulators of random data fill the output's range, or miss it in
// the way that `scaling` says.
void ConvNode::draw_scales(Scaling scaling, Dice& dice) {
  const std::int64_t count = dice.one_in(2) ? out_channels() : 1;
  std::vector<float> w_scale;
  for (std::int64_t m = 0; m < count; ++m) {
    const auto random = static_cast<float>(dice.between(500, 2000)) * 1e-5F;
    w_scale.push_back(scaling == Scaling::kTies
                          ? std::ldexp(1.0F, static_cast<int>(dice.between(-7, -5)))
                          : random);
  }
  const Shape shape = count == 1 && dice.one_in(2) ? Shape{} : Shape{count};
  w_scale_ = Tensor::of<float>(shape, w_scale);
  y_.type = any_8bit(dice);
  y_.zero_point = any_zero_point(dice, y_.type);
  const double spread = 74.0 * 90.0 * std::sqrt(static_cast<double>(products()) + 1) / 60;
  if (scaling == Scaling::kTies) {
    x_.scale = std::exp2(std::round(std::log2(x_.scale)));
    y_.scale = x_.scale * static_cast<float>(std::exp2(std::round(std::log2(spread / 64))));
    return;
  }
  const double typical = static_cast<double>(x_.scale) * 0.01 * spread;
  const double factor = scaling == Scaling::kSaturating ? 1e-2
                        : scaling == Scaling::kHuge     ? 1e-9
                        : scaling == Scaling::kWrapping ? 2e4
                        : scaling == Scaling::kTiny     ? 1e12
                                                        : 1;
  y_.scale = static_cast<float>(typical * factor);
}

std::map<std::string, Attribute> ConvNode::attributes() const {
  std::map<std::string, Attribute> out;
  out["strides"] = shape_.stride;
  out["dilations"] = shape_.dilation;
  out["group"] = shape_.group;
  if (shape_.auto_pad.empty()) {
    out["pads"] = both_ends(shape_);
  } else {
    out["auto_pad"] = shape_.auto_pad;
  }
  if (!shape_.output_padding.empty()) out["output_padding"] = shape_.output_padding;
  if (shape_.kind == ConvShape::Kind::kQLinearConv && shape_.channels_last)
    out["channels_last"] = std::int64_t{1};
  return out;
}

std::vector<std::pair<std::string, Tensor>> ConvNode::arguments() const {
  const Tensor x_zero_point = narrowed(x_.type, {}, {x_.zero_point});
  if (shape_.kind == ConvShape::Kind::kConvInteger) {
    return {{"w", w_},
            {has_x_zero_point_ ? "x_zero_point" : "", x_zero_point},
            {has_w_zero_point_ ? "w_zero_point" : "", w_zero_point_}};
  }
  std::vector<std::pair<std::string, Tensor>> out{
      {"x_scale", Tensor::of<float>({}, {x_.scale})},
      {"x_zero_point", x_zero_point},
      {"w", w_},
      {"w_scale", w_scale_},
      {"w_zero_point", w_zero_point_},
      {"y_scale", Tensor::of<float>({}, {y_.scale})},
      {"y_zero_point", narrowed(y_.type, {}, {y_.zero_point})}};
  if (has_bias_) out.emplace_back("bias", bias_);
  return out;
}

std::vector<Tensor> ConvNode::add(ModelBuilder& model, const std::string& x, const std::string& y,
                                  const std::string& prefix) const {
  using AtRunTime = ConvShape::AtRunTime;
  std::vector<std::string> names{x};
  std::vector<Tensor> inputs;
  for (const auto& [role, tensor] : arguments()) {
    names.push_back(role.empty() ? "" : prefix + role);
    const bool is_x = role == "x_scale" || role == "x_zero_point";
    if (role.empty()) continue;
    if (shape_.at_run_time == AtRunTime::kEverything ||
        (shape_.at_run_time == AtRunTime::kZeroPointOfX && is_x)) {
      model.input(names.back(), tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()});
      inputs.push_back(tensor);
    } else {
      model.initializer(names.back(), tensor);
    }
  }
  const bool transposed = shape_.kind == ConvShape::Kind::kTransposed;
  const char* op = transposed                                     ? "QLinearConvTranspose"
                   : shape_.kind == ConvShape::Kind::kConvInteger ? "ConvInteger"
                                                                  : "QLinearConv";
  const char* domain = transposed             ? "com.ms.internal.nhwc"
                       : shape_.channels_last ? "com.microsoft"
                                              : "";
  model.node(op, names, {y}, attributes(), domain);
  return inputs;
}

std::string ConvNode::describe() const {
  std::string out =
      cat(letter(x_.type), letter(w_.dtype()), letter(y_.type), shape_.channels_last ? "_nhwc" : "",
          "_n", shape_.batch, "_g", shape_.group, "_c", shape_.in_per_group, "_m",
          shape_.out_per_group, "_in", joined(shape_.in), "_k", joined(shape_.kernel), "_s",
          joined(shape_.stride), "_d", joined(shape_.dilation));
  out += shape_.auto_pad.empty() ? cat("_p", joined(both_ends(shape_))) : "_" + shape_.auto_pad;
  if (!shape_.output_padding.empty()) out += "_op" + joined(shape_.output_padding);
  return out;
}

}  // namespace etch
