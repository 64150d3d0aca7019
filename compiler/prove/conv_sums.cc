// See conv_sums.h.
#include "compiler/prove/conv_sums.h"

#include <algorithm>
#include <any>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/conv_integer/op.h"
#include "compiler/prove/thresholds.h"

namespace etch::cli {

namespace {

constexpr int kSumParts = 2;  // each with other random differences
constexpr int kSumRandomInputs = 16;
constexpr int kMostSteps = 64;  // that a product of 16 bits is away, in units of a weight

int end_of_type(DType type, bool high) {
  return static_cast<int>(high ? max_of(type) : min_of(type));
}

// The positions whose coordinates are all `turn`, counted modulo `spacing`.
class SpacedPositions {
 public:
  SpacedPositions(const ConvGeometry& geometry, std::int64_t ConvAxis::*size,
                  const std::vector<std::int64_t>& spacing)
      : spacing_(spacing) {
    for (const ConvAxis& axis : geometry.axes) sizes_.push_back(axis.*size);
  }
  std::int64_t turns() const {
    std::int64_t out = 1;
    for (const std::int64_t each : spacing_) out *= each;
    return out;
  }
  std::vector<std::int64_t> of(std::int64_t turn) const {
    std::vector<std::int64_t> out = {0}, first(sizes_.size());
    for (std::size_t axis = sizes_.size(); axis-- > 0; turn /= spacing_[axis])
      first[axis] = turn % spacing_[axis];
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      std::vector<std::int64_t> next;
      for (const std::int64_t before : out) {
        for (std::int64_t i = first[axis]; i < sizes_[axis]; i += spacing_[axis])
          next.push_back(before * sizes_[axis] + i);
      }
      out = std::move(next);
    }
    return out;
  }

 private:
  std::vector<std::int64_t> sizes_, spacing_;
};

class ConvSumsLaboratory {
 public:
  ConvSumsLaboratory(const ConvSums& sums, const ProductSubject& subject,
                     const ProductPlaces& places, const ProofRunner& runner, double most_work,
                     Reporter& reporter)
      : sums_(sums),
        layer_(sums.layer),
        product_(sums.product),
        subject_(subject),
        places_(places),
        runner_(runner),
        most_work_(most_work),
        reporter_(reporter),
        factor_(sums.words ? subject.integer_words.front().factor : 0),
        reach_(sums.layer) {}

  // At all places at once whose outputs have no input in common, an element of a channel of each
  // group is a random distance away from the zero point: each output is one product.
  PhaseResult products() {
    ProductCalls calls = new_calls();
    const ConvGeometry& g = layer_.geometry;
    const SpacedPositions inputs(g, &ConvAxis::in, reach_.input_spacing);
    const std::int64_t turns = inputs.turns() * g.in_per_group();
    const std::int64_t stride = stride_for(kSumParts * turns);
    std::int64_t done = 0;
    for (int part = 0; part < kSumParts; ++part) {
      const std::vector<std::int64_t> ahead = random_offsets();
      for (std::int64_t turn = 0; turn < turns; turn += stride) {
        Matrices call = at_zero();
        if (words()) call.shift = shift_to(middle());
        const std::int64_t channel = turn % g.in_per_group();
        for (const std::int64_t position : inputs.of(turn / g.in_per_group())) {
          for (std::int64_t stack = 0; stack < g.batch * g.group; ++stack) {
            const std::int64_t offset =
                ahead[static_cast<std::size_t>(stack * layer_.inputs() + position)];
            const std::int64_t c = stack * g.in_per_group() + (channel + offset) % g.in_per_group();
            set(call, c, position, other_than(call.a_zero));
            if (part == 0) done += std::ssize(reach_.of_input(position)) * g.out_per_group();
          }
        }
        calls.add(call, factor_);
      }
    }
    return calls.conclude("products", done, macs());
  }

