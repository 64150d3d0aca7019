// The picture of report.html: steps from left to right; above, what each of them costs, below, the
// arena's addresses with a rectangle for every buffer.
#include <algorithm>
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/emit/report/report_parts.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch {

namespace {

constexpr double kWidth = 1160, kLeft = 92, kRight = 8;
constexpr double kPanelHeight = 58, kGap = 16, kArenaHeight = 280, kAxis = 26;
constexpr double kLetter = 6.4;  // width of one, about

// One row of bars.
struct Panel {
  std::string title, most_text;
  std::vector<double> values;
  double most = 0;
};

class Timeline {
 public:
  Timeline(Html& html, const ReportData& data) : html_(html), data_(data) {
    add_panel(
        "MACs", [](const LayerReport& layer) { return static_cast<double>(layer.macs); },
        with_unit);
    add_panel(
        "Constants",
        [](const LayerReport& layer) { return static_cast<double>(layer.constant_bytes); },
        bytes_with_unit);
    if (data.time) {
      add_panel(
          "Time", [](const LayerReport& layer) { return layer.time ? layer.time->median_us : 0; },
          [](std::int64_t most) { return cat(with_thousands(most), " \u00b5s"); });
    }
    arena_top_ = static_cast<double>(panels_.size()) * (kPanelHeight + kGap) + 6;
    highest_ = std::max<std::int64_t>({1, data.arena_bytes, data.most_live_bytes});
  }

  void draw() {
    const double height = arena_top_ + kArenaHeight + kAxis;
    html_.begin("svg", {{"viewBox", cat("0 0 ", px(kWidth), " ", px(height))}, {"role", "img"}});
    html_.newline();
    for (std::size_t i = 0; i < panels_.size(); ++i) label_panel(i);
    label_arena();
    for (std::size_t i = 0; i < data_.layers.size(); ++i) draw_step(i);
    for (const Buffer& buffer : data_.buffers) {
      if (buffer.home == Home::kArena && buffer.first_step >= 0) draw_buffer(buffer);
    }
    label_steps();
    html_.end();
    html_.newline();
  }

 private:
  template <class Value, class Text>
  void add_panel(std::string title, Value value, Text text) {
    Panel panel{std::move(title), {}, {}, 0};
    for (const LayerReport& layer : data_.layers) panel.values.push_back(value(layer));
    for (const double each : panel.values) panel.most = std::max(panel.most, each);
    panel.most_text = text(static_cast<std::int64_t>(panel.most));
    panels_.push_back(std::move(panel));
  }

  double column() const {
    return (kWidth - kLeft - kRight) /
           static_cast<double>(std::max<std::size_t>(1, data_.layers.size()));
  }
  double x_of(std::int64_t step) const { return kLeft + static_cast<double>(step) * column(); }
  double y_of(std::int64_t address) const {
    return arena_top_ +
           kArenaHeight * (1 - static_cast<double>(address) / static_cast<double>(highest_));
  }
  static double panel_bottom(std::size_t i) {
    return static_cast<double>(i) * (kPanelHeight + kGap) + kPanelHeight + 4;
  }

  void label(double x, double y, std::string_view text, std::string_view type = "") {
    Html::Attributes attributes = {{"x", px(x)}, {"y", px(y)}, {"text-anchor", "end"}};
    if (!type.empty()) attributes.push_back({"class", std::string(type)});
    html_.element("text", attributes, text);
  }
  void line(double y, std::string_view type) {
    html_.leaf("line", {{"class", std::string(type)},
                        {"x1", px(kLeft)},
                        {"x2", px(kWidth - kRight)},
                        {"y1", px(y)},
                        {"y2", px(y)}});
  }

  void label_panel(std::size_t i) {
    const double bottom = panel_bottom(i);
    label(kLeft - 8, bottom - kPanelHeight + 12, panels_[i].title, "head");
    label(kLeft - 8, bottom - kPanelHeight + 26, cat("max ", panels_[i].most_text));
    line(bottom, "grid");
    html_.newline();
  }

  void label_arena() {
    label(kLeft - 8, arena_top_ + 12, "Arena", "head");
    const double top = y_of(data_.arena_bytes);
    for (const int quarter : {0, 1, 2, 3, 4}) line(y_of(highest_ * quarter / 4), "grid");
    line(top, "top");
    label(kLeft - 8, y_of(0), "0");
    label(kLeft - 8, std::max(top + 4, arena_top_ + 26), bytes_with_unit(data_.arena_bytes));
    html_.newline();
  }

  std::string cost_of(const LayerReport& layer) const {
    std::string out =
        cat(layer.name, ": ", layer.summary.empty() ? layer.kind : layer.summary, "; ",
            with_thousands(layer.macs), " MACs, ", with_thousands(layer.constant_bytes), " ",
            plural(layer.constant_bytes, "byte"), " of constants");
    for (const SharedConstants& shared : layer.shared_constants)
      out += cat(", ", with_thousands(shared.bytes), " of ", shared.owner);
    if (layer.time) out += cat(", ", fixed(layer.time->median_us, 2), " \u00b5s");
    return out;
  }

  // The column of a step: a link to its row in the table, with its bars.
  void draw_step(std::size_t i) {
    const LayerReport& layer = data_.layers[i];
    const double left = x_of(static_cast<std::int64_t>(i));
    html_.begin("a", {{"href", cat("#l", i)}});
    html_.element("title", cost_of(layer));
    html_.leaf("rect", {{"class", "hit"},
                        {"x", px(left)},
                        {"y", "0"},
                        {"width", px(column())},
                        {"height", px(arena_top_ + kArenaHeight)}});
    for (std::size_t p = 0; p < panels_.size(); ++p) {
      if (panels_[p].values[i] <= 0) continue;
      const double height = std::max(0.6, kPanelHeight * panels_[p].values[i] / panels_[p].most);
      html_.leaf("rect", {{"class", std::string(class_of(layer.kind).name)},
                          {"x", px(left + column() * 0.08)},
                          {"y", px(panel_bottom(p) - height)},
                          {"width", px(column() * 0.84)},
                          {"height", px(height)}});
    }
    html_.end();
    html_.newline();
  }

  void draw_buffer(const Buffer& buffer) {
    const LayerReport& maker = data_.layers[static_cast<std::size_t>(buffer.first_step)];
    const double left = x_of(buffer.first_step);
    const double width = x_of(buffer.last_step + 1) - left;
    const double top = y_of(buffer.arena_offset + buffer.bytes);
    const double height = y_of(buffer.arena_offset) - top;
    html_.begin("rect", {{"class", cat("buffer ", class_of(maker.kind).name)},
                         {"x", px(left)},
                         {"y", px(top)},
                         {"width", px(width)},
                         {"height", px(std::max(0.6, height))}});
    const std::string& last = data_.layers[static_cast<std::size_t>(buffer.last_step)].name;
    html_.element("title", cat(buffer.label, ": ", with_thousands(buffer.bytes), " ",
                               plural(buffer.bytes, "byte"), " at ",
                               with_thousands(buffer.arena_offset), ", until ", last));
    html_.end();
    const std::string name = maker.name;
    if (height >= 13 && width >= kLetter * static_cast<double>(name.size()) + 6) {
      html_.element("text",
                    {{"class", "inside"}, {"x", px(left + 4)}, {"y", px(top + height / 2 + 4)}},
                    name);
    }
    html_.newline();
  }

  void label_steps() {
    const auto count = static_cast<std::int64_t>(data_.layers.size());
    std::int64_t every = 1;
    for (const std::int64_t factor : {2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
      if (column() * static_cast<double>(every) < 34) every = factor;
    }
    const double y = arena_top_ + kArenaHeight + 15;
    for (std::int64_t i = 0; i < count; i += every) {
      html_.element("text",
                    {{"x", px(x_of(i) + column() / 2)}, {"y", px(y)}, {"text-anchor", "middle"}},
                    cat(i));
    }
    label(kLeft - 8, y, "step", "head");
    const double live = y_of(data_.most_live_bytes);
    line(live, "live");
    label(kWidth - kRight - 4, live + 13,
          cat("live at once ", bytes_with_unit(data_.most_live_bytes)));
  }

  Html& html_;
  const ReportData& data_;
  std::vector<Panel> panels_;
  double arena_top_ = 0;
  std::int64_t highest_ = 1;
};

void add_legend(Html& html, const ReportData& data) {
  std::map<std::string_view, std::string_view> used;
  for (const LayerReport& layer : data.layers) {
    used.emplace(class_of(layer.kind).name, class_of(layer.kind).title);
  }
  html.begin("div", {{"class", "legend"}});
  for (const auto& [name, title] : used) {
    html.begin("span");
    html.element("i", {{"class", std::string(name)}}, "");
    html.text(title);
    html.end();
  }
  html.end();
}

}  // namespace

void add_timeline(Html& html, const ReportData& data) {
  html.raw(
      "<h2 id=\"steps\">Steps and memory</h2>\n<p>Steps run from left to right. Below, the arena: "
      "each rectangle is a buffer, from its first to its last step, at its addresses. Where two "
      "overlap, an output reuses an input that dies in that step. The dashed line is the most "
      "that lives at once, which an arena without such overlaps needs. Point at anything for its "
      "name; click a "
      "step for its row.</p>\n");
  html.begin("div", {{"class", "panel"}});
  add_legend(html, data);
  Timeline(html, data).draw();
  html.end();
}

}  // namespace etch
