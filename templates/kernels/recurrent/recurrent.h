// The time loop of RNN, GRU and LSTM in one direction: the product of the state and its weights, in
// float or of the state quantized anew in every step; then gates and the new state by
// runtime/etch_recurrent.h, with functions of floats between. What the gates get from the input is
// there already, for all steps (compiler/ops/recurrent/op.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "templates/external/half_weights.h"
#include "templates/external/products.h"
#include "templates/external/recurrent.h"
#include "templates/external/rows.h"
#include "templates/kernels/arguments.h"
#include "templates/kernels/conv/conv.h"
#include "templates/kernels/conv/dsp_conv.h"
#include "templates/kernels/conv/mve_conv.h"
#include "templates/kernels/rows/function.h"

namespace etch {

// What an activation is among the functions of the runtime.
struct GateFunction {
  enum class Kind { kRelu, kLeakyRelu, kSigmoid, kAffine, kScaledTanh, kOther };
  Kind kind = Kind::kSigmoid;
  Function other = Function::kTanh;  // kOther
  float alpha = 0, beta = 0;
};

enum class RecurrentCell { kRnn, kGru, kLstm };
constexpr int gates_of(RecurrentCell cell) {
  return cell == RecurrentCell::kRnn ? 1 : cell == RecurrentCell::kGru ? 3 : 4;
}

// What an input or output is for the one direction: elements before it, and strides.
struct RecurrentPart {
  Argument from;
  std::int64_t first = 0, row = 0, step = 1;
};

// The product of the quantized state: the convolution's operands are the step's. In assembly the
// start is added to its sums.
struct QuantizedState {
  ConvPlan conv;
  std::optional<DspConvPlan> assembly;                  // instead of it
  std::optional<MveConvPlan> helium;                    // instead of both
  int q = 0, sums = 0, start = 0, scale = 0, zero = 0;  // operands
  int lanes = 0;                                        // entries of "factors" and of start
  int offset = 0;  // what the product adds to every byte of the state
  Argument w_scale;
  std::int64_t w_first = 0;
  int w_step = 0;
};

struct RecurrentPlan {
  RecurrentCell cell = RecurrentCell::kRnn;
  std::array<GateFunction, 3> functions;  // f, g, h
  int time = 1;
  bool backwards = false;
  bool before_reset = false;  // GRU: linear_before_reset
  bool coupled = false;       // LSTM: input_forget
  rt::GateRows rows{};
  std::int64_t x_time = 0, y_time = 0;  // elements from one step to the next
  RecurrentPart x, weights, bias, h0, c0, peephole, lengths;
  bool has_peephole = false, has_lengths = false;
  rt::FloatConvShape product{};  // of one block of weights
  std::int64_t block = 0;        // weights of a block
  FloatSteps steps = FloatSteps::kSeparate;
  DType halves = DType::kF32;  // or kF16, kBF16: what constant weights are kept as
  std::optional<QuantizedState> quantized;
  int h = -1, c = -1, gates = -1, reset = -1, valid = -1;  // operands that are scratch
  int y = -1, y_h = -1, y_c = -1;                          // operands; -1: there is none
  RecurrentPart y_part, y_h_part, y_c_part;
};

namespace recurrent_detail {

template <class S>
class Loop {
 public:
  using Index = typename S::Index;
  using Floats = typename S::template Ptr<float>;
  Loop(S& s, const RecurrentPlan& plan) : s_(s), p_(plan) {}

  void run() {
    start(p_.h0, p_.h);
    if (p_.c >= 0) start(p_.c0, p_.c);
    if (p_.has_lengths) {
      s_.call(external::SequenceMask{}, pointer_to<std::int32_t>(s_, p_.lengths.from), p_.rows.rows,
              p_.time, s_.template operand<std::uint8_t>(p_.valid));
    }
    s_.loop("t", p_.time, [&](const Index& t) { step(t); });
    if (p_.y_h >= 0) finish(p_.h, p_.y_h, p_.y_h_part);
    if (p_.y_c >= 0) finish(p_.c, p_.y_c, p_.y_c_part);
  }

 private:
  Floats scratch(int operand) { return s_.template operand<float>(operand); }
  Floats gate(int i) { return scratch(p_.gates) + Index(std::int64_t{i} * p_.rows.hidden); }
  auto input(const RecurrentPart& part) {
    return pointer_to<float>(s_, part.from) + Index(part.first);
  }
  // The position along time that comes t-th.
  Index at(const Index& t, std::int64_t step) {
    return p_.backwards ? Index((p_.time - 1) * step) + t * -step : t * step;
  }

