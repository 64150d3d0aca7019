// The graph of report.html: a node for every step, input and output, linked to the step's row, and
// the tensors between them; those in memory when the most RAM is in use are marked and listed.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/report/graph_layout.h"
#include "compiler/emit/report/report_parts.h"
#include "compiler/emit/report/verdict.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch {
namespace {

constexpr std::size_t kColumns = 7;           // of a row: what a page of 1,160 pixels holds
constexpr std::size_t kMostPassing = 20'000;  // places; larger graphs have no picture
constexpr std::size_t kMostLetters = 18;      // of a name in a node

// A tensor from the step that makes it, or an input, to one that reads it, or an output.
struct Wire {
  GraphEdge edge;
  int buffer = -1;
};

// The graph's nodes: inputs, steps and outputs, in this order.
class StepGraph {
 public:
  explicit StepGraph(const ReportData& data) : data_(data), writers_(data.buffers.size()) {
    for (std::size_t i = 0; i < data.layers.size(); ++i) add_step(i);
    for (std::size_t b = 0; b < data.buffers.size(); ++b) {
      if (data.buffers[b].home == Home::kOutput)
        add_edges(static_cast<int>(b), output(data.buffers[b]));
    }
  }

  std::size_t nodes() const { return first_output() + data_.outputs.size(); }
  std::size_t first_step() const { return data_.inputs.size(); }
  std::size_t first_output() const { return first_step() + data_.layers.size(); }
  const std::vector<Wire>& tensors() const { return tensors_; }

 private:
  std::size_t output(const Buffer& buffer) const {
    return first_output() + static_cast<std::size_t>(buffer.port);
  }

  void add_step(std::size_t i) {
    const LayerReport& layer = data_.layers[i];
    const std::size_t node = first_step() + i;
    for (const int buffer : layer.reads) add_edges(buffer, node);
    for (const int buffer : layer.writes) {
      std::vector<std::size_t>& writers = writers_[static_cast<std::size_t>(buffer)];
      // What changes a tensor in place follows those that wrote it, and stands for them.
      if (std::ranges::find(layer.reads, buffer) != layer.reads.end()) writers.clear();
      writers.push_back(node);
    }
  }

  void add_edges(int buffer, std::size_t to) {
    const Buffer& from = data_.buffers[static_cast<std::size_t>(buffer)];
    if (from.home == Home::kInput) add_edge(static_cast<std::size_t>(from.port), to, buffer);
    for (const std::size_t writer : writers_[static_cast<std::size_t>(buffer)])
      add_edge(writer, to, buffer);
  }

  void add_edge(std::size_t from, std::size_t to, int buffer) {
    const bool known = from >= to || !seen_.insert({from, to}).second;
    if (!known) tensors_.push_back({{from, to}, buffer});
  }

  const ReportData& data_;
  std::vector<std::vector<std::size_t>> writers_;  // of each buffer so far
  std::vector<Wire> tensors_;
  std::set<std::pair<std::size_t, std::size_t>> seen_;
};

// Counts characters of UTF-8, as sizes are written with a times sign.
std::string shortened(const std::string& name) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
  std::size_t letters = 0, end = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (begins(name[i]) && letters++ == kMostLetters - 1) end = i;
  }
  return letters <= kMostLetters ? name : name.substr(0, end) + "\u2026";
}

bool is_live(const Buffer& buffer, const RamPeak& peak) {
  return buffer.home == Home::kArena && buffer.first_step >= 0 && peak.step >= 0 &&
         buffer.first_step <= peak.step && peak.step <= buffer.last_step;
}

std::string about(const Buffer& buffer) {
  return cat(buffer.label, ": ", with_thousands(buffer.bytes), " ", plural(buffer.bytes, "byte"));
}

class Picture {
 public:
  Picture(Html& html, const ReportData& data, const StepGraph& graph)
      : html_(html), data_(data), graph_(graph), peak_(ram_peak(data)) {
    std::vector<GraphEdge> edges;
    for (const Wire& tensor : graph.tensors()) edges.push_back(tensor.edge);
    layout_ = lay_out(graph.nodes(), edges, kColumns);
  }

