// Building of time loops; see recurrent.h.
#include "compiler/kernels/recurrent/recurrent.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/dsp/describe.h"
#include "compiler/kernels/conv/dsp/pack.h"
#include "compiler/kernels/conv/dsp/plan.h"
#include "compiler/kernels/conv/dsp/serves.h"
#include "compiler/kernels/conv/helium/conv.h"
#include "compiler/kernels/conv/helium/describe.h"
#include "compiler/kernels/conv/helium/pack.h"
#include "compiler/kernels/conv/helium/plan.h"
#include "compiler/kernels/conv/operands.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/portable/conv.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/products/float_products.h"
#include "compiler/kernels/products/floats/pack.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/halves.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(RecurrentStep);

namespace {

constexpr int number_of(LoopInput input) { return static_cast<int>(input); }

std::int32_t narrow(std::int64_t n) { return static_cast<std::int32_t>(n); }

// How many blocks the weights of one direction are packed in: a block is what is multiplied at
// once.
int blocks_of(const Recurrence& r) {
  return r.cell == RecurrentCell::kGru && !r.before_reset ? 3 : 1;
}

rt::PackShape pack_shape(const Recurrence& r, std::int64_t directions, const IsaTraits& isa) {
  const std::int64_t columns = r.gate_elements() / blocks_of(r);
  rt::PackShape shape = {narrow(directions * blocks_of(r)),
                         1,
                         narrow(r.hidden),
                         narrow(columns),
                         rt::kPanel,
                         columns * r.hidden,
                         0,
                         1,
                         r.hidden};
  narrow_panels(shape, true, isa);  // always packed
  return shape;
}

// One row of the batch after the other: [batch, hidden] by [hidden, columns].
rt::FloatConvShape product_shape(const Recurrence& r, const IsaTraits& isa) {
  rt::FloatConvShape shape{};
  for (rt::ConvAxis& axis : shape.axis) axis = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  shape.batch = shape.group = 1;
  shape.along = 2;
  shape.in = narrow(r.hidden);
  shape.out = narrow(r.gate_elements() / blocks_of(r));
  shape.x_channel = shape.y_channel = 1;
  shape.axis[2].in = shape.axis[2].out = narrow(r.batch);
  shape.axis[2].x_step = r.hidden;
  shape.axis[2].y_step = r.gate_elements();
  const rt::PackShape weights = pack_shape(r, 1, isa);
  if (weights.panel != rt::kPanel) shape.panel = weights.panel;
  return shape;
}

// Part `d` of a tensor whose first axis counts directions.
Tensor of_direction(const Tensor& tensor, std::int64_t d) {
  const std::int64_t n = tensor.size() / tensor.shape()[0];
  Tensor out(tensor.dtype(), {n});
  const auto first = static_cast<std::size_t>(d) * out.bytes().size();
  std::memcpy(out.mutable_bytes().data(), tensor.bytes().data() + first, out.bytes().size());
  return out;
}

View scratch_rows(Lowering& lowering, DType type, std::int64_t rows, std::int64_t columns) {
  View view = lowering.scratch(type, rows * columns);
  view.shape = {rows, columns};
  lay_out(view, row_major(2));
  return view;
}

// Builds the step of one direction.
class Builder {
 public:
  Builder(Lowering& lowering, const Node& node, const Recurrence& r, std::int64_t d)
      : lowering_(lowering),
        node_(node),
        r_(r),
        d_(d),
        step_(std::make_unique<RecurrentStep>()),
        plan_(step_->plan),
        arguments_(lowering, node, *step_) {}

  // `packed`: the weights, where they are packed at run time.
  void build(const View* packed, const std::vector<View>& outputs) {
    describe();
    set_sizes();
    add_inputs(packed);
    add_scratch();
    if (r_.weights == Recurrence::Weights::kQuantized && !add_quantized()) return;
    add_outputs(outputs);
    arguments_.add(std::move(step_));
  }

 private:
  void describe() {
    static constexpr const char* kNames[] = {"RNN", "GRU", "LSTM"};
    step_->kind = "recurrent";
    step_->summary = cat(kNames[static_cast<int>(r_.cell)], " of ", r_.hidden, " elements, ",
                         counted(r_.time, "step"), plan_.backwards ? " from the end" : "");
    step_->macs = r_.time * r_.batch * r_.gate_elements() * r_.hidden;
    if (r_.weights == Recurrence::Weights::kQuantized) return;
    step_->float_macs = step_->macs;
    plan_.steps = lowering_.float_steps();
    step_->facts.emplace_back(
        cat("sums in order of the state's elements, ", how_rounded(plan_.steps)));
  }

