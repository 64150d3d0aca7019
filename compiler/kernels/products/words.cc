// Building of convolutions of 16-bit activations; see words.h.
#include "compiler/kernels/products/words.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/built.h"
#include "compiler/kernels/conv/operands.h"
#include "compiler/kernels/products/floats/plan.h"
#include "compiler/kernels/products/word_ties.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/program/certificate.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/products/words.h"

namespace etch {

namespace {

class WordConvStep : public StagedStep<WordConvStep> {
 public:
  WordConvPlan plan;
  template <class S>
  void kernel(S& s) const {
    word_conv_kernel(s, plan);
  }
};

}  // namespace

ETCH_INSTANTIATE_STEP(WordConvStep);

namespace {

std::int64_t taps_of(const ConvGeometry& g) {
  std::int64_t taps = 1;
  for (const ConvAxis& axis : g.axes) taps *= axis.kernel;
  return taps;
}

}  // namespace

std::int64_t weight_index(const ConvGeometry& g, std::int64_t m, std::int64_t c, std::int64_t tap) {
  const std::int64_t in = g.in_per_group(), out = g.out_per_group();
  const std::int64_t row =
      g.direction == ConvDirection::kForward ? m * in + c : (m / out * in + c) * out + m % out;
  return row * taps_of(g) + tap;
}

namespace {

// Less their zero point; 0 for channels after the last of the group. In memory less `beyond` too,
// where one of them leaves 8 bits.
class Weights {
 public:
  Weights(const Tensor& w, const WordConv& conv)
      : values_(w.integers()), conv_(conv), middle_(w.dtype() == DType::kU8 ? 128 : 0) {
    const ConvGeometry& g = conv.geometry;
    for (std::int64_t m = 0; m < g.out_channels && !has_beyond_; ++m) {
      for (std::int64_t i = 0; i < g.in_per_group() * taps_of(g); ++i) {
        const std::int64_t weight = at(m, i / taps_of(g), i % taps_of(g));
        has_beyond_ = has_beyond_ || weight < -128 || weight > 127;
      }
    }
  }
  std::int64_t at(std::int64_t m, std::int64_t c, std::int64_t tap) const {
    if (c >= conv_.geometry.in_per_group()) return 0;
    return values_[as_index(weight_index(conv_.geometry, m, c, tap))] - conv_.w_zero(m);
  }
  std::int64_t packed(std::int64_t m, std::int64_t c, std::int64_t tap) const {
    return c >= conv_.geometry.in_per_group() ? 0 : at(m, c, tap) - beyond(m);
  }
  bool has_beyond() const { return has_beyond_; }
  std::int64_t beyond(std::int64_t m) const { return has_beyond_ ? middle_ - conv_.w_zero(m) : 0; }

 private:
  std::vector<std::int64_t> values_;
  const WordConv& conv_;
  std::int64_t middle_;  // of the values of their type
  bool has_beyond_ = false;
};

// Weight `i` of a row in a panel of `width` columns: of which column it is, and of which channel of
// the row.
struct PlaceInRow {
  std::int64_t column, channel;
};
PlaceInRow place_in_row(rt::WordOrder order, std::int64_t width, std::int64_t i) {
  const bool in_four = order == rt::WordOrder::kFours && i / 8 < width / 4;
  if (in_four) return {i / 4 * 2 + i % 2, i / 2 % 2};
  const int channels = rt::channels_in_row(order);
  return {i / channels, i % channels};
}

Tensor packed_weights(const ConvGeometry& g, const Weights& w, rt::WordOrder order) {
  const int channels = rt::channels_in_row(order);
  const std::int64_t taps = taps_of(g), rows = (g.in_per_group() + channels - 1) / channels;
  Tensor out(DType::kU8, {g.out_channels * taps * rows * channels});
  auto to = out.as<std::uint8_t>().begin();
  for (std::int64_t group = 0; group < g.out_channels; group += g.out_per_group()) {
    const std::int64_t end = group + g.out_per_group();
    for (std::int64_t first = group; first < end; first += rt::kPanel) {
      const std::int64_t width = std::min<std::int64_t>(rt::kPanel, end - first);
      for (std::int64_t row = 0; row < taps * rows; ++row) {
        for (std::int64_t i = 0; i < width * channels; ++i) {
          const PlaceInRow at = place_in_row(order, width, i);
          *to++ = static_cast<std::uint8_t>(
              w.packed(first + at.column, row % rows * channels + at.channel, row / rows));
        }
      }
    }
  }
  return out;
}

// Helium multiplies eight neighbouring channels at a time, of which three or more pay.
rt::WordOrder order_of(const IsaTraits& isa, const WordConvPlan& plan) {
  const bool helium = isa.assembly == Assembly::kMve;
  if (helium && plan.form != rt::WordForm::kParts && plan.shape.x_channel == 1 &&
      plan.shape.in >= 3)
    return rt::WordOrder::kEights;
  return helium || isa.assembly == Assembly::kDsp ? rt::WordOrder::kFours : rt::WordOrder::kPairs;
}

// x as the kernel sees it has the zero point `zero`: what each position of the kernel adds by that,
// for each part of the channels.
Tensor added_per_tap(const WordConv& conv, const Weights& w, std::int64_t zero) {
  const ConvGeometry& g = conv.geometry;
  const std::int64_t taps = taps_of(g), in = g.in_per_group();
  const std::int64_t part = conv.part == 0 ? in : conv.part;
  Tensor out(DType::kS32, {(in + part - 1) / part * taps * g.out_channels});
  auto to = out.as<std::int32_t>().begin();
  for (std::int64_t first = 0; first < in; first += part) {
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t m = 0; m < g.out_channels; ++m) {
        std::int64_t sum = 0;
        for (std::int64_t c = first; c < std::min(first + part, in); ++c) sum += w.at(m, c, tap);
        // Sums are taken modulo 2^32; only the whole one of a part has to fit.
        *to++ = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum * zero));
      }
    }
  }
  return out;
}

