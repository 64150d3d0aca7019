// Cases that a script recorded in two files: cases.tsv names them, cases.bin holds their bytes.
//
//   cases.tsv  lines "name, number of inputs, source, deviation", separated by tabs; # begins a
//              comment; "2:3" instead of a number: two inputs and three outputs
//   cases.bin  for each line in order: the model (ONNX ModelProto), its inputs and its outputs, one
//              unless said (TensorProto), each after its size as a little-endian uint32
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/cases.h"

namespace etch {

struct RecordedCase {
  Case model;
  std::vector<Tensor> outputs;
  std::string source;     // "itself": the model ran; "equivalent": only one that means the same
  std::string deviation;  // what the recorded runtime does instead; empty: nothing
};

// Fails the test when the files are damaged.
std::vector<RecordedCase> read_recorded_cases(const std::filesystem::path& folder);

// What differs from a recorded result, floats by more than 1e-5 of the largest value (of 1, if it
// is smaller): ONNX Runtime adds in another order. Empty: nothing.
std::string difference_from_recorded(const Tensor& got, const Tensor& recorded);

}  // namespace etch