  void set_sizes() {
    plan_.cell = r_.cell;
    const int functions = functions_of(r_.cell);
    std::copy_n(r_.functions.begin() + d_ * functions, functions, plan_.functions.begin());
    plan_.time = narrow(r_.time);
    plan_.backwards = r_.is_backwards(d_);
    plan_.before_reset = r_.before_reset;
    plan_.coupled = r_.coupled;
    plan_.product = product_shape(r_, lowering_.isa());
    plan_.block = r_.gate_elements() / blocks_of(r_) * r_.hidden;
    const std::int64_t columns = r_.directions() * r_.gate_elements();
    plan_.rows = {
        narrow(r_.batch), narrow(r_.hidden), columns, r_.gate_elements(), r_.hidden, 0, 1, 0,
        r_.clip};
    plan_.x_time = r_.batch_first ? columns : r_.batch * columns;
    if (r_.batch_first) plan_.rows.x_row = r_.time * columns;
    plan_.x.first = d_ * r_.gate_elements();
  }

  bool has(LoopInput input) const {
    const auto at = static_cast<std::size_t>(number_of(input));
    return at < node_.inputs.size() && node_.inputs[at] != kNoValue;
  }

  // An input whose first axis counts directions, or a single 0.
  RecurrentPart part(LoopInput input, const char* name) {
    RecurrentPart out;
    const int i = number_of(input);
    if (has(input) && lowering_.is_constant(node_, i)) {
      out.from =
          arguments_.data(of_direction(lowering_.constant(node_, i), d_), name, "as in the model")
              .argument;
      return out;
    }
    out.from = arguments_.parameter(i, name, DType::kF32).argument;
    out.first = has(input) ? out.from.elements / r_.directions() * d_ : 0;
    out.step = has(input) ? 1 : 0;
    return out;
  }

  // An initial state: [directions, batch, hidden] or [batch, directions, hidden], or zeros.
  RecurrentPart state(LoopInput input, const char* name) {
    RecurrentPart out;
    out.from = arguments_.parameter(number_of(input), name, DType::kF32).argument;
    out.step = has(input) ? 1 : 0;
    if (has(input)) set_state_steps(out);
    return out;
  }
  void set_state_steps(RecurrentPart& part) const {
    part.first = d_ * r_.hidden * (r_.batch_first ? 1 : r_.batch);
    part.row = r_.hidden * (r_.batch_first ? r_.directions() : 1);
  }

  // Constant ones, as 16 bits where these hold them and are widened by instructions.
  void add_weights() {
    const Tensor own = of_direction(lowering_.constant(node_, number_of(LoopInput::kWeights)), d_);
    Tensor panels = in_panels(own, pack_shape(r_, 1, lowering_.isa()));
    std::string comment = "panels of columns, see etch_float_products.h";
    const auto half = kept_as_halves(panels);
    const bool for_size = lowering_.isa().objective == Objective::kSize;
    if (half && (for_size || widens_by_instructions(lowering_.isa(), *half))) {
      panels = as_halves(panels, *half);
      plan_.halves = *half;
      comment = cat(name_of(*half), " in ", comment);
    }
    plan_.weights.from = arguments_.data(panels, "weights", comment).argument;
  }

  void add_inputs(const View* packed) {
    plan_.x.from = arguments_.parameter(number_of(LoopInput::kProducts), "x").argument;
    if (packed != nullptr) {
      plan_.weights.from = arguments_.memory(*packed, "weights").argument;
      plan_.weights.first = d_ * r_.gate_elements() * r_.hidden;
    } else if (r_.weights == Recurrence::Weights::kFloat) {
      add_weights();
    }
    plan_.bias = part(LoopInput::kBias, "bias");
    plan_.rows.bias_step = plan_.bias.step;
    plan_.rows.bias_next = has(LoopInput::kBias) ? r_.gate_elements() : 0;
    plan_.h0 = state(LoopInput::kState, "h0");
    if (r_.cell == RecurrentCell::kLstm) plan_.c0 = state(LoopInput::kCell, "c0");
    plan_.has_peephole = has(LoopInput::kPeephole);
    if (plan_.has_peephole) plan_.peephole = part(LoopInput::kPeephole, "peephole");
    plan_.has_lengths = has(LoopInput::kLengths);
    if (plan_.has_lengths) {
      plan_.lengths.from = arguments_.parameter(number_of(LoopInput::kLengths), "lengths").argument;
      plan_.rows.valid_step = 1;
    } else {
      arguments_.data(Tensor::of<std::uint8_t>({1}, {1}), "valid", "every step is one");
    }
    if (r_.weights == Recurrence::Weights::kFloat)
      arguments_.data(Tensor::of<float>({1}, {-0.0F}), "nothing", "-0, which changes no sum");
  }

