// The tables of report.html: layers, quantization, what was proved, what was fused.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/emit/report/report_parts.h"
#include "compiler/emit/report/verdict.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch {

namespace {

// A table's cell with a number, which sorts as `value`.
void number_cell(Html& html, double value, std::string_view text) {
  html.element("td", {{"class", "n"}, {"data-v", significant(value, 9)}}, text);
}

// The same with a bar below it: `value` of `most`.
void begin_bar_cell(Html& html, const LayerReport& layer, double value, double most,
                    std::string_view text) {
  html.begin("td", {{"class", "n"}, {"data-v", significant(value, 9)}});
  if (value > 0) {
    html.text(text);
    html.element("i",
                 {{"class", cat("bar ", class_of(layer.kind).name)},
                  {"style", cat("width:", fixed(100 * value / most, 1), "%")}},
                 "");
  }
}

void bar_cell(Html& html, const LayerReport& layer, double value, double most,
              std::string_view text) {
  begin_bar_cell(html, layer, value, most, text);
  html.end();
}

// Those of earlier layers are named under the layer's own, with which they are not counted.
void constants_cell(Html& html, const LayerReport& layer, double most) {
  begin_bar_cell(html, layer, static_cast<double>(layer.constant_bytes), most,
                 bytes_with_unit(layer.constant_bytes));
  for (const SharedConstants& shared : layer.shared_constants)
    html.element("small", cat(bytes_with_unit(shared.bytes), " of ", shared.owner));
  html.end();
}

// The share of all steps; empty for none.
void share_cell(Html& html, double value, double all) {
  number_cell(html, value, value > 0 && all > 0 ? fixed(100 * value / all, 1) : "");
}

void begin_section(Html& html, std::string_view id, std::string_view title, std::string_view text) {
  html.element("h2", {{"id", std::string(id)}}, title);
  html.newline();
  html.element("p", text);
  html.newline();
}

void begin_table(Html& html, std::string_view style, std::string_view headings) {
  html.begin("div", {{"class", "panel"}});
  html.begin("table", {{"class", cat("sortable ", style)}});
  html.raw("<thead><tr>");
  html.raw(headings);
  html.raw("</tr></thead>");
  html.begin("tbody");
  html.newline();
}

void end_table(Html& html) {
  html.end();
  html.end();
  html.end();
  html.newline();
}

void name_cell(Html& html, const LayerReport& layer, std::string_view below) {
  html.begin("td");
  html.element("i", {{"class", cat("dot ", class_of(layer.kind).name)}}, "");
  html.element("code", layer.name);
  if (!below.empty()) html.element("small", below);
  html.end();
}

std::string shapes_of(const LayerReport& layer) {
  std::string out;
  for (const Shape& shape : layer.input_shapes) {
    if (!out.empty()) out += ", ";
    out += dims(shape);
  }
  return cat(out, out.empty() ? "" : " \u2192 ", dims(layer.output_shape));
}

// The most of a step, and of all together.
struct Most {
  double macs = 1, bytes = 1, time = 1e-9;
  double all_macs = 0, all_bytes = 0, all_time = 0;
  int peak = -1;  // step with the most RAM in use
};

Most most_of(const ReportData& data) {
  Most most;
  most.peak = ram_peak(data).step;
  for (const LayerReport& layer : data.layers) {
    most.macs = std::max(most.macs, static_cast<double>(layer.macs));
    most.bytes = std::max(most.bytes, static_cast<double>(layer.constant_bytes));
    most.all_macs += static_cast<double>(layer.macs);
    most.all_bytes += static_cast<double>(layer.constant_bytes);
    if (!layer.time) continue;
    most.time = std::max(most.time, layer.time->median_us);
    most.all_time += layer.time->median_us;
  }
  return most;
}

void time_cells(Html& html, const LayerReport& layer, const Most& most) {
  const double time = layer.time ? layer.time->median_us : 0;
  bar_cell(html, layer, time, most.time, fixed(time, 2));
  share_cell(html, time, most.all_time);
  const double rate = time > 0 ? static_cast<double>(layer.macs) / time / 1e3 : 0;
  number_cell(html, rate, rate > 0 ? fixed(rate, 1) : "");
}

// The step, the node that it comes from on the same line, and whether RAM is at its peak.
void layer_cell(Html& html, const LayerReport& layer, bool is_peak) {
  html.begin("td");
  html.begin("span", {{"class", "clip"}, {"title", layer.origin}});
  html.element("i", {{"class", cat("dot ", class_of(layer.kind).name)}}, "");
  html.element("code", layer.name);
  if (is_peak) html.element("b", {{"class", "badge"}}, "RAM peak");
  html.element("span", {{"class", "soft"}}, layer.origin);
  html.end();
  html.end();
}

void add_layer(Html& html, const ReportData& data, std::size_t i, const Most& most) {
  const LayerReport& layer = data.layers[i];
  html.begin("tr", {{"id", cat("l", i)}});
  html.begin("td", {{"class", "n"}, {"data-v", cat(i)}});
  html.element("a", {{"href", cat("#g", i)}, {"title", "where it is in the graph"}}, cat(i));
  html.end();
  layer_cell(html, layer, static_cast<int>(i) == most.peak);
  html.begin("td");
  html.element("span", {{"class", "clip"}, {"title", shapes_of(layer)}}, shapes_of(layer));
  html.element("small", layer.summary);
  html.end();
  const auto macs = static_cast<double>(layer.macs);
  const auto bytes = static_cast<double>(layer.constant_bytes);
  bar_cell(html, layer, macs, most.macs, with_unit(layer.macs));
  share_cell(html, macs, most.all_macs);
  constants_cell(html, layer, most.bytes);
  share_cell(html, bytes, most.all_bytes);
  if (data.time) time_cells(html, layer, most);
  const std::int64_t code = layer.code_bytes.value_or(0);
  if (data.code_bytes) number_cell(html, static_cast<double>(code), bytes_with_unit(code));
  number_cell(html, static_cast<double>(layer.statements), with_thousands(layer.statements));
  html.element("td", layer.schedule);
  html.end();
  html.newline();
}

}  // namespace

