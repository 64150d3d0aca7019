// Resolves RNN, GRU, LSTM and DynamicQuantizeLSTM; see op.h.
#include "compiler/ops/recurrent/op.h"

#include <cmath>
#include <optional>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"
#include "compiler/ops/quantization.h"

namespace etch {

namespace {

using Direction = Recurrence::Direction;
using Weights = Recurrence::Weights;

RecurrentCell cell_of(const std::string& op_type) {
  if (op_type == "RNN") return RecurrentCell::kRnn;
  return op_type == "GRU" ? RecurrentCell::kGru : RecurrentCell::kLstm;
}

void resolve_direction(ResolveContext& context, Recurrence& r) {
  const std::string name = context.string_attr("direction", "forward");
  if (name == "reverse") {
    r.direction = Direction::kReverse;
  } else if (name == "bidirectional") {
    r.direction = Direction::kBidirectional;
  } else if (name != "forward") {
    context.attr_error(
        "direction", cat("must be forward, reverse or bidirectional, got '", printable(name), "'"));
  }
}

void resolve_flags(ResolveContext& context, Recurrence& r) {
  const std::int64_t layout =
      context.opset() < 14 && r.weights == Weights::kFloat ? 0 : context.int_attr("layout", 0);
  if (layout != 0 && layout != 1) context.attr_error("layout", cat("must be 0 or 1, got ", layout));
  r.batch_first = layout == 1;
  if (r.cell == RecurrentCell::kGru)
    r.before_reset = context.int_attr("linear_before_reset", 0) != 0;
  if (r.cell == RecurrentCell::kLstm) r.coupled = context.int_attr("input_forget", 0) != 0;
  if (!context.has_attr("clip")) return;
  const float clip = context.float_attr("clip", 1.0F);
  if (!(clip > 0)) context.attr_error("clip", cat("must be > 0, got ", decimal(clip)));
  r.clip = std::isinf(clip) ? 0 : clip;
}

// Reports unless input i, if there is one, has this type and shape.
void check_input(ResolveContext& context, int i, const char* role, DType type, const Shape& shape) {
  if (!context.has_input(i) || !check_dtype(context, i, role, {type})) return;
  if (context.shape(i) == shape) return;
  context.input_error(DiagKind::kShape, i, role,
                      cat("must be ", to_string(shape), ", got ", to_string(context.shape(i))));
}

// Takes the sizes from X and R; false if they cannot be.
bool resolve_sizes(ResolveContext& context, Recurrence& r) {
  const Shape& x = context.shape(0);
  const Shape& state = context.shape(2);
  if (x.size() != 3 || element_count(x) == 0) {
    context.input_error(DiagKind::kShape, 0, "X",
                        cat("must have 3 dimensions, none of them 0, got ", to_string(x)));
    return false;
  }
  r.time = x[r.batch_first ? 1 : 0];
  r.batch = x[r.batch_first ? 0 : 1];
  r.input = x[2];
  r.hidden = state.size() == 3 ? state[r.weights == Weights::kFloat ? 2 : 1] : 0;
  if (r.hidden == 0) {
    context.input_error(DiagKind::kShape, 2, "R",
                        cat("must have 3 dimensions, none of them 0, got ", to_string(state)));
    return false;
  }
  const std::int64_t given = context.int_attr("hidden_size", r.hidden);
  if (given == r.hidden) return true;
  context.attr_error("hidden_size", cat("must be ", r.hidden, " as R has it, got ", given));
  return false;
}

void check_weights(ResolveContext& context, const Recurrence& r) {
  const std::int64_t d = r.directions(), gates = r.gate_elements();
  if (r.weights == Weights::kFloat) {
    check_input(context, 1, "W", DType::kF32, {d, gates, r.input});
    check_input(context, 2, "R", DType::kF32, {d, gates, r.hidden});
    return;
  }
  check_input(context, 1, "W", context.dtype(1), {d, r.input, gates});
  check_input(context, 2, "R", context.dtype(2), {d, r.hidden, gates});
  const std::vector<Shape> shapes{{1}, {d}, {d, gates}};
  resolve_quantization(context, {"W", 8, 9}, context.dtype(1), shapes);
  resolve_quantization(context, {"R", 10, 11}, context.dtype(2), shapes);
  static constexpr const char* kRoles[] = {"W_scale", "W_zero_point", "R_scale", "R_zero_point"};
  const auto needs_constant = [&](int i, const char* role) {
    if (!context.has_input(i) || context.constant(i) != nullptr) return;
    context.needs_constant(i, role);
  };
  needs_constant(2, "R");
  for (int i = 8; i < 12; ++i) needs_constant(i, kRoles[i - 8]);
}

void check_states(ResolveContext& context, const Recurrence& r) {
  const std::int64_t d = r.directions();
  const Shape state = r.batch_first ? Shape{r.batch, d, r.hidden} : Shape{d, r.batch, r.hidden};
  check_input(context, 3, "B", DType::kF32, {d, 2 * r.gate_elements()});
  check_input(context, 4, "sequence_lens", DType::kS32, {r.batch});
  check_input(context, 5, "initial_h", DType::kF32, state);
  if (r.cell != RecurrentCell::kLstm) return;
  check_input(context, 6, "initial_c", DType::kF32, state);
  check_input(context, 7, "P", DType::kF32, {d, 3 * r.hidden});
}

bool check_types(ResolveContext& context, const Recurrence& r) {
  const bool quantized = r.weights == Weights::kQuantized;
  bool good = check_dtype(context, 0, "X", {DType::kF32});
  static constexpr const char* kRoles[] = {"X", "W", "R"};
  for (int i = 1; i < 3; ++i) {
    if (!context.has_input(i)) {
      context.error(DiagKind::kGraph, cat("input ", i, " (", kRoles[i], ") is missing"));
      good = false;
    } else if (quantized) {
      good = check_dtype(context, i, kRoles[i], {DType::kU8, DType::kS8}) && good;
    } else {
      good = check_dtype(context, i, kRoles[i], {DType::kF32}) && good;
    }
  }
  return good;
}

bool check_arity(ResolveContext& context, const Recurrence& r) {
  const bool lstm = r.cell == RecurrentCell::kLstm;
  const int inputs = r.weights == Weights::kQuantized ? 12 : lstm ? 8 : 6;
  const int outputs = lstm ? 3 : 2;
  const auto given = static_cast<int>(context.node().outputs.size());
  if (context.input_count() > inputs)
    context.error(DiagKind::kGraph,
                  cat("has ", context.input_count(), " inputs, at most ", inputs, " are defined"));
  if (given > outputs)
    context.error(DiagKind::kGraph,
                  cat("has ", given, " outputs, at most ", outputs, " are defined"));
  return !context.failed();
}

void resolve_recurrent(ResolveContext& context) {
  Recurrence r;
  r.cell = cell_of(context.node().op_type);
  const bool quantized = context.node().op_type == "DynamicQuantizeLSTM";
  r.weights = quantized ? Weights::kQuantized : Weights::kFloat;
  if (!check_arity(context, r) || !check_types(context, r)) return;
  resolve_direction(context, r);
  resolve_flags(context, r);
  const bool good = resolve_activations(context, r);
  if (!resolve_sizes(context, r) || !good) return;
  check_weights(context, r);
  check_states(context, r);
  if (context.failed()) return;
  const std::int64_t d = r.directions();
  const Shape state = r.batch_first ? Shape{r.batch, d, r.hidden} : Shape{d, r.batch, r.hidden};
  context.set_output(
      0, DType::kF32,
      r.batch_first ? Shape{r.batch, r.time, d, r.hidden} : Shape{r.time, d, r.batch, r.hidden});
  context.set_output(1, DType::kF32, state);
  if (r.cell == RecurrentCell::kLstm) context.set_output(2, DType::kF32, state);
  context.set_params(RecurrentParams{std::move(r)});
}

constexpr OpName kRecurrentNames[] = {{kOnnx, "RNN", 7},
                                      {kOnnx, "GRU", 7},
                                      {kOnnx, "LSTM", 7},
                                      {kMicrosoft, "DynamicQuantizeLSTM", 1}};
}  // namespace

extern const OpDef kOp_recurrent = {
    .folder = "recurrent",
    .names = kRecurrentNames,
    .arity = {.min_inputs = 3, .max_inputs = 12, .min_outputs = 0, .max_outputs = 3},
    .resolve = resolve_recurrent,
    .reference = reference_recurrent};

}  // namespace etch