  void add_scratch() {
    const std::int64_t state = r_.batch * r_.hidden;
    const auto floats = [&](const char* name, std::int64_t n) {
      return arguments_.scratch(name, lowering_.scratch(DType::kF32, n));
    };
    plan_.gates = floats("gates", r_.batch * r_.gate_elements());
    plan_.h = floats("h", state);
    if (r_.cell == RecurrentCell::kLstm) plan_.c = floats("c", state);
    if (r_.cell == RecurrentCell::kGru && !r_.before_reset) plan_.reset = floats("reset", state);
    if (plan_.has_lengths)
      plan_.valid = arguments_.scratch("valid", lowering_.scratch(DType::kU8, r_.time * r_.batch));
  }

  // Scales of R have one entry, one per direction, or one per direction and column.
  std::vector<float> scales() const {
    const Tensor& scale = lowering_.constant(node_, number_of(LoopInput::kScale));
    const Tensor own = of_direction(scale, scale.size() == 1 ? 0 : d_);
    const auto values = own.as<float>();
    return {values.begin(), values.end()};
  }
  std::vector<int> zero_points() const {
    if (!has(LoopInput::kZeroPoint)) return {0};
    const Tensor& zero = lowering_.constant(node_, number_of(LoopInput::kZeroPoint));
    const std::vector<std::int64_t> values =
        of_direction(zero, zero.size() == 1 ? 0 : d_).integers();
    return {values.begin(), values.end()};
  }

  ConvProblem problem_of(const View& q, const View& sums) const {
    ConvProblem problem = matrix_problem(q, sums, r_.batch, r_.hidden, r_.gate_elements());
    const std::vector<std::int64_t> weights =
        of_direction(lowering_.constant(node_, number_of(LoopInput::kWeights)), d_).integers();
    const std::vector<int> zero = zero_points();
    for (std::int64_t n = 0; n < r_.gate_elements(); ++n) {
      for (std::int64_t k = 0; k < r_.hidden; ++k) {
        const auto at = static_cast<std::size_t>(k * r_.gate_elements() + n);
        problem.weights.push_back(static_cast<int>(weights[at]) -
                                  zero[static_cast<std::size_t>(n) % zero.size()]);
      }
    }
    // With a zero point of 1 the biases are -sum(w): the factors of the real one.
    problem.x_zero_point = 1;
    problem.zero_point_at_run_time = true;
    problem.in_a_loop = true;
    problem.bias.assign(static_cast<std::size_t>(r_.gate_elements()), 0);
    return problem;
  }

  // The product of the quantized state; false where it has been refused.
  bool add_quantized() {
    QuantizedState& out = plan_.quantized.emplace();
    const View q = scratch_rows(lowering_, DType::kU8, r_.batch, r_.hidden);
    const View sums = scratch_rows(lowering_, DType::kS32, r_.batch, r_.gate_elements());
    const ConvProblem problem = problem_of(q, sums);
    add_scales(out);
    if (add_in_assembly(problem, out)) {
      add_operands(q, sums, out);
      return true;
    }
    MadeConv made = make_conv_step(problem, lowering_.isa(), lowering_.tuning());
    if (!made.refusal.empty()) {
      lowering_.unsupported(node_, std::move(made.refusal));
      return false;
    }
    take_constants(*made.step, out);
    add_operands(q, sums, out);
    out.offset = -moved_by(made.step->plan, lowering_.isa());
    out.conv = std::move(made.step->plan);
    out.conv.operands.x = out.q;
    out.conv.operands.start = out.start;
    out.conv.operands.y = out.sums;
    return true;
  }

  // By functions in assembly for Cortex-M, whose sums are those of a zero point of 0. False where
  // they do not serve.
  bool add_in_assembly(const ConvProblem& problem, QuantizedState& out) {
    ConvProblem plain = problem;
    plain.x_zero_point = 0;
    plain.zero_point_at_run_time = false;
    if (mve_conv_serves(plain, lowering_.isa())) return add_for_helium(problem, plain, out);
    if (!dsp_conv_serves(plain, lowering_.isa())) return false;
    PlannedDspConv planned = plan_dsp_conv(plain, lowering_.isa());
    PackedDspConv packed = pack_dsp_conv(plain, lowering_.isa(), planned);
    add_factors(problem, out);
    for (ConstantArray& constant : packed.constants)
      step_->constants.push_back(std::move(constant));
    step_->assembly = std::move(planned.assembly);
    step_->schedule = describe_dsp_conv(plain, planned).schedule;
    out.assembly = std::move(planned.plan);
    out.assembly->stream_words = packed.stream_words;
    return true;
  }

