// The time loop of recurrent layers, one element after the other; see op.h.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include "compiler/ir/geometry/strided.h"
#include "compiler/kernels/rows/function.h"
#include "compiler/ops/activation/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/recurrent/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

float gate_function(const GateFunction& f, float x) {
  using Kind = GateFunction::Kind;
  switch (f.kind) {
    case Kind::kRelu:
      return activate({Activation::Kind::kRelu, 0}, x);
    case Kind::kLeakyRelu:
      return activate({Activation::Kind::kLeakyRelu, f.alpha}, x);
    case Kind::kSigmoid:
      return sigmoid_f32(x);
    case Kind::kAffine:
      return f.alpha * x + f.beta;
    case Kind::kScaledTanh:
      return f.alpha * evaluate(Function::kTanh, f.beta * x, 0, 0);
    case Kind::kOther:
      return evaluate(f.other, x, f.alpha, f.beta);
  }
  ETCH_CHECK(false);
}

namespace {

// An input of the loop; elements of an omitted one are 0.
class Operand {
 public:
  Operand(std::span<const Tensor* const> inputs, LoopInput i) {
    const auto at = static_cast<std::size_t>(i);
    if (at < inputs.size()) tensor_ = inputs[at];
  }
  bool given() const { return tensor_ != nullptr; }
  float operator[](std::int64_t i) const {
    return tensor_ == nullptr ? 0.0F : tensor_->as<float>()[as_index(i)];
  }
  const Tensor& tensor() const { return *tensor_; }

 private:
  const Tensor* tensor_ = nullptr;
};

// One direction of the whole batch, whose states are quantized together.
class DirectionLoop {
 public:
  DirectionLoop(const Recurrence& r, FloatSteps steps, std::span<const Tensor* const> inputs,
                std::int64_t d)
      : r_(r),
        steps_(steps),
        d_(d),
        products_(inputs, LoopInput::kProducts),
        weights_(inputs, LoopInput::kWeights),
        bias_(inputs, LoopInput::kBias),
        lengths_(inputs, LoopInput::kLengths),
        state_(inputs, LoopInput::kState),
        cell_(inputs, LoopInput::kCell),
        peephole_(inputs, LoopInput::kPeephole),
        scale_(inputs, LoopInput::kScale),
        zero_(inputs, LoopInput::kZeroPoint) {}

  void run(std::vector<Tensor>& outputs) {
    for (std::int64_t b = 0; b < r_.batch; ++b) {
      for (std::int64_t j = 0; j < r_.hidden; ++j) {
        h_.push_back(length(b) > 0 ? state_[state_at(b) + j] : 0.0F);
        c_.push_back(length(b) > 0 ? cell_[state_at(b) + j] : 0.0F);
      }
    }
    for (std::int64_t i = 0; i < r_.time; ++i) {
      const std::int64_t t = r_.is_backwards(d_) ? r_.time - 1 - i : i;
      if (r_.weights == Recurrence::Weights::kQuantized) quantize();
      const std::vector<float> before = h_;
      for (std::int64_t b = 0; b < r_.batch; ++b) {
        if (t >= length(b)) continue;
        step(t, b, std::span(before).subspan(as_index(b * r_.hidden), as_index(r_.hidden)));
        for (std::int64_t j = 0; j < r_.hidden; ++j) {
          outputs[0].as<float>()[as_index(y_at(t, b) + j)] = h_[as_index(b * r_.hidden + j)];
        }
      }
    }
    for (std::int64_t b = 0; b < r_.batch; ++b) {
      for (std::int64_t j = 0; j < r_.hidden; ++j) {
        const std::size_t from = as_index(b * r_.hidden + j), to = as_index(state_at(b) + j);
        outputs[1].as<float>()[to] = h_[from];
        if (r_.cell == RecurrentCell::kLstm) outputs[2].as<float>()[to] = c_[from];
      }
    }
  }

