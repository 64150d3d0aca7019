// Range (ai.onnx, since 11): start, start + delta, ... up to, not including, limit, from three
// constant scalars of one type (float32, int32, int64). The output is a constant:
// max(ceil((limit - start) / delta), 0) elements, start + i * delta.
#pragma once