void add_layers(Html& html, const ReportData& data) {
  begin_section(
      html, "layers", "Layers",
      "One row for each step, which is one function of the generated code. Click a "
      "heading to sort, a number to see the step in the graph, a row for what it computes.");
  begin_table(html, "layers",
              cat("<th class=\"n\">#</th><th>Step</th><th>Shapes</th><th class=\"n\">MACs</th>"
                  "<th class=\"n\">%</th><th class=\"n\">Constants</th><th class=\"n\">%</th>",
                  data.time ? "<th class=\"n\">Time, \u00b5s</th><th class=\"n\">%</th><th "
                              "class=\"n\">GMAC/s</th>"
                            : "",
                  data.code_bytes ? "<th class=\"n\">Code</th>" : "",
                  "<th class=\"n\">Statements</th><th>Tiles and unrolling</th>"));
  const Most most = most_of(data);
  for (std::size_t i = 0; i < data.layers.size(); ++i) add_layer(html, data, i, most);
  end_table(html);
}

namespace {

// The tensors to show: weights, and every activation where it first appears.
struct ShownTensor {
  const LayerReport* layer;
  const QuantizedTensor* tensor;
};

std::vector<ShownTensor> shown_tensors(const ReportData& data) {
  std::vector<ShownTensor> out;
  std::set<std::tuple<DType, float, int>> seen;
  for (const LayerReport& layer : data.layers) {
    for (const QuantizedTensor& tensor : layer.tensors) {
      const auto key = std::tuple(tensor.dtype, tensor.least_scale, tensor.least_zero_point);
      const bool input = tensor.role != "y" && !tensor.is_constant;
      if (input && seen.contains(key)) continue;
      if (!tensor.is_constant) seen.insert(key);
      out.push_back({&layer, &tensor});
    }
  }
  return out;
}

// All scales on one logarithmic axis.
struct Axis {
  double low = 0, high = 1;
  double position(float scale) const {
    return 100 * (std::log2(static_cast<double>(scale)) - low) / (high - low);
  }
};

Axis axis_of(const std::vector<ShownTensor>& tensors) {
  Axis axis{1e9, -1e9};
  for (const auto& [layer, tensor] : tensors) {
    axis.low = std::min(axis.low, std::log2(static_cast<double>(tensor->least_scale)) - 0.5);
    axis.high = std::max(axis.high, std::log2(static_cast<double>(tensor->greatest_scale)) + 0.5);
  }
  return axis;
}

void scale_track(Html& html, const QuantizedTensor& tensor, const Axis& axis) {
  const double left = axis.position(tensor.least_scale);
  const double width = axis.position(tensor.greatest_scale) - left;
  html.begin("td");
  html.begin("div", {{"class", "track"}});
  html.element("i", {{"style", cat("left:", fixed(left, 1), "%;width:", fixed(width, 1), "%")}},
               "");
  html.element("b", {{"style", cat("left:", fixed(axis.position(tensor.median_scale), 1), "%")}},
               "");
  html.end();
  html.end();
}

std::string scales_text(const QuantizedTensor& tensor) {
  if (tensor.channels == 1) return significant(tensor.least_scale, 5);
  return cat(significant(tensor.least_scale, 3), " \u2013 ", significant(tensor.median_scale, 3),
             " \u2013 ", significant(tensor.greatest_scale, 3));
}

std::string real_range(const QuantizedTensor& tensor) {
  if (tensor.channels != 1 || !is_8bit(tensor.dtype)) return "";
  const auto real = [&](std::int64_t q) {
    return significant(tensor.least_scale * static_cast<double>(q - tensor.least_zero_point), 3);
  };
  return cat(real(min_of(tensor.dtype)), " to ", real(max_of(tensor.dtype)));
}

void add_tensor(Html& html, const ShownTensor& shown, const Axis& axis) {
  const QuantizedTensor& tensor = *shown.tensor;
  const double spread = static_cast<double>(tensor.greatest_scale) / tensor.least_scale;
  html.begin("tr");
  name_cell(html, *shown.layer, "");
  html.element("td", tensor.is_constant ? cat(tensor.role, ", constant") : tensor.role);
  html.element("td", cat(name_of(tensor.dtype),
                         tensor.channels == 1 ? std::string() : cat(" \u00d7 ", tensor.channels)));
  number_cell(html, tensor.median_scale, scales_text(tensor));
  scale_track(html, tensor, axis);
  number_cell(html, spread, tensor.channels == 1 ? "" : cat(significant(spread, 3), "\u00d7"));
  const std::string least = cat(tensor.least_zero_point);
  number_cell(html, tensor.least_zero_point,
              tensor.least_zero_point == tensor.greatest_zero_point
                  ? least
                  : cat(least, " to ", tensor.greatest_zero_point));
  html.element("td", {{"class", "n"}}, real_range(tensor));
  html.end();
  html.newline();
}

}  // namespace

