// NonMaxSuppression (ai.onnx, since 10): the boxes that no better box overlaps too much, as rows of
// [batch, class, box]. How many rows there are follows from the values of `boxes` and `scores`, so
// that neither the output nor anything after it has a shape that is known when compiling. It is
// always refused, with the names of the tensors at which to cut the network: what comes before runs
// on integers, what comes after is a few lines in the product.
#pragma once