  // The greatest and the least sum of every channel, at all outputs at once that have no input in
  // common: no partial sum saturates.
  PhaseResult extremes() {
    ProductCalls calls = new_calls();
    const ConvGeometry& g = layer_.geometry;
    const SpacedPositions outputs(g, &ConvAxis::out, reach_.output_spacing);
    const std::int64_t turns = outputs.turns() * g.out_per_group();
    const std::int64_t stride = stride_for(2 * turns);
    std::int64_t done = 0;
    for (std::int64_t turn = 0; turn < turns; turn += stride) {
      const std::int64_t m = turn % g.out_per_group();
      for (const auto& [taps, positions] : by_taps(outputs.of(turn / g.out_per_group()))) {
        for (const bool most : {true, false}) {
          Matrices call = at_zero();
          for (const std::int64_t position : positions) make_extreme(call, position, m, most);
          if (words()) call.shift = shift_from_extreme(taps, m, most);
          calls.add(call, factor_);
          done += std::ssize(positions) * g.group * g.batch;
        }
      }
    }
    return calls.conclude("extremes", done, 2 * layer_.outputs());
  }

  // Of 16 bits: both sides of every place where a channel's result changes.
  PhaseResult thresholds() {
    ProductCalls calls = new_calls();
    std::vector<std::vector<std::int32_t>> points;
    std::int64_t all = 0, done = 0;
    std::size_t most = 0;
    for (std::int64_t m = 0; m < layer_.geometry.out_channels; ++m) {
      points.push_back(check_points(m));
      all += std::ssize(points.back());
      most = std::max(most, points.back().size());
    }
    const auto stride = static_cast<std::size_t>(stride_for(static_cast<std::int64_t>(most) / 2));
    for (std::size_t i = 0; i < most; i += stride) {
      std::vector<std::int64_t> sums;
      for (const std::vector<std::int32_t>& of_channel : points) {
        if (i < of_channel.size()) ++done;
        sums.push_back(of_channel[std::min(i, of_channel.size() - 1)]);
      }
      Matrices call = at_zero();
      call.shift = shift_to(sums);
      calls.add(call, 0);
    }
    return calls.conclude("thresholds", done, all);
  }

  // Why no sum can be read from results; empty: they can.
  std::string why_not() const {
    if (!words() || most_steps() > 0) return {};
    return cat("its results tell ", words()->high - words()->low, " sums in a row apart");
  }

  PhaseResult random() {
    ProductCalls calls = new_calls();
    for (int turn = 0; turn < kSumRandomInputs; ++turn) {
      Matrices call = at_zero();
      for (int& each : call.a) each = random_value();
      calls.add(call, 0);
    }
    return calls.conclude("random", kSumRandomInputs, kSumRandomInputs);
  }

 private:
  ProductCalls new_calls() const {
    return {subject_, places_, runner_, reporter_, [this](const Matrices& inputs, float factor) {
              std::vector<std::int32_t> out = sums_of(inputs);
              if (words()) requantize(inputs, factor, out);
              return out;
            }};
  }

  const WordResults* words() const { return sums_.words ? &*sums_.words : nullptr; }
  std::uint32_t own_bias(std::int64_t m) const {
    return static_cast<std::uint32_t>(words()->bias[static_cast<std::size_t>(m)]);
  }
  // From sums without bias to results.
  void requantize(const Matrices& inputs, float factor, std::vector<std::int32_t>& sums) const {
    const std::int64_t channels = layer_.geometry.out_channels;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::int64_t m = static_cast<std::int64_t>(i) % channels;
      const std::uint32_t shift =
          inputs.shift.empty() ? 0 : inputs.shift[static_cast<std::size_t>(m)];
      const std::uint32_t sum = static_cast<std::uint32_t>(sums[i]) + own_bias(m) + shift;
      sums[i] = words()->of(static_cast<std::int32_t>(sum), m, factor);
    }
  }

