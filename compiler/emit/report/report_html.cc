// report.html: the page around its sections; see report.h and report_parts.h.
#include <algorithm>
#include <utility>

#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/report/report_parts.h"
#include "compiler/emit/report/verdict.h"
#include "compiler/program/state.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch {

namespace {

// Forbids the page to load anything, should a name ever get through as markup.
constexpr char kPolicy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

void add_head(Html& html, const ReportData& data) {
  html.begin("head");
  html.leaf("meta", {{"charset", "utf-8"}});
  html.leaf("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", kPolicy}});
  html.leaf("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.element("title", cat(data.name, " for ", data.target, " - Etch"));
  html.raw("\n<style>\n");
  html.raw(embedded_file("templates/files/report.css"));
  html.raw("</style>\n");
  html.end();
}

void add_card(Html& html, std::string_view title, std::string_view number, std::string_view note) {
  html.begin("div", {{"class", "card"}});
  html.element("h3", title);
  html.element("strong", number);
  html.element("span", note);
  html.end();
  html.newline();
}

std::string arena_note(const ReportData& data) {
  const std::int64_t used = data.arena_bytes - kArenaSlack;
  const std::int64_t live = data.most_live_bytes;
  if (live == 0) return "nothing lives between the steps";
  const std::string slack = cat("; ", counted(kArenaSlack, "byte"), " are slack");
  if (data.saved_in_place > 0) {
    return cat("results that overwrite their inputs save ", with_thousands(data.saved_in_place),
               " of the ", with_thousands(live), " that live at once", slack);
  }
  if (used == live) return cat("no more than what lives at once, ", with_thousands(live), slack);
  return cat(percent(static_cast<double>(used - live), static_cast<double>(live)),
             " above what lives at once, ", with_thousands(live), slack);
}

// Whether a layer of integer multiplications has results of so many bytes.
bool has_results_of(const ReportData& data, std::int64_t bytes) {
  return std::ranges::any_of(data.layers, [&](const LayerReport& layer) {
    return layer.macs > layer.float_macs &&
           std::ranges::any_of(layer.tensors, [&](const QuantizedTensor& tensor) {
             return tensor.role == "y" && bytes_of(tensor.dtype) == bytes;
           });
  });
}

void add_requantization(Html& html, const ReportData& data) {
  const bool words = has_results_of(data, 2);
  if (!has_quantization(data)) {
    add_card(html, "Requantization", "none",
             "no result is rounded to a scale that is known at compile time");
  } else if (words && !has_results_of(data, 1)) {
    add_card(html, "Requantization", "integers",
             "results of 16 bits are rounded with integers alone, as the real numbers are");
  } else if (data.float_requantization) {
    add_card(html, "Requantization", "float",
             cat("one float product per result of an integer layer, rounded to nearest even",
                 words ? "; results of 16 bits with integers alone" : ""));
  } else if (data.rungs.total() == 0) {
    add_card(html, "Requantization", "none", "no layer has channels to requantize");
  } else {
    add_card(html, "Requantization", "integers",
             cat(with_thousands(data.rungs.total()), " ", plural(data.rungs.total(), "channel"),
                 ", each proved equal to the float rule"));
  }
}

// What was left out of them.
std::string pruned_note(const PrunedChannels& pruned) {
  if (pruned.removed == 0) return "";
  return cat("; ", describe(pruned));
}

void add_cards(Html& html, const ReportData& data) {
  html.begin("div", {{"class", "cards"}});
  if (data.time) {
    const double median = data.time->median_us;
    const double rate = median > 0 ? static_cast<double>(data.macs) / median / 1e3 : 0;
    add_card(html, "Time", cat(fixed(median, median < 100 ? 2 : 0), " \u00b5s"),
             cat("median, one thread; best ", fixed(data.time->least_us, median < 100 ? 2 : 0),
                 " \u00b5s; ", fixed(rate, 1), " GMAC/s"));
  }
  add_card(html, "Work", cat(with_unit(data.macs), " MACs"),
           cat(with_thousands(data.macs), " in ",
               counted(static_cast<std::int64_t>(data.layers.size()), "step"),
               share_of_floats(data.macs, data.float_macs), pruned_note(data.pruning)));
  add_card(html, "Flash", bytes_with_unit(data.flash_bytes),
           data.code_bytes
               ? cat("weights and tables, and ", with_thousands(*data.code_bytes), " ",
                     plural(*data.code_bytes, "byte"), " of code")
               : cat(with_thousands(data.flash_bytes), " ", plural(data.flash_bytes, "byte"),
                     " of weights and tables, without the code"));
  add_card(html, "Arena", bytes_with_unit(data.arena_bytes),
           cat(with_thousands(data.arena_bytes), " ", plural(data.arena_bytes, "byte"),
               " of RAM: ", arena_note(data)));
  add_requantization(html, data);
  html.end();
}

std::string range_of(const Port& port) {
  if (!port.quantized || !is_8bit(port.dtype)) return "";
  const auto real = [&](std::int64_t q) {
    return significant(port.scale * static_cast<double>(q - port.zero_point), 4);
  };
  return cat(real(min_of(port.dtype)), " to ", real(max_of(port.dtype)));
}

