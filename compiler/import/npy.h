// Arrays in NumPy's file format (.npy), which hold what a TensorProto does. Internal to import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>

namespace etch {

// Whether the bytes begin as those of such a file do.
bool is_npy(std::string_view bytes);

// Puts type, shape and elements of an array into `proto`, whose payload decode_tensor() then
// checks. Versions 1 to 3, row-major, integers of up to 64 bits, bool and floats of 16 to 64 bits
// in little endian. Returns what is wrong with any other, empty if nothing is.
std::string read_npy(std::string_view bytes, onnx::TensorProto& proto);

}  // namespace etch
