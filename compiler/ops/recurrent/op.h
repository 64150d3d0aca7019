// Recurrent layers: RNN, GRU, LSTM (ai.onnx, since 7) on float32, and DynamicQuantizeLSTM
// (com.microsoft, since 1) with 8-bit weights.
//   X [time, batch, input], or with layout 1 [batch, time, input]
//   W [directions, gates * hidden, input], R [directions, gates * hidden, hidden]
//   B [directions, 2 * gates * hidden]: those of W, then those of R; default 0
//   sequence_lens int32 [batch]; initial_h, initial_c [directions, batch, hidden], with layout 1
//   [batch, directions, hidden], default 0; P [directions, 3 * hidden] of i, o, f (LSTM)
//   Y [time, directions, batch, hidden] or [batch, time, directions, hidden]; Y_h, Y_c as initial_h
// DynamicQuantizeLSTM has W [directions, input, 4 * hidden], R [directions, hidden, 4 * hidden] of
// int8 or uint8, and as inputs 8 to 11 W_scale, W_zero_point, R_scale, R_zero_point: [directions]
// or [directions, 4 * hidden], constants as R is.
//
// In every step, with the products xW and hR (k ascending, from 0) and b = fl(Wb + Rb):
//   RNN   h = f((xW + hR) + b)
//   GRU   z, r = f((xW + hR) + b); h' = g((xW + (r * h)R) + b), or with linear_before_reset
//         g((xW + r * (hR + Rb)) + Wb); h = (1 - z) * h' + z * h
//   LSTM  i, f = f((xW + (hR + P * c)) + b); c' = g((xW + hR) + b); c = f * c + i * c', with 1 - i
//         for f if input_forget; o = f((xW + (hR + P * c)) + b) of the new c; h = o * h(c)
// What f, g, h get is limited to [-clip, clip]. DynamicQuantizeLSTM: xW and hR are
// DynamicQuantizeMatMul's (docs/spec/products.md), X quantized as a whole, h of all the batch anew
// in every step. Beyond the length of a sequence, which is limited to [0, time], its Y is 0 and
// its state stays; backwards the end of a sequence comes first. docs/spec/recurrent.md has it all.
//
// There is no lowering: passes/expand_recurrent.h writes these as a product for all steps and a
// RecurrentLoop (compiler/ops/recurrent_loop).
#pragma once

#include <span>
#include <vector>

#include "compiler/ir/tensor.h"
#include "compiler/kernels/recurrent/recurrent.h"
#include "compiler/ops/op.h"

namespace etch {

struct RecurrentParams {
  Recurrence recurrence;
};

// The value of an activation at x.
float gate_function(const GateFunction& function, float x);

// What the loop computes from `inputs` (LoopInput, null where omitted): Y, Y_h and, of LSTM, Y_c.
std::vector<Tensor> recurrent_loop(const Recurrence& r, FloatSteps steps,
                                   std::span<const Tensor* const> inputs);

std::vector<Tensor> reference_recurrent(const Node& node, std::span<const Tensor* const> inputs);

// The activations of `r`, from the attributes; false where they have been refused.
bool resolve_activations(ResolveContext& context, Recurrence& r);

}  // namespace etch