  // By which biases are changed so that channels have these sums while inputs are at the zero
  // point.
  std::vector<std::uint32_t> shift_to(const std::vector<std::int64_t>& sums) const {
    std::vector<std::uint32_t> out;
    for (std::int64_t m = 0; m < layer_.geometry.out_channels; ++m)
      out.push_back(static_cast<std::uint32_t>(sums[static_cast<std::size_t>(m)]) - own_bias(m));
    return out;
  }
  // A sum in the middle of those whose results are within limits, for each channel.
  std::vector<std::int64_t> middle() const {
    const auto half = (words()->low + words()->high) / 2;
    const double result = half - words()->y_zero_point;
    const auto sum = static_cast<std::int64_t>(std::llround(result / factor_));
    return std::vector<std::int64_t>(static_cast<std::size_t>(layer_.geometry.out_channels), sum);
  }
  // So that the extreme sums of channel m of each group are where the result changes if they are
  // one too small, or too large.
  std::vector<std::uint32_t> shift_from_extreme(const std::vector<int>& taps, std::int64_t m,
                                                bool most) const {
    std::vector<std::int64_t> sums = middle();
    const ConvGeometry& g = layer_.geometry;
    std::int64_t edge = sums.front();
    while (words()->of(edge - 1, 0, factor_) == words()->of(edge, 0, factor_)) --edge;
    for (std::int64_t group = 0; group < g.group; ++group) {
      std::int64_t sum = 0;
      for (const int tap : taps) {
        for (std::int64_t c = 0; c < g.in_per_group(); ++c) {
          const std::int64_t w = layer_.weight(group * g.in_per_group() + c, tap, m);
          sum += w * (end_of_type(product_.a_type, (w > 0) == most) - *product_.a_zero);
        }
      }
      sums[static_cast<std::size_t>(group * g.out_per_group() + m)] =
          (most ? edge : edge - 1) - sum;
    }
    return shift_to(sums);
  }

  // Output positions by the taps through which they depend on inputs, which only borders and 16
  // bits tell apart: a bias is the same at all positions.
  std::map<std::vector<int>, std::vector<std::int64_t>> by_taps(
      const std::vector<std::int64_t>& positions) const {
    std::map<std::vector<int>, std::vector<std::int64_t>> out;
    if (!words()) return {{{}, positions}};
    for (const std::int64_t position : positions) {
      std::vector<int> taps;
      for (const Reach::Entry& entry : reach_.of_output(position)) taps.push_back(entry.tap);
      out[taps].push_back(position);
    }
    return out;
  }

  // Every sum that can occur, and the results of two in a row differ.
  std::vector<std::int32_t> check_points(std::int64_t m) const {
    const ConvGeometry& g = layer_.geometry;
    const std::int64_t first = m / g.out_per_group() * g.in_per_group();
    std::int64_t least = words()->bias[static_cast<std::size_t>(m)], most = least;
    for (std::int64_t c = first; c < first + g.in_per_group(); ++c) {
      for (std::int64_t tap = 0; tap < layer_.taps(); ++tap) {
        const std::int64_t w = layer_.weight(c, static_cast<int>(tap), m % g.out_per_group());
        const std::int64_t one = w * (end_of_type(product_.a_type, true) - *product_.a_zero);
        const std::int64_t other = w * (end_of_type(product_.a_type, false) - *product_.a_zero);
        least += std::min(one, other);
        most += std::max(one, other);
      }
    }
    least = std::max<std::int64_t>(least, INT32_MIN);
    most = std::min<std::int64_t>(most, INT32_MAX);
    auto out = thresholds_of(least, most, [&](std::int64_t sum) { return words()->of(sum, m, 0); });
    out.push_back(static_cast<std::int32_t>(least));
    out.push_back(static_cast<std::int32_t>(most));
    return out;
  }

  // How many units a product of 16 bits can be away from the middle; 0: results tell too little.
  int most_steps() const {
    int weight = 1;
    for (const int each : layer_.weights) weight = std::max(weight, std::abs(each));
    return std::min(kMostSteps, (words()->high - words()->low) / 2 / weight);
  }

