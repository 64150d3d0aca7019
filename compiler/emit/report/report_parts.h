// The sections of report.html, one function each; report_html.cc puts them together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/emit/report/html.h"
#include "compiler/emit/report/report.h"

namespace etch {

// The class that colours a step of this kind (templates/files/report.css), and what to call it.
struct KindClass {
  std::string_view name;
  std::string_view title;
};
const KindClass& class_of(std::string_view kind);

// What run() calls a port; `index` counts the inputs and then the outputs.
std::string in_run(const ReportData& data, std::size_t index);

// "1×3×224×224", "scalar" for rank 0.
std::string dims(const Shape& shape);

// report_timeline.cc: work, bytes and time of every step over the arena's buffers, on one axis.
void add_timeline(Html& html, const ReportData& data);

// report_graph.cc: the steps and the tensors between them, and which of these need the most RAM.
void add_graph(Html& html, const ReportData& data);

// report_budget.cc; nothing where nothing was tried
void add_budget(Html& html, const ReportData& data);

// report_tables.cc
void add_layers(Html& html, const ReportData& data);
void add_quantization(Html& html, const ReportData& data);
void add_proofs(Html& html, const ReportData& data);
void add_fusions(Html& html, const ReportData& data);

}  // namespace etch
