// A constant that is added to the float result of a product before it is quantized becomes the
// product's bias, so that one operator makes the 8-bit result:
//
//   QGemm -> Add of a constant per column -> (Relu) -> QuantizeLinear
//
// as tf2onnx writes the dense layers of TensorFlow Lite. Float steps of both forms differ, so this
// is done only where a bias and a scale are found for every column with which the results are the
// same for all sums that the weights allow: both forms are monotone, so it is enough to compare
// them where the result changes.
//
// Requires and keeps a resolved graph, but leaves dead nodes.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void fuse_biases(Graph& graph);

}  // namespace etch