  // Of whole batches, borders left out.
  std::int64_t macs() const {
    std::int64_t entries = 0;
    for (std::int64_t i = 0; i < layer_.inputs(); ++i) entries += std::ssize(reach_.of_input(i));
    const ConvGeometry& g = layer_.geometry;
    return entries * g.batch * g.in_channels * g.out_per_group();
  }
  // The step between the calls that are made, so that the work stays below the limit.
  std::int64_t stride_for(std::int64_t calls) const {
    const double all = 2 * static_cast<double>(macs()) * static_cast<double>(calls);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(all / most_work_));
  }

  int random_value() {
    const int low = end_of_type(product_.a_type, false), high = end_of_type(product_.a_type, true);
    return low + static_cast<int>((random_() >> 8) % static_cast<unsigned>(high - low + 1));
  }
  // Of 16 bits, so far away that it shows to the unit of a weight.
  int other_than(int zero) {
    int out = zero;
    if (words()) {
      const auto steps = static_cast<int>((random_() >> 8) % static_cast<unsigned>(most_steps()));
      const int away = (steps + 1) * unit_of_word_factor(factor_);
      const bool up = zero + away <= end_of_type(product_.a_type, true);
      const bool down = zero - away >= end_of_type(product_.a_type, false);
      return up && (!down || (random_() & 256) != 0) ? zero + away : zero - away;
    }
    while (out == zero) out = random_value();
    return out;
  }
  std::vector<std::int64_t> random_offsets() {
    const ConvGeometry& g = layer_.geometry;
    std::vector<std::int64_t> out(static_cast<std::size_t>(g.batch * g.group * layer_.inputs()));
    for (std::int64_t& each : out)
      each = static_cast<std::int64_t>((random_() >> 8) %
                                       static_cast<std::uint64_t>(g.in_per_group()));
    return out;
  }

  // Zero points that are known at run time only are random.
  Matrices at_zero() {
    Matrices out;
    out.a_zero = product_.a_zero ? *product_.a_zero : random_value();
    out.a.assign(places_.in_a.size(), out.a_zero);
    return out;
  }
  // Channel c, counted over the whole batch.
  void set(Matrices& call, std::int64_t c, std::int64_t position, int value) const {
    call.a[static_cast<std::size_t>(c * layer_.inputs() + position)] = value;
  }

  // Of channel `m` of every group at an output position.
  void make_extreme(Matrices& call, std::int64_t position, std::int64_t m, bool most) const {
    const ConvGeometry& g = layer_.geometry;
    for (const Reach::Entry& entry : reach_.of_output(position)) {
      for (std::int64_t c = 0; c < g.batch * g.in_channels; ++c) {
        const bool up = (layer_.weight(c % g.in_channels, entry.tap, m) > 0) == most;
        set(call, c, entry.output, end_of_type(product_.a_type, up));
      }
    }
  }

  // By the definition, in the order of the places of y.
  std::vector<std::int32_t> sums_of(const Matrices& inputs) const {
    std::vector<std::int32_t> out(static_cast<std::size_t>(layer_.outputs()));
    const std::int64_t channels = layer_.geometry.in_channels;
    for (std::size_t i = 0; i < inputs.a.size(); ++i) {
      const int difference = inputs.a[i] - inputs.a_zero;
      const auto row = static_cast<std::int64_t>(i) / layer_.inputs();
      const auto position = static_cast<std::int64_t>(i) % layer_.inputs();
      if (difference != 0)
        add_input(layer_, reach_, {row / channels, row % channels, position}, difference, out);
    }
    return out;
  }

  const ConvSums& sums_;
  const Layer& layer_;
  const RunTimeProduct& product_;
  const ProductSubject& subject_;
  const ProductPlaces& places_;
  const ProofRunner& runner_;
  const double most_work_;
  Reporter& reporter_;
  const float factor_;  // that shows sums of 16 bits; 0: they show themselves
  const Reach reach_;
  std::mt19937 random_{20261126};
};