  bool add_for_helium(const ConvProblem& problem, const ConvProblem& plain, QuantizedState& out) {
    std::optional<PlannedMveConv> planned = plan_mve_conv(plain, lowering_.isa());
    if (!planned) return false;
    add_factors(problem, out);
    step_->constants.push_back(int32_array("stream", pack_mve_conv(plain, *planned),
                                           "per block of channels: packed weights, biases"));
    step_->assembly = std::move(planned->assembly);
    step_->schedule = describe_mve_conv(plain, planned->plan).schedule;
    out.helium = std::move(planned->plan);
    return true;
  }

  // What the zero point is multiplied by.
  void add_factors(const ConvProblem& problem, QuantizedState& out) {
    std::vector<std::int32_t> factors;
    for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m)
      factors.push_back(folded_bias(problem, m, all_taps(problem)));
    step_->constants.push_back(int32_array("factors", factors, "-sum(w)"));
    out.lanes = narrow(problem.geometry.out_channels);
  }

  void add_operands(const View& q, const View& sums, QuantizedState& out) {
    const auto aligned = [&](const char* name, const View& view) {
      lowering_.align(view, 4);
      return arguments_.scratch(name, view);
    };
    out.q = aligned("q", q);
    out.sums = aligned("sums", sums);
    out.start = arguments_.scratch("start", lowering_.scratch(DType::kS32, out.lanes));
    out.scale = arguments_.scratch("scale", lowering_.scratch(DType::kF32, 1));
    out.zero = arguments_.scratch("zero_point", lowering_.scratch(DType::kU8, 1));
    if (out.helium) {
      out.helium->x = out.q;
      out.helium->y = out.sums;
    }
    if (!out.assembly) return;
    DspConvPlan& plan = *out.assembly;
    ETCH_CHECK(!plan.copies && !plan.finishes && !plan.add);
    plan.x = out.q;
    plan.y = out.sums;
    if (plan.gathered < 0) return;
    plan.gathered =
        aligned("gathered", lowering_.scratch(DType::kS32, 2 * plan.tile.pixels * plan.groups()));
  }

  void add_scales(QuantizedState& out) {
    const std::vector<float> scale = scales();
    out.w_scale = arguments_
                      .data(Tensor::of<float>({narrow(std::ssize(scale))}, scale), "w_scale",
                            "as in the model")
                      .argument;
    out.w_step = scale.size() == 1 ? 0 : 1;
  }

  void take_constants(ConvStep& made, QuantizedState& out) {
    for (ConstantArray& constant : made.constants) {
      if (constant.suffix == "bias") {
        constant.suffix = "factors";
        constant.comment = "-sum(w), in lane order";
        out.lanes = narrow(std::ssize(constant.bytes)) / 4;
      }
      step_->constants.push_back(std::move(constant));
    }
    step_->schedule = made.schedule;
    prove_products(lowering_.isa(), *step_);
  }

  void add_outputs(const std::vector<View>& outputs) {
    const std::int64_t row = r_.hidden * (r_.batch_first ? r_.directions() * r_.time : 1);
    int* const operands[] = {&plan_.y, &plan_.y_h, &plan_.y_c};
    static constexpr const char* kNames[] = {"y", "y_h", "y_c"};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].buffer >= 0) *operands[i] = arguments_.output(kNames[i], outputs[i]);
    }
    if (plan_.y >= 0) {
      plan_.rows.y_row = row;
      plan_.y_time = r_.directions() * r_.hidden * (r_.batch_first ? 1 : r_.batch);
      plan_.y_part.first = d_ * r_.hidden * (r_.batch_first ? 1 : r_.batch);
    }
    set_state_steps(plan_.y_h_part);
    set_state_steps(plan_.y_c_part);
  }

  Lowering& lowering_;
  const Node& node_;
  const Recurrence& r_;
  std::int64_t d_;
  std::unique_ptr<RecurrentStep> step_;
  RecurrentPlan& plan_;
  StepArguments arguments_;
};

}  // namespace

void add_recurrence(Lowering& lowering, const Node& node, const Recurrence& r) {
  std::vector<View> outputs;
  for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
    const ValueId id = node.outputs[static_cast<std::size_t>(i)];
    if (id == kNoValue) {
      outputs.emplace_back();
      continue;
    }
    const int rank = static_cast<int>(lowering.value(id).shape->size());
    outputs.push_back(lowering.new_dense_output(node, i, row_major(rank)));
  }
  View packed;
  const bool packs = r.weights == Recurrence::Weights::kFloat &&
                     !lowering.is_constant(node, number_of(LoopInput::kWeights));
  if (packs) {
    packed = pack_at_run_time(lowering, node, number_of(LoopInput::kWeights),
                              pack_shape(r, r.directions(), lowering.isa()));
  }
  for (std::int64_t d = 0; d < r.directions(); ++d)
    Builder(lowering, node, r, d).build(packs ? &packed : nullptr, outputs);
}

}  // namespace etch