  void draw() {
    html_.begin("svg", {{"id", "picture"},
                        {"viewBox", cat("0 0 ", px(layout_.width), " ", px(layout_.height))},
                        {"width", px(layout_.width)},
                        {"height", px(layout_.height)},
                        {"role", "img"},
                        {"aria-label", "The steps and the tensors between them"}});
    html_.newline();
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) draw_edge(i);
    for (std::size_t i = 0; i < data_.inputs.size(); ++i)
      draw_port(data_.inputs[i], in_run(data_, i), i);
    for (std::size_t i = 0; i < data_.layers.size(); ++i) draw_step(i);
    for (std::size_t i = 0; i < data_.outputs.size(); ++i)
      draw_port(data_.outputs[i], in_run(data_, data_.inputs.size() + i),
                graph_.first_output() + i);
    html_.end();
    html_.newline();
  }

 private:
  void draw_edge(std::size_t i) {
    const Buffer& buffer = data_.buffers[static_cast<std::size_t>(graph_.tensors()[i].buffer)];
    html_.begin("path", {{"class", is_live(buffer, peak_) ? "edge live" : "edge"},
                         {"d", layout_.edges[i]}});
    html_.element("title", about(buffer));
    html_.end();
    html_.newline();
  }

  void text(const GraphLayout::Point& place, double down, std::string_view type,
            std::string_view words) {
    html_.element(
        "text", {{"class", std::string(type)}, {"x", px(place.x + 10)}, {"y", px(place.y + down)}},
        words);
  }

  void box(const GraphLayout::Point& place, std::string_view type, double width) {
    html_.leaf("rect", {{"class", std::string(type)},
                        {"x", px(place.x)},
                        {"y", px(place.y)},
                        {"width", px(width)},
                        {"height", px(GraphLayout::kNodeHeight)},
                        {"rx", "4"}});
  }

  void draw_port(const Port& port, const std::string& name, std::size_t node) {
    const GraphLayout::Point& place = layout_.nodes[node];
    html_.begin("g", {{"class", "port"}});
    html_.element("title", cat(port.identifier, " '", port.name, "'"));
    box(place, "box", GraphLayout::kNodeWidth);
    text(place, 17, "head", shortened(name));
    text(place, 32, "", shortened(cat(name_of(port.dtype), " ", dims(port.shape))));
    html_.end();
    html_.newline();
  }

  void draw_step(std::size_t i) {
    const LayerReport& layer = data_.layers[i];
    const GraphLayout::Point& place = layout_.nodes[graph_.first_step() + i];
    const bool is_peak = static_cast<int>(i) == peak_.step;
    html_.begin(
        "a",
        {{"id", cat("g", i)}, {"href", cat("#l", i)}, {"class", is_peak ? "step peak" : "step"}});
    html_.element("title", cat(layer.name, ", ", layer.origin, ": ",
                               layer.summary.empty() ? layer.kind : layer.summary,
                               is_peak ? "; the most RAM is in use here" : ""));
    box(place, "box", GraphLayout::kNodeWidth);
    box(place, class_of(layer.kind).name, 5);
    text(place, 17, "head", shortened(layer.name));
    text(place, 32, "", cat(dims(layer.output_shape), share_of(layer)));
    html_.end();
    html_.newline();
  }

  // ", 12 %": of the time if it was measured, else of the multiplications.
  std::string share_of(const LayerReport& layer) const {
    double part = static_cast<double>(layer.macs), all = static_cast<double>(data_.macs);
    if (data_.time) {
      part = all = 0;
      for (const LayerReport& each : data_.layers) all += each.time ? each.time->median_us : 0;
      if (layer.time) part = layer.time->median_us;
    }
    return all > 0 && part / all >= 0.005 ? cat(", ", fixed(100 * part / all, 0), " %") : "";
  }

  Html& html_;
  const ReportData& data_;
  const StepGraph& graph_;
  RamPeak peak_;
  GraphLayout layout_;
};

void link_to_step(Html& html, const ReportData& data, int step) {
  html.begin("td");
  html.begin("a", {{"href", cat("#l", step)}});
  html.element("code", data.layers[static_cast<std::size_t>(step)].name);
  html.end();
  html.end();
}

// The tensors in memory when the most RAM is in use, the largest first.
void add_peak(Html& html, const ReportData& data) {
  const RamPeak peak = ram_peak(data);
  if (peak.step < 0) return;
  std::vector<const Buffer*> live;
  for (const Buffer& buffer : data.buffers) {
    if (is_live(buffer, peak)) live.push_back(&buffer);
  }
  std::ranges::stable_sort(live, std::ranges::greater(), &Buffer::bytes);
  html.begin("p");
  html.text("The most RAM is in use in ");
  html.begin("a", {{"href", cat("#g", peak.step)}});
  html.element("code", data.layers[static_cast<std::size_t>(peak.step)].name);
  html.end();
  html.text(cat(": ", with_thousands(peak.bytes), " ", plural(peak.bytes, "byte"), " of ",
                counted(static_cast<std::int64_t>(live.size()), "tensor"),
                ". Its frame and their lines are thick in the graph."));
  html.end();
  html.raw(
      "<div class=\"panel\"><table class=\"peak\"><thead><tr><th>Tensor</th><th "
      "class=\"n\">Bytes</th>"
      "<th class=\"n\">At</th><th>From</th><th>Until</th></tr></thead><tbody>\n");
  for (const Buffer* buffer : live) {
    html.begin("tr");
    html.element("td", buffer->label);
    html.element("td", {{"class", "n"}}, with_thousands(buffer->bytes));
    html.element("td", {{"class", "n"}}, with_thousands(buffer->arena_offset));
    link_to_step(html, data, buffer->first_step);
    link_to_step(html, data, buffer->last_step);
    html.end();
    html.newline();
  }
  html.raw("</tbody></table></div>\n");
}

}  // namespace

void add_graph(Html& html, const ReportData& data) {
  if (data.layers.empty()) return;
  html.raw("<h2 id=\"graph\">Graph</h2>\n");
  const StepGraph graph(data);
  std::vector<GraphEdge> edges;
  for (const Wire& tensor : graph.tensors()) edges.push_back(tensor.edge);
  if (graph.nodes() + passing_places(graph.nodes(), edges) > kMostPassing) {
    html.element("p", "The network is too large for a picture of it.");
    return;
  }
  html.element("p", cat("Rows are read from left to right, like text. A node has the shape of its "
                        "output and its share of the ",
                        data.time ? "time" : "multiplications", "; click it for its row."));
  html.begin("div", {{"class", "panel graph"}});
  Picture(html, data, graph).draw();
  html.end();
  html.newline();
  add_peak(html, data);
}

}  // namespace etch
