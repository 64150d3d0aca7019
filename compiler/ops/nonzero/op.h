// NonZero (ai.onnx, since 9): the positions of the elements that are not 0, as an int64 tensor
// [rank, count] in row-major order. How many there are decides the shape, so the input must be
// constant here; the output is one then. passes/counted_rows serves those of run time.
#pragma once
