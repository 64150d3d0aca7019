// Convolutions and products of 16-bit activations and 8-bit weights (runtime/etch_words.h).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/lower/lowering.h"

namespace etch {

// Where the weights have input channel c of its group at a position of the kernel, for output
// channel m.
std::int64_t weight_index(const ConvGeometry& g, std::int64_t m, std::int64_t c, std::int64_t tap);

// What belongs to a node with the inputs of QLinearConv: x in memory, weights (input 3) and bias
// (input 8) constant. Per output channel a factor high * 2^31 + low, a shift and what the bias has
// beyond the integers, see scaled_word().
struct WordConv {
  ConvGeometry geometry;
  bool product = false;  // x and y have any shape whose last axis are the channels
  int x_zero = 0, y_zero = 0, low = 0, high = 0;
  std::int64_t part = 0;  // channels of each part of a sum, even; 0: all are one part
  std::function<int(std::int64_t m)> w_zero;
  std::vector<std::int32_t> high_parts, low_parts, shifts, rests;
};
void add_word_conv(Lowering& lowering, const Node& node, const WordConv& conv);

}  // namespace etch