// [position * channels + channel].
Tensor by_position(const ConvGeometry& g, const Weights& w) {
  Tensor out(DType::kS16, {taps_of(g) * g.out_channels});
  auto to = out.as<std::int16_t>().begin();
  for (std::int64_t tap = 0; tap < taps_of(g); ++tap) {
    for (std::int64_t m = 0; m < g.out_channels; ++m)
      *to++ = static_cast<std::int16_t>(w.at(m, 0, tap));
  }
  return out;
}

Tensor scales(const WordConv& conv, bool has_ties) {
  if (!has_ties) return untied_factors(conv);
  std::vector<std::int32_t> all = conv.high_parts;
  all.insert(all.end(), conv.low_parts.begin(), conv.low_parts.end());
  all.insert(all.end(), conv.shifts.begin(), conv.shifts.end());
  all.insert(all.end(), conv.rests.begin(), conv.rests.end());
  return Tensor::of<std::int32_t>({static_cast<std::int64_t>(all.size())}, all);
}

Tensor bias_of(Lowering& lowering, const Node& node, const ConvGeometry& g) {
  const bool biased = node.inputs.size() > 8 && node.inputs[8] != kNoValue;
  return biased ? lowering.constant(node, 8) : Tensor(DType::kS32, {g.out_channels});
}

// As the code has it: what weights are beyond those in memory follows.
Tensor with_beyond(const Tensor& bias, const Weights& weights) {
  const std::int64_t channels = bias.size();
  Tensor out(DType::kS32, {2 * channels});
  for (std::int64_t m = 0; m < channels; ++m) {
    out.as<std::int32_t>()[as_index(m)] = static_cast<std::int32_t>(bias.integer(m));
    out.as<std::int32_t>()[as_index(channels + m)] = static_cast<std::int32_t>(weights.beyond(m));
  }
  return out;
}

// The view of a contiguous tensor as one image [1, positions, channels].
View as_image(View view) {
  const std::int64_t channels = view.shape.back();
  const std::int64_t positions = element_count(view.shape) / channels;
  const std::int64_t size = bytes_of(view.dtype);
  view.shape = {1, positions, channels};
  view.stride = {positions * channels * size, channels * size, size};
  view.halo_begin.assign(3, 0);
  view.halo_end.assign(3, 0);
  return view;
}

// What evidence says of the step.
WordProductCertificate certificate_of(const WordConv& conv, const Weights& weights,
                                      const Tensor& bias, DType type) {
  const ConvGeometry& g = conv.geometry;
  const std::int64_t low = min_of(type) - conv.x_zero, high = max_of(type) - conv.x_zero;
  WordProductCertificate out{
      conv.x_zero, {conv.y_zero, conv.low, conv.high}, conv.part * taps_of(g), {}};
  for (std::int64_t m = 0; m < g.out_channels; ++m) {
    const auto at = as_index(m);
    WordChannelCertificate channel;
    channel.least = channel.most = bias.integer(m);
    for (std::int64_t tap = 0; tap < taps_of(g); ++tap) {
      for (std::int64_t c = 0; c < g.in_per_group(); ++c) {
        const std::int64_t w = weights.at(m, c, tap);
        channel.least += std::min(w * low, w * high);
        channel.most += std::max(w * low, w * high);
      }
    }
    channel.factor = (std::int64_t{conv.high_parts[at]} << 31) + conv.low_parts[at];
    channel.exponent = conv.shifts[at] + 31;
    channel.rest = conv.rests[at];
    out.channels.push_back(channel);
  }
  return out;
}

