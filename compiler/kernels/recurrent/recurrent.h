// The time loops of RNN, GRU and LSTM: one step for each direction
// (templates/kernels/recurrent/recurrent.h), on float products or on those of convolutions with
// constant weights.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/recurrent/recurrent.h"

namespace etch {

ETCH_PLAN_STEP(RecurrentStep, RecurrentPlan, recurrent_kernel, kDependent);

// Functions of one direction: f, and of GRU g, and of LSTM h.
constexpr int functions_of(RecurrentCell cell) {
  return cell == RecurrentCell::kRnn ? 1 : cell == RecurrentCell::kGru ? 2 : 3;
}

struct Recurrence {
  enum class Direction { kForward, kReverse, kBidirectional };
  enum class Weights { kFloat, kQuantized };  // kQuantized: LSTM only
  RecurrentCell cell = RecurrentCell::kRnn;
  Direction direction = Direction::kForward;
  Weights weights = Weights::kFloat;
  std::int64_t time = 1, batch = 1, input = 1, hidden = 1;  // all >= 1
  bool batch_first = false;   // the batch is the first axis of x, y and the states, not the second
  bool before_reset = false;  // GRU: linear_before_reset
  bool coupled = false;       // LSTM: input_forget
  float clip = 0;             // 0: none
  std::vector<GateFunction> functions;  // of the forward direction first

  std::int64_t directions() const { return direction == Direction::kBidirectional ? 2 : 1; }
  std::int64_t gate_elements() const { return gates_of(cell) * hidden; }
  bool is_backwards(std::int64_t d) const { return direction == Direction::kReverse || d == 1; }
};

// Inputs of the loop.
enum class LoopInput {
  kProducts,  // x times the weights of all gates and directions: x's shape with
              // directions * gate_elements instead of the input's elements
  kWeights,   // R as in the model: float [directions, gate_elements, hidden], 8-bit
              // [directions, hidden, gate_elements]
  kBias,      // [directions, 2 * gate_elements], may be omitted as all that follow
  kLengths,   // int32 [batch]
  kState,
  kCell,      // what they start with
  kPeephole,  // [directions, 3 * hidden]
  kScale,
  kZeroPoint  // of R: constants, [1], [directions] or [directions, gate_elements]
};

// Outputs as of LSTM: Y, Y_h, Y_c.
void add_recurrence(Lowering& lowering, const Node& node, const Recurrence& recurrence);

}  // namespace etch
