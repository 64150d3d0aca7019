// What the commands that measure have in common: inputs to run on, the times that the program of
// harness.h prints, and sizes of what was built.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/emit/report/report.h"
#include "compiler/host/network.h"
#include "compiler/host/object_size.h"
#include "compiler/ir/tensor.h"
#include "compiler/program/step.h"

namespace etch::cli {

// By the name of the step, and "network".
using Times = std::map<std::string, MeasuredTime>;

// What harness.h prints: "NAME MEDIAN MINIMUM" per line.
Times parse_times(const std::string& text);

// The first data set beside the model if it fits, otherwise made-up values: time does not depend
// on them.
std::vector<Tensor> sample_for(const std::string& model, const Program& program);

// A stand-in where there is no test data, the same for the same seed: any bytes for 8 bits, values
// in [0, 1) for float32, otherwise zeros.
Tensor made_up(const Port& port, std::uint32_t seed);

// Sizes of the objects that a user's program would have, too.
struct ObjectSizes {
  std::vector<ObjectSize> all;
  std::vector<ObjectSize> measured;  // of the variant whose steps are measured; mostly all
};

ObjectSizes object_sizes(const Network& network);
std::int64_t code_bytes_of(const std::vector<ObjectSize>& objects);
std::int64_t code_bytes_of(const Step& step, const std::vector<ObjectSize>& objects);

}  // namespace etch::cli