void add_quantization(Html& html, const ReportData& data) {
  const std::vector<ShownTensor> tensors = shown_tensors(data);
  if (tensors.empty()) {
    begin_section(html, "quantization", "Quantization",
                  "No activation has a scale that is known at compile time.");
    return;
  }
  begin_section(
      html, "quantization", "Quantization",
      "real = scale \u00d7 (integer \u2212 zero point). Of several scales, one for each "
      "channel, the least, the median and the greatest are given; the picture shows them on "
      "one logarithmic axis for all tensors. A wide spread between channels is where "
      "quantization per tensor would lose most.");
  begin_table(html, "",
              "<th>Step</th><th>Tensor</th><th>Type</th><th class=\"n\">Scale</th>"
              "<th>From small to large</th><th class=\"n\">Spread</th><th class=\"n\">Zero "
              "point</th><th class=\"n\">Real values</th>");
  const Axis axis = axis_of(tensors);
  for (const ShownTensor& tensor : tensors) add_tensor(html, tensor, axis);
  end_table(html);
}

namespace {

// Bits that a signed integer needs for these accumulators.
int bits_of(const AccumulatorBounds& bounds) {
  const std::int64_t magnitude = std::max(bounds.high, -(bounds.low + 1));
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(magnitude))) + 1;
}

void add_bounds(Html& html, const std::optional<AccumulatorBounds>& bounds) {
  if (!bounds) {
    html.raw("<td></td><td></td>");
    return;
  }
  const int bits = bits_of(*bounds);
  html.element("td", {{"class", "n"}, {"data-v", cat(bounds->high)}},
               cat(with_thousands(bounds->low), " to ", with_thousands(bounds->high)));
  html.begin("td", {{"data-v", cat(bits)}});
  html.element("span", {{"class", bits > 32 ? "note" : "good"}},
               bits > 32 ? cat(bits, " of 32 bits: may wrap") : cat(bits, " of 32 bits"));
  html.begin("div", {{"class", "track"}});
  html.element("i", {{"style", cat("left:0;width:", fixed(std::min(100.0, bits / 0.32), 1), "%")}},
               "");
  html.end();
  html.end();
}