// The view without the halo, where it has as much padding inside as the layer reads.
View without_halo(const View& x, const ConvGeometry& geometry) {
  View out = x;
  for (std::size_t a = 0; a < geometry.axes.size() && a + 2 < x.shape.size(); ++a) {
    const ConvAxis& axis = geometry.axes[a];
    const std::int64_t read = (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    if (x.shape[a + 2] == std::max(axis.pad_begin + axis.in, read))
      out = part_of(out, a + 2, axis.pad_begin, axis.in);
  }
  return out;
}

// x and y of the step, and where its zero point is if it is known at run time only.
std::optional<ProductPlaces> places_of_sums(const ConvSums& sums, const ProductSubject& subject,
                                            std::string& why) {
  std::optional<ProductPlaces> out = operands_of(subject, why);
  if (!out) return std::nullopt;
  const std::vector<View>& views = *subject.views->find(*subject.step);
  const View& whole = views[static_cast<std::size_t>(out->a)];
  if (sums.rows) {
    out->in_y = row_major_places(views[static_cast<std::size_t>(out->y)]);
    const std::vector<std::int64_t> by_row = row_major_places(whole);
    const std::int64_t channels = sums.layer.geometry.in_channels, rows = sums.layer.inputs();
    if (std::ssize(by_row) != channels * rows || std::ssize(out->in_y) != sums.layer.outputs())
      why = "its tensors have other sizes than the layer";
    for (std::int64_t i = 0; i < channels * rows && why.empty(); ++i)
      out->in_a.push_back(by_row[static_cast<std::size_t>(i % rows * channels + i / rows)]);
    return why.empty() ? out : std::nullopt;
  }
  const View x = without_halo(whole, sums.layer.geometry);
  const View& y = views[static_cast<std::size_t>(out->y)];
  if (x.shape != input_shape(sums.layer) || y.shape != output_shape(sums.layer)) {
    why = "its tensors have other sizes than the layer";
    return std::nullopt;
  }
  out->in_a = element_places(x, Innermost::kPositions);
  for (std::int64_t& place : out->in_a) place += x.offset - whole.offset;
  out->in_y = element_places(y, Innermost::kChannels);
  return out;
}

}  // namespace

std::optional<ConvSums> conv_sums_of(const Graph& graph, const Node& node, std::string& why) {
  const auto* const params = std::any_cast<ConvIntegerParams>(&node.params);
  const std::shared_ptr<const Tensor> w =
      params == nullptr ? nullptr : graph.value(node.inputs[1]).constant;
  if (w == nullptr || !params->w_zero_point) {
    why = "its weights are known at run time only";
    return std::nullopt;
  }
  ConvSums out;
  out.layer = sums_layer(params->geometry, *w, *params->w_zero_point);
  out.product.a_type = *graph.value(node.inputs[0]).dtype;
  if (params->x_zero_point) out.product.a_zero = params->x_zero_point->front();
  out.product.b_zero = 0;
  out.product.weights = out.layer.weights;
  out.product.weight_tensor = w;
  return out;
}

std::optional<ConvSums> word_sums_of(const Graph& graph, const Node& node, std::string& why) {
  ConvSums out;
  out.words = word_results_of(graph, node, why);
  if (!out.words) return std::nullopt;
  const auto& params = *std::any_cast<QLinearConv16>(&node.params);
  const std::shared_ptr<const Tensor> w = graph.value(node.inputs[3]).constant;
  out.layer = sums_layer(params.geometry, *w, params.w.zero_point);
  out.product.a_type = *graph.value(node.inputs[0]).dtype;
  out.product.a_zero = params.x.zero_point_at(0);
  out.product.b_zero = 0;
  out.product.weights = out.layer.weights;
  out.product.weight_tensor = w;
  out.rows = node.op_type == "QLinearMatMul16";
  return out;
}

std::optional<std::vector<PhaseResult>> prove_conv_sums(const ConvSums& sums,
                                                        const ProductSubject& subject,
                                                        const ProofRunner& runner, double most_work,
                                                        Reporter& reporter, std::string& why) {
  const std::optional<ProductPlaces> places = places_of_sums(sums, subject, why);
  if (!places) return std::nullopt;
  ConvSumsLaboratory laboratory(sums, subject, *places, runner, most_work, reporter);
  why = laboratory.why_not();
  if (!why.empty()) return std::nullopt;
  std::vector<PhaseResult> out;
  using Part = PhaseResult (ConvSumsLaboratory::*)();
  for (const Part part : {&ConvSumsLaboratory::products, &ConvSumsLaboratory::extremes,
                          &ConvSumsLaboratory::thresholds, &ConvSumsLaboratory::random}) {
    if (part == &ConvSumsLaboratory::thresholds && !sums.words) continue;
    if (!reporter.failed()) out.push_back((laboratory.*part)());
  }
  return out;
}

}  // namespace etch::cli
