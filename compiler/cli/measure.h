// What `etch bench` and `etch tune` have in common: inputs to run on, and the times that the
// program of harness.h prints.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/emit/report.h"
#include "compiler/ir/tensor.h"
#include "compiler/steps/step.h"

namespace etch::cli {

// By the name of the step, and "network".
using Times = std::map<std::string, MeasuredTime>;

// What harness.h prints: "NAME MEDIAN MINIMUM" per line.
Times parse_times(const std::string& text);

// The first data set beside the model if it fits, otherwise made-up values: time does not depend
// on them.
std::vector<Tensor> sample_for(const std::string& model, const Program& program);

}  // namespace etch::cli