void add_proof(Html& html, const LayerReport& layer) {
  html.begin("tr");
  name_cell(html, layer, "");
  add_bounds(html, layer.accumulators);
  html.begin("td");
  html.begin("ul");
  for (const std::string& fact : layer.facts) html.element("li", fact);
  html.end();
  html.end();
  html.end();
  html.newline();
}

std::string proof_summary(const ReportData& data) {
  int bounded = 0;
  int wrapping = 0;
  for (const LayerReport& layer : data.layers) {
    if (!layer.accumulators) continue;
    ++(bits_of(*layer.accumulators) > 32 ? wrapping : bounded);
  }
  const std::string addresses =
      "every address that the code can reach was checked to lie in its buffer.";
  if (bounded + wrapping == 0) return cat("No step has bounds of integer sums; ", addresses);
  std::string out = cat("Bounds follow from the weights themselves, for every possible input. In ",
                        counted(bounded, "step"), " int32 cannot overflow");
  if (wrapping > 0)
    out += cat("; in ", wrapping, " it may wrap, as the operator's arithmetic does");
  return cat(out, ". Besides, ", addresses);
}

void add_rungs(Html& html, const RungCounts& counts) {
  html.begin("p");
  html.text(cat("Requantization without floats, ", counted(counts.total(), "channel"), ": "));
  for (int i = 0; i < kRungs; ++i) {
    const Rung rung = static_cast<Rung>(i);
    html.text(cat(i == 0 ? "" : ", ", counts.of(rung), " ", name_of(rung)));
  }
  html.text(cat("; ", counted(counts.exceptions, "accumulator"),
                counts.exceptions == 1 ? " is an exception." : " are exceptions."));
  html.end();
  html.newline();
}

}  // namespace

void add_proofs(Html& html, const ReportData& data) {
  begin_section(html, "proved", "What was proved", proof_summary(data));
  if (data.rungs.total() > 0) add_rungs(html, data.rungs);
  const auto has_proof = [](const LayerReport& layer) {
    return layer.accumulators.has_value() || !layer.facts.empty();
  };
  if (std::ranges::none_of(data.layers, has_proof)) return;
  begin_table(html, "words proofs",
              "<th>Step</th><th class=\"n\">Accumulators</th><th>Needs</th><th>In words</th>");
  for (const LayerReport& layer : data.layers) {
    if (has_proof(layer)) add_proof(html, layer);
  }
  end_table(html);
}

namespace {

void add_fused(Html& html, const ReportData& data) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const FusionRecord& record : data.fusions) {
    if (record.outcome == FusionRecord::Outcome::kFused) ++counts[{record.op_type, record.what}];
  }
  if (counts.empty()) {
    html.element("p",
                 "Nothing had to be fused: the file has no groups of DequantizeLinear, operator "
                 "and QuantizeLinear.");
    return;
  }
  begin_table(html, "words",
              "<th class=\"n\">Nodes</th><th>Operator</th><th>What became of it</th>");
  for (const auto& [kind, count] : counts) {
    html.begin("tr");
    number_cell(html, count, cat(count));
    html.element("td", kind.first);
    html.element("td", kind.second);
    html.end();
    html.newline();
  }
  end_table(html);
}

void add_missed(Html& html, const ReportData& data) {
  begin_table(html, "words",
              "<th class=\"n\">Node</th><th>Operator</th><th>Why it is not an integer "
              "operator</th>");
  for (const FusionRecord& record : data.fusions) {
    if (record.outcome != FusionRecord::Outcome::kMissed) continue;
    html.begin("tr");
    number_cell(html, record.node, cat(record.node));
    html.element("td", title_of(record));
    html.element("td", reason_of(record));
    html.end();
    html.newline();
  }
  end_table(html);
}

}  // namespace

void add_fusions(Html& html, const ReportData& data) {
  begin_section(html, "fused", "What was fused",
                "Operators between DequantizeLinear and QuantizeLinear become one integer operator "
                "where the result is the same.");
  add_fused(html, data);
  html.raw("<h2 id=\"missed\">What was not, and why</h2>\n");
  const auto is_missed = [](const FusionRecord& record) {
    return record.outcome == FusionRecord::Outcome::kMissed;
  };
  if (std::ranges::any_of(data.fusions, is_missed)) {
    add_missed(html, data);
  } else {
    html.element("p", has_quantization(data)
                          ? "No operator beside a quantized tensor is left in float."
                          : "The network has no quantized tensors that an operator could join.");
  }
}

}  // namespace etch
