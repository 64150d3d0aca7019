// Size (ai.onnx, since 1): the number of elements of the input as an int64 scalar, which is known
// when compiling.
#pragma once
