// What a reader of the report wants to know first, in sentences: how much of the work is in
// integers, where floats are, what needs the most memory and, if measured, the most time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/report/report.h"

namespace etch {

// The first sentence of a network that quantizes nothing.
inline constexpr std::string_view kNotQuantized =
    "all arithmetic is in float: the network is not quantized";

// Plain sentences without a full stop, the most important first; texts of the model in them are
// printable. Nothing of a network without steps.
std::vector<std::string> verdict(const ReportData& data);

// The step in which the most of the arena is in use; -1 if nothing of it ever is.
struct RamPeak {
  int step = -1;
  std::int64_t bytes = 0;
};
RamPeak ram_peak(const ReportData& data);

}  // namespace etch