// Everything that the kernel reads besides x, in the order of the function's arguments.
void add_constants(StepArguments& arguments, WordConvPlan& plan, const WordConv& conv,
                   const Weights& weights, const Tensor& bias, std::int64_t zero) {
  const ConvGeometry& g = conv.geometry;
  plan.w = plan.depthwise
               ? arguments.data(by_position(g, weights), "weights", "per position of the kernel")
                     .argument
               : arguments
                     .data(packed_weights(g, weights, plan.order), "weights",
                           plan.order == rt::WordOrder::kEights
                               ? "rows of eight channels, see etch_words.h"
                               : "pairs, see etch_words.h")
                     .argument;
  const Tensor none(DType::kS32, {1});
  plan.taken_off = arguments
                       .data(zero != 0 ? added_per_tap(conv, weights, zero) : none, "taken_off",
                             "what the zero point adds, per position of the kernel")
                       .argument;
  const bool more = plan.end.beyond != 0, has_ties = plan.form != rt::WordForm::kPlain;
  plan.bias =
      arguments
          .data(more ? with_beyond(bias, weights) : bias, "bias",
                more ? "per channel, then what weights are beyond their bytes" : "per channel")
          .argument;
  plan.scale =
      arguments
          .data(scales(conv, has_ties), "scale",
                has_ties ? "high and low 31 bits of factors, shifts, rests of biases"
                         : "high and low words of factors, shifts, low and high words of offsets")
          .argument;
}

std::unique_ptr<WordConvStep> described(const WordConv& conv) {
  const ConvGeometry& g = conv.geometry;
  auto step = std::make_unique<WordConvStep>();
  step->kind = !conv.product && is_depthwise(g) ? "depthwise" : "conv";
  step->summary = conv.product ? cat("product of 16 bits, ", g.in_channels, " -> ",
                                     counted(g.out_channels, "channel"))
                               : summary_of(g, step->kind, " of 16 bits");
  step->macs = g.batch * taps_of(g) * g.in_per_group() * g.out_channels;
  const bool transposed = g.direction == ConvDirection::kTransposed;
  for (const ConvAxis& axis : g.axes) step->macs *= transposed ? axis.in : axis.out;
  step->facts.emplace_back(
      conv.part == 0 ? "sums proved to fit in 32 bits"
                     : cat("sums of each ", conv.part, " channels proved to fit in 32 bits"));
  return step;
}

// One input and one output channel per group, which are neighbours in memory.
bool is_depthwise_in_rows(const ConvGeometry& g, const rt::FloatConvShape& shape) {
  return is_depthwise(g) && g.direction == ConvDirection::kForward && shape.x_channel == 1 &&
         shape.y_channel == 1;
}

}  // namespace

void add_word_conv(Lowering& lowering, const Node& node, const WordConv& conv) {
  if (refuse_empty(lowering, node)) return;
  const ConvGeometry& g = conv.geometry;
  auto step = described(conv);
  StepArguments arguments(lowering, node, *step);
  const int rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  const Order order = conv.product ? row_major(rank) : conv_order(g.layout, rank);
  WordConvPlan& plan = step->plan;
  const Input x = arguments.memory(conv.product ? as_image(lowering.contiguous(node, 0, order))
                                                : lowering.ordered(node, 0, order),
                                   "x");
  const View y = conv.product ? lowering.new_dense_output(node, 0, order)
                              : lowering.new_output(node, 0, order);
  plan.shape = plan_float_conv(g, false, channels_first(x.view, g.layout),
                               channels_first(conv.product ? as_image(y) : y, g.layout))
                   .shape;
  const bool is_unsigned = x.view.dtype == DType::kU16;
  const Weights weights(lowering.constant(node, 3), conv);
  const int zero = conv.x_zero - (is_unsigned ? 32768 : 0);
  plan.depthwise = is_depthwise_in_rows(g, plan.shape);
  const bool one_part = plan.depthwise || (conv.part == 0 && !weights.has_beyond());
  plan.form = !one_part             ? rt::WordForm::kParts
              : may_have_ties(conv) ? rt::WordForm::kTies
                                    : rt::WordForm::kPlain;
  plan.order = order_of(lowering.isa(), plan);
  plan.end = {is_unsigned ? 0x8000 : 0,
              zero != 0 ? 1 : 0,
              conv.y_zero,
              conv.low,
              conv.high,
              one_part || !weights.has_beyond() ? 0 : 1,
              as_size(conv.part == 0 ? g.in_per_group() : conv.part)};
  const Tensor bias = bias_of(lowering, node, g);
  plan.x = x.argument;
  add_constants(arguments, plan, conv, weights, bias, zero);
  plan.y = arguments.output("y", y);
  const Step& made = *step;
  arguments.add(std::move(step));
  certify(made, [&] { return certificate_of(conv, weights, bias, y.dtype); });
}

}  // namespace etch
