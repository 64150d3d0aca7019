// See conv_sums.h.
#include "compiler/prove/conv_sums.h"

#include <algorithm>
#include <any>
#include <random>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/conv_integer/op.h"

namespace etch::cli {

namespace {

constexpr int kSumParts = 2;  // each with other random differences
constexpr int kSumRandomInputs = 16;

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
      : layer_(sums.layer),
        product_(sums.product),
        subject_(subject),
        places_(places),
        runner_(runner),
        most_work_(most_work),
        reporter_(reporter),
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
        calls.add(call, 0);
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
      for (const bool most : {true, false}) {
        Matrices call = at_zero();
        const std::vector<std::int64_t> positions = outputs.of(turn / g.out_per_group());
        for (const std::int64_t position : positions)
          make_extreme(call, position, turn % g.out_per_group(), most);
        calls.add(call, 0);
        done += std::ssize(positions) * g.group * g.batch;
      }
    }
    return calls.conclude("extremes", done, 2 * layer_.outputs());
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
    return {subject_, places_, runner_, reporter_,
            [this](const Matrices& inputs) { return sums_of(inputs); }};
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
    return end_of_type(product_.a_type, false) + static_cast<int>((random_() >> 8) % 256);
  }
  int other_than(int zero) {
    int out = zero;
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

  const Layer& layer_;
  const RunTimeProduct& product_;
  const ProductSubject& subject_;
  const ProductPlaces& places_;
  const ProofRunner& runner_;
  const double most_work_;
  Reporter& reporter_;
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

std::optional<std::vector<PhaseResult>> prove_conv_sums(const ConvSums& sums,
                                                        const ProductSubject& subject,
                                                        const ProofRunner& runner, double most_work,
                                                        Reporter& reporter, std::string& why) {
  const std::optional<ProductPlaces> places = places_of_sums(sums, subject, why);
  if (!places) return std::nullopt;
  ConvSumsLaboratory laboratory(sums, subject, *places, runner, most_work, reporter);
  std::vector<PhaseResult> out;
  using Part = PhaseResult (ConvSumsLaboratory::*)();
  for (const Part part : {&ConvSumsLaboratory::products, &ConvSumsLaboratory::extremes,
                          &ConvSumsLaboratory::random}) {
    if (!reporter.failed()) out.push_back((laboratory.*part)());
  }
  return out;
}

}  // namespace etch::cli