// `first`: of the ports of run().
void add_port_rows(Html& html, const ReportData& data, const std::vector<Port>& ports,
                   std::size_t first) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    html.begin("tr");
    html.element("td", {{"class", "mono"}}, is_state(port) ? "in State" : in_run(data, first + i));
    html.element("td", port.name);
    html.element("td", name_of(port.dtype));
    html.element("td", dims(port.shape));
    html.element("td", {{"class", "n"}}, port.quantized ? decimal(port.scale) : "");
    html.element("td", {{"class", "n"}}, port.quantized ? cat(port.zero_point) : "");
    html.element("td", {{"class", "n"}}, range_of(port));
    html.end();
    html.newline();
  }
}

void add_ports(Html& html, const ReportData& data) {
  html.begin("div", {{"class", "panel"}});
  html.raw(
      "<table><thead><tr><th>In run()</th><th>Name in the model</th><th>Type</th><th>Shape</th>"
      "<th class=\"n\">Scale</th><th class=\"n\">Zero point</th><th class=\"n\">Real values</th>"
      "</tr></thead><tbody>\n");
  add_port_rows(html, data, data.inputs, 0);
  add_port_rows(html, data, data.outputs, data.inputs.size());
  html.raw("</tbody></table>");
  html.end();
}

void add_verdict(Html& html, const ReportData& data) {
  html.begin("ul", {{"class", "verdict"}});
  for (const std::string& sentence : verdict(data)) html.element("li", sentence);
  html.end();
  html.newline();
}

void add_summary(Html& html, const ReportData& data) {
  html.begin("h1");
  html.text(cat(data.name, " "));
  html.element("small", cat("for ", data.target, " (", data.target_title, ")"));
  html.end();
  html.begin("p");
  html.text("Generated by Etch " ETCH_VERSION " from a model");
  if (!data.producer.empty()) html.text(cat(" made by ", data.producer));
  html.text(" with SHA-256 ");
  html.element("code", data.model_sha256);
  html.end();
  html.begin("p");
  html.text(data.command_line.empty() ? "Made with the options" : "Made by ");
  html.element("code", data.command_line.empty() ? data.options : data.command_line);
  html.text("; all other options have their defaults");
  html.end();
  html.raw(
      "<nav><a href=\"#graph\">Graph</a><a href=\"#steps\">Steps and memory</a><a "
      "href=\"#layers\">Layers</a>"
      "<a href=\"#quantization\">Quantization</a><a href=\"#proved\">Proved</a>"
      "<a href=\"#fused\">Fused</a>");
  if (!data.files.empty()) html.raw("<a href=\"#files\">Files</a>");
  html.raw("</nav>\n");
  add_verdict(html, data);
  add_cards(html, data);
  add_ports(html, data);
}

void add_files(Html& html, const ReportData& data) {
  if (data.files.empty()) return;
  html.raw("<h2 id=\"files\">Files</h2>\n<p>");
  for (std::size_t i = 0; i < data.files.size(); ++i) {
    if (i > 0) html.text(", ");
    html.element("code", data.files[i]);
  }
  html.raw("</p>\n");
}

constexpr std::pair<std::string_view, KindClass> kClasses[] = {
    {"conv", {"conv", "convolution"}},
    {"depthwise", {"depthwise", "depthwise convolution"}},
    {"matmul", {"product", "matrix product"}},
    {"maxpool", {"pool", "pooling and reduction"}},
    {"avgpool", {"pool", "pooling and reduction"}},
    {"reduce", {"pool", "pooling and reduction"}},
    {"quantize", {"quantize", "quantize, dequantize"}},
    {"dequantize", {"quantize", "quantize, dequantize"}},
    {"range", {"quantize", "quantize, dequantize"}},
    {"range_min", {"quantize", "quantize, dequantize"}},
    {"range_max", {"quantize", "quantize, dequantize"}},
    {"copy", {"move", "data movement"}},
    {"halo", {"move", "data movement"}},
    {"spread", {"move", "data movement"}},
    {"output", {"move", "data movement"}},
    {"start", {"move", "data movement"}},
};
constexpr KindClass kOther = {"elementwise", "elementwise and other"};

}  // namespace

const KindClass& class_of(std::string_view kind) {
  const auto* const found =
      std::ranges::find(kClasses, kind, &std::pair<std::string_view, KindClass>::first);
  return found == std::end(kClasses) ? kOther : found->second;
}

std::string in_run(const ReportData& data, std::size_t index) {
  const std::size_t inputs = data.inputs.size();
  const Port& port = index < inputs ? data.inputs[index] : data.outputs[index - inputs];
  return index < data.parameters.size() ? data.parameters[index] : port.identifier;
}

std::string dims(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string out;
  for (const std::int64_t size : shape) out += cat(out.empty() ? "" : "\u00d7", size);
  return out;
}

std::string report_html(const ReportData& data) {
  Html html;
  html.raw("<!DOCTYPE html>\n");
  html.begin("html", {{"lang", "en"}});
  add_head(html, data);
  html.begin("body");
  html.newline();
  add_summary(html, data);
  add_budget(html, data);
  add_graph(html, data);
  add_timeline(html, data);
  add_layers(html, data);
  add_quantization(html, data);
  add_proofs(html, data);
  add_fusions(html, data);
  add_files(html, data);
  html.raw("<script>\n");
  html.raw(embedded_file("templates/files/report.js"));
  html.raw("</script>\n");
  html.end();
  html.end();
  return html.take() + "\n";
}

}  // namespace etch