 private:
  std::int64_t length(std::int64_t b) const {
    if (!lengths_.given()) return r_.time;
    const std::int64_t given = lengths_.tensor().as<std::int32_t>()[as_index(b)];
    return std::clamp<std::int64_t>(given, 0, r_.time);
  }
  std::int64_t state_at(std::int64_t b) const {
    return (r_.batch_first ? b * r_.directions() + d_ : d_ * r_.batch + b) * r_.hidden;
  }
  std::int64_t y_at(std::int64_t t, std::int64_t b) const {
    const std::int64_t row = r_.batch_first ? (b * r_.time + t) * r_.directions() + d_
                                            : (t * r_.directions() + d_) * r_.batch + b;
    return row * r_.hidden;
  }

  // Element n of the gates, in the order of the model.
  float product(std::int64_t t, std::int64_t b, std::int64_t n) const {
    const std::int64_t row = r_.batch_first ? b * r_.time + t : t * r_.batch + b;
    return products_[(row * r_.directions() + d_) * r_.gate_elements() + n];
  }
  float w_bias(std::int64_t n) const { return bias_[2 * d_ * r_.gate_elements() + n]; }
  float r_bias(std::int64_t n) const { return bias_[(2 * d_ + 1) * r_.gate_elements() + n]; }

  // DynamicQuantizeLinear of the state.
  void quantize() {
    float low = 0, high = 0;
    for (const float value : h_) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    h_scale_ = high == low ? 1.0F : (high - low) / 255.0F;
    h_zero_ = round_and_saturate(0.0F - low / h_scale_, 0, DType::kU8);
    q_.clear();
    for (const float value : h_)
      q_.push_back(round_and_saturate(value / h_scale_, h_zero_, DType::kU8));
  }

  // The entry of a scale or zero point for element n of the gates.
  std::int64_t entry(const Tensor& parameters, std::int64_t n) const {
    if (parameters.size() == 1) return 0;
    return parameters.shape().size() == 1 ? d_ : d_ * r_.gate_elements() + n;
  }

  float state_product(std::span<const float> h, std::int64_t b, std::int64_t n) const {
    if (r_.weights == Recurrence::Weights::kFloat) {
      TermSum sum;
      for (std::int64_t k = 0; k < r_.hidden; ++k)
        sum += FloatTerm{h[as_index(k)], weights_[(d_ * r_.gate_elements() + n) * r_.hidden + k],
                         steps_};
      return sum.value();
    }
    const std::vector<std::int64_t> w = weights_.tensor().integers();
    const std::int64_t zero =
        zero_.given() ? zero_.tensor().integers()[as_index(entry(zero_.tensor(), n))] : 0;
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < r_.hidden; ++k) {
      const std::int64_t weight = w[as_index((d_ * r_.hidden + k) * r_.gate_elements() + n)];
      sum += (q_[as_index(b * r_.hidden + k)] - h_zero_) * (weight - zero);
    }
    return static_cast<float>(wrap_to_int32(sum)) * (h_scale_ * scale_[entry(scale_.tensor(), n)]);
  }

  float clipped(float x) const {
    if (r_.clip == 0) return x;
    return x < -r_.clip ? -r_.clip : r_.clip < x ? r_.clip : x;
  }
  float function(int which, float x) const {
    const std::int64_t first = d_ * functions_of(r_.cell);
    return gate_function(r_.functions[as_index(first + which)], clipped(x));
  }
  // What function gets for element n of the gates: the products, with `more` added to the state's.
  float argument(std::int64_t t, std::int64_t b, std::int64_t n, float state_product) const {
    return product(t, b, n) + state_product + (w_bias(n) + r_bias(n));
  }