  void start(const RecurrentPart& from, int to) {
    s_.call(external::CopyState{}, p_.rows.rows, p_.rows.hidden, input(from),
            static_cast<int>(from.row), static_cast<int>(from.step), scratch(to), p_.rows.hidden);
    if (!p_.has_lengths) return;
    s_.call(external::ClearUnused{}, pointer_to<std::int32_t>(s_, p_.lengths.from), p_.rows.rows,
            p_.rows.hidden, scratch(to));
  }

  void finish(int from, int to, const RecurrentPart& part) {
    s_.call(external::CopyState{}, p_.rows.rows, p_.rows.hidden, scratch(from), p_.rows.hidden, 1,
            scratch(to) + Index(part.first), static_cast<int>(part.row));
  }

  void step(const Index& t) {
    const auto x = input(p_.x) + at(t, p_.x_time);
    switch (p_.cell) {
      case RecurrentCell::kRnn:
        multiply(p_.h, 0, 0);
        add_gates(x, 0, 1);
        apply(0, 1, p_.functions[0]);
        return store(external::RnnState{}, t);
      case RecurrentCell::kGru:
        gru(x);
        return store(external::GruState{}, t);
      case RecurrentCell::kLstm:
        lstm(x, t);
        return store(external::LstmState{}, t);
    }
  }

  template <class X>
  void gru(const X& x) {
    multiply(p_.h, 0, 0);
    if (!p_.before_reset) multiply(p_.h, 1, 1);
    add_gates(x, 0, 2);
    apply(0, 2, p_.functions[0]);
    if (p_.before_reset) {
      s_.call(external::GruCandidate{}, p_.rows, x + Index(2 * p_.rows.hidden),
              input(p_.bias) + Index(2 * p_.rows.hidden * p_.rows.bias_step), scratch(p_.gates));
    } else {
      s_.call(external::GruReset{}, p_.rows, scratch(p_.gates), scratch(p_.h), scratch(p_.reset));
      multiply(p_.reset, 2, 2);
      add_gates(x, 2, 1);
    }
    apply(2, 1, p_.functions[1]);
  }

  template <class X>
  void lstm(const X& x, const Index& t) {
    if (p_.quantized) {
      multiply_quantized();
    } else {
      multiply(p_.h, 0, 0);
    }
    if (p_.has_peephole) {
      add_peephole(0, 0);
      add_peephole(2, 2);
      add_gates(x, 0, 1);
      add_gates(x, 2, 2);
      apply(0, 1, p_.functions[0]);
      apply(2, 1, p_.functions[0]);
    } else {
      add_gates(x, 0, 4);
      apply(0, 3, p_.functions[0]);
    }
    apply(3, 1, p_.functions[1]);
    s_.call(external::LstmCell{}, p_.rows, p_.coupled ? 1 : 0, scratch(p_.gates), valid(t),
            scratch(p_.c));
    if (p_.has_peephole) {
      add_peephole(1, 1);
      add_gates(x, 1, 1);
      apply(1, 1, p_.functions[0]);
    }
    apply(3, 1, p_.functions[2]);
  }

  // The state times block `block` of the weights, into gates from `first` on.
  void multiply(int state, int block, int first) {
    switch (p_.halves) {
      case DType::kF16:
        return multiply_by<std::uint16_t>(external::HalfProduct<rt::WidenHalf>{}, state, block,
                                          first);
      case DType::kBF16:
        return multiply_by<std::uint16_t>(external::HalfProduct<rt::WidenBfloat>{}, state, block,
                                          first);
      default:
        return multiply_by<float>(external::FloatConv<false>{}, state, block, first);
    }
  }

  template <class Weight, class Product>
  void multiply_by(const Product& product, int state, int block, int first) {
    static constexpr rt::FloatEnd kPlain{1, 1, 0, 0, 0};
    s_.call(product.with(p_.steps), p_.product, kPlain, s_.template operand<const float>(state),
            pointer_to<Weight>(s_, p_.weights.from) + Index(p_.weights.first + block * p_.block),
            s_.template constant<const float>("nothing"), gate(first));
  }

