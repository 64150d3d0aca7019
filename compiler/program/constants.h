// Constants in the form that kernels read them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/tensor.h"
#include "compiler/program/step.h"

namespace etch {

// Weights of one dot4: four per lane, each in [-128, 127], or [-255, 255] for kS16EvenOdd.
using LaneWeights = std::vector<std::array<int, 4>>;

// Appends one packed vector of weights (IsaTraits::weight_bytes() bytes) for load_w4.
void append_weights(std::vector<std::byte>& out, const IsaTraits& isa, const LaneWeights& lanes);
// The same for load_byte_w4 of kS16EvenOdd.
void append_byte_weights(std::vector<std::byte>& out, const LaneWeights& lanes);
// The same for load_moved_w4.
void append_moved_weights(std::vector<std::byte>& out, const IsaTraits& isa,
                          const LaneWeights& lanes);

ConstantArray int32_array(std::string suffix, const std::vector<std::int32_t>& values,
                          std::string comment);
ConstantArray float_array(std::string suffix, const std::vector<float>& values,
                          std::string comment);
ConstantArray byte_array(std::string suffix, std::vector<std::byte> bytes, std::string comment);
// The elements of a tensor for kernels that move them as bytes. Where the target may have either
// byte order, elements of several bytes are integers of that size; else all are bytes.
ConstantArray raw_array(std::string suffix, const Tensor& tensor, const IsaTraits& isa,
                        std::string comment);

}  // namespace etch
