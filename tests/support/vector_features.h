// Which rows of docs/conformance.md a published vector belongs to.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace etch {

// "QLinearConv/strides" and so on for a model of one QLinearConv, ConvInteger or
// QLinearConvTranspose, named as tools/conformance_cases.py names its features; nothing for others.
std::vector<std::string> vector_features(const onnx::ModelProto& model);

}  // namespace etch
