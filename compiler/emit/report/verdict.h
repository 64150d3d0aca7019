// What a reader of the report wants to know first, in sentences: how much of the work is in
// integers, where floats are, what needs the most memory and, if measured, the most time.
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/report/report.h"

namespace etch {

// Plain sentences without a full stop, the most important first; texts of the model in them are
// printable. Nothing of a network without steps.
std::vector<std::string> verdict(const ReportData& data);

}  // namespace etch