  void step(std::int64_t t, std::int64_t b, std::span<const float> h) {
    std::vector<float> next, reset;
    if (r_.cell == RecurrentCell::kGru && !r_.before_reset) reset = reset_state(t, b, h);
    for (std::int64_t j = 0; j < r_.hidden; ++j) {
      if (r_.cell == RecurrentCell::kLstm) next.push_back(lstm(t, b, j, h));
      if (r_.cell == RecurrentCell::kGru) next.push_back(gru(t, b, j, h, reset));
      if (r_.cell == RecurrentCell::kRnn)
        next.push_back(function(0, argument(t, b, j, state_product(h, b, j))));
    }
    std::ranges::copy(next, h_.begin() + b * r_.hidden);
  }

  // Element n of z and r.
  float gru_gate(std::int64_t t, std::int64_t b, std::int64_t n, std::span<const float> h) const {
    return function(0, argument(t, b, n, state_product(h, b, n)));
  }
  // r * h
  std::vector<float> reset_state(std::int64_t t, std::int64_t b, std::span<const float> h) const {
    std::vector<float> out;
    for (std::int64_t k = 0; k < r_.hidden; ++k)
      out.push_back(gru_gate(t, b, r_.hidden + k, h) * h[as_index(k)]);
    return out;
  }

  float gru(std::int64_t t, std::int64_t b, std::int64_t j, std::span<const float> h,
            std::span<const float> reset) const {
    const std::int64_t n = 2 * r_.hidden + j;
    float x = 0;
    if (r_.before_reset) {
      const float linear = state_product(h, b, n) + r_bias(n);
      x = product(t, b, n) + gru_gate(t, b, r_.hidden + j, h) * linear + w_bias(n);
    } else {
      x = argument(t, b, n, state_product(reset, b, n));
    }
    const float z = gru_gate(t, b, j, h);
    return (1.0F - z) * function(1, x) + z * h[as_index(j)];
  }

  float lstm(std::int64_t t, std::int64_t b, std::int64_t j, std::span<const float> h) {
    float& c = c_[as_index(b * r_.hidden + j)];
    // Gate `of` of i, o, f, which are in this order in the peepholes, too.
    const auto gate = [&](std::int64_t of) {
      const std::int64_t n = of * r_.hidden + j;
      float sum = state_product(h, b, n);
      if (peephole_.given()) sum += peephole_[(3 * d_ + of) * r_.hidden + j] * c;
      return function(0, argument(t, b, n, sum));
    };
    const std::int64_t n = 3 * r_.hidden + j;
    const float in = gate(0);
    const float keep = r_.coupled ? 1.0F - in : gate(2);
    c = keep * c + in * function(1, argument(t, b, n, state_product(h, b, n)));
    const std::int64_t last = d_ * functions_of(r_.cell) + 2;
    return gate(1) * gate_function(r_.functions[as_index(last)], c);
  }

  const Recurrence& r_;
  FloatSteps steps_;
  std::int64_t d_;
  Operand products_, weights_, bias_, lengths_, state_, cell_, peephole_, scale_, zero_;
  std::vector<float> h_, c_;
  std::vector<std::int32_t> q_;
  float h_scale_ = 1;
  std::int32_t h_zero_ = 0;
};

}  // namespace

std::vector<Tensor> recurrent_loop(const Recurrence& r, FloatSteps steps,
                                   std::span<const Tensor* const> inputs) {
  const std::int64_t d = r.directions();
  const Shape state = r.batch_first ? Shape{r.batch, d, r.hidden} : Shape{d, r.batch, r.hidden};
  std::vector<Tensor> outputs;
  outputs.emplace_back(DType::kF32, r.batch_first ? Shape{r.batch, r.time, d, r.hidden}
                                                  : Shape{r.time, d, r.batch, r.hidden});
  outputs.emplace_back(DType::kF32, state);
  if (r.cell == RecurrentCell::kLstm) outputs.emplace_back(DType::kF32, state);
  for (std::int64_t i = 0; i < d; ++i) DirectionLoop(r, steps, inputs, i).run(outputs);
  return outputs;
}

}  // namespace etch
