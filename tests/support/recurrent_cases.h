// Cases of recurrent layers: RNN, GRU, LSTM and DynamicQuantizeLSTM.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// Every cell in every direction, with any mix of biases, lengths, states, peepholes, activations,
// layouts and outputs; weights constant or not. Lengths also leave [0, time].
std::vector<Case> recurrent_layers(int count);
// DynamicQuantizeLSTM of batches and hidden sizes that fill tiles, which may move the state.
std::vector<Case> quantized_recurrent_layers();

}  // namespace etch