  void multiply_quantized() {
    const QuantizedState& q = *p_.quantized;
    const int n = gates_of(p_.cell) * p_.rows.hidden;
    s_.call(external::QuantizeState{}, s_.template operand<const float>(p_.h),
            p_.rows.rows * p_.rows.hidden, s_.template operand<std::uint8_t>(q.q), scratch(q.scale),
            s_.template operand<std::uint8_t>(q.zero));
    s_.call(external::FoldZeroPoint{}, s_.template operand<const std::uint8_t>(q.zero),
            rt::Stored{0, 0}, q.offset, s_.template constant<const std::int32_t>("factors"),
            s_.template operand<std::int32_t>(q.start), q.lanes);
    if (q.assembly || q.helium) {
      s_.block([&] {
        if (q.helium) return mve_conv_kernel(s_, *q.helium);
        dsp_conv_kernel(s_, *q.assembly);
      });
      s_.call(external::AddToRows{}, s_.template operand<const std::int32_t>(q.start),
              s_.template operand<std::int32_t>(q.sums), p_.rows.rows, n);
    } else {
      s_.block([&] { conv_kernel_at(s_, q.conv, conv_detail::Place<S>{}); });
    }
    s_.call(external::ScaleSums{}, s_.template operand<const std::int32_t>(q.sums), p_.rows.rows, n,
            s_.template operand<const float>(q.scale),
            pointer_to<float>(s_, q.w_scale) + Index(q.w_first), q.w_step, scratch(p_.gates));
  }

  // `count` gates from `first` on get what the input and the biases give them.
  template <class X>
  void add_gates(const X& x, int first, int count) {
    const std::int64_t elements = std::int64_t{first} * p_.rows.hidden;
    s_.call(external::AddGates{}, p_.rows, count * p_.rows.hidden, x + Index(elements),
            input(p_.bias) + Index(elements * p_.rows.bias_step), gate(first));
  }

  // Weights of peepholes belong to i, o and f, in this order.
  void add_peephole(int which, int to) {
    s_.call(external::AddPeephole{}, p_.rows,
            input(p_.peephole) + Index(std::int64_t{which} * p_.rows.hidden),
            s_.template operand<const float>(p_.c), gate(to));
  }

  auto valid(const Index& t) {
    if (!p_.has_lengths) return s_.template constant<const std::uint8_t>("valid");
    return s_.template operand<const std::uint8_t>(p_.valid) + at(t, p_.rows.rows);
  }

  template <class Function>
  void store(const Function& function, const Index& t) {
    const Floats h = scratch(p_.h);
    const Floats y = p_.y < 0 ? h : scratch(p_.y) + Index(p_.y_part.first) + at(t, p_.y_time);
    s_.call(function, p_.rows, scratch(p_.gates), valid(t), h, y);
  }

  // The function of `count` gates from `first` on, in place.
  void apply(int first, int count, const GateFunction& f) {
    const int n = count * p_.rows.hidden;
    s_.loop("row", p_.rows.rows,
            [&](const Index& row) { apply_row(gate(first) + row * p_.rows.gate_row, n, f); });
  }

  void apply_row(const Floats& x, int n, const GateFunction& f) {
    switch (f.kind) {
      case GateFunction::Kind::kRelu:
        return s_.call(external::Map<rt::Relu, float>{}, x, 1, x, n, 0.0F);
      case GateFunction::Kind::kLeakyRelu:
        return s_.call(external::Map<rt::LeakyRelu, float>{}, x, 1, x, n, f.alpha);
      case GateFunction::Kind::kSigmoid:
        return s_.call(external::Map<rt::Sigmoid, float>{}, x, 1, x, n, 0.0F);
      case GateFunction::Kind::kAffine:
        return s_.call(external::AffineRow{}, x, n, f.alpha, f.beta);
      case GateFunction::Kind::kScaledTanh:
        s_.call(external::AffineRow{}, x, n, f.beta, -0.0F);
        other(x, n, {GateFunction::Kind::kOther, Function::kTanh, 0, 0});
        return s_.call(external::AffineRow{}, x, n, f.alpha, -0.0F);
      case GateFunction::Kind::kOther:
        return other(x, n, f);
    }
  }

  void other(const Floats& x, int n, const GateFunction& f) {
    switch (f.other) {
#define ETCH_FUNCTION(id) \
  case Function::k##id:   \
    return s_.call(external::Apply<rt::id>{}, x, 1, x, n, f.alpha, f.beta);
#include "templates/kernels/rows/functions.def"
#undef ETCH_FUNCTION
    }
  }

  S& s_;
  const RecurrentPlan& p_;
};

}  // namespace recurrent_detail

template <class S>
void recurrent_kernel(S& s, const RecurrentPlan& plan) {
  recurrent_detail::Loop<S>(s, plan).run();
}

}  // namespace etch
