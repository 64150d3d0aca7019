// Sugiyama's method: columns by the longest path, places for edges that pass a column, an order in
// each column that lets few edges cross, and heights that make edges straight; see graph_layout.h.
#include "compiler/emit/report/graph_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/emit/report/html.h"

namespace etch {
namespace {

constexpr double kPitch = 160;        // from column to column
constexpr double kMargin = 30;        // left and right of the rows, where edges go to the next one
constexpr double kGutter = 34;        // between rows
constexpr double kNodeSpace = 58;     // height that a node takes
constexpr double kPassingSpace = 14;  // and an edge that passes
constexpr int kSweeps = 8;

// A node, or a place where an edge passes a column.
struct Item {
  std::size_t column = 0;
  double space = kNodeSpace;
  double y = 0;  // of its middle
  std::vector<std::size_t> before, after;
};

// One after those that a node follows; what follows nothing is just before what reads it.
std::vector<std::size_t> columns_of(std::size_t nodes, const std::vector<GraphEdge>& edges) {
  std::vector<std::vector<std::size_t>> before(nodes), after(nodes);
  for (const GraphEdge& edge : edges) {
    before[edge.to].push_back(edge.from);
    after[edge.from].push_back(edge.to);
  }
  std::vector<std::size_t> columns(nodes, 0);
  for (std::size_t node = 0; node < nodes; ++node) {
    for (const std::size_t other : before[node])
      columns[node] = std::max(columns[node], columns[other] + 1);
  }
  for (std::size_t node = 0; node < nodes; ++node) {
    if (!before[node].empty() || after[node].empty()) continue;
    std::size_t first = columns[after[node].front()];
    for (const std::size_t other : after[node]) first = std::min(first, columns[other]);
    columns[node] = first - 1;
  }
  return columns;
}

class Layout {
 public:
  Layout(std::size_t nodes, const std::vector<GraphEdge>& edges, std::size_t per_row)
      : per_row_(per_row), nodes_(nodes) {
    const std::vector<std::size_t> columns = columns_of(nodes, edges);
    for (const std::size_t column : columns) add_item(column, kNodeSpace);
    for (const GraphEdge& edge : edges) add_edge(edge);
  }

  GraphLayout run() {
    stack();
    for (int sweep = 0; sweep < kSweeps; ++sweep) order(sweep % 2 == 0);
    stack();
    for (int sweep = 0; sweep < kSweeps; ++sweep) straighten(sweep % 2 == 0);
    break_rows();
    return result();
  }

 private:
  std::size_t add_item(std::size_t column, double space) {
    if (column >= columns_.size()) columns_.resize(column + 1);
    columns_[column].push_back(items_.size());
    items_.push_back({column, space, 0, {}, {}});
    return items_.size() - 1;
  }

  // The edge as the items that it goes through.
  void add_edge(const GraphEdge& edge) {
    std::vector<std::size_t> path = {edge.from};
    for (std::size_t c = items_[edge.from].column + 1; c < items_[edge.to].column; ++c)
      path.push_back(add_item(c, kPassingSpace));
    path.push_back(edge.to);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      items_[path[i]].after.push_back(path[i + 1]);
      items_[path[i + 1]].before.push_back(path[i]);
    }
    paths_.push_back(std::move(path));
  }

  // Every column from above, close together.
  void stack() {
    for (const std::vector<std::size_t>& column : columns_) {
      double y = 0;
      for (const std::size_t item : column) {
        items_[item].y = y + items_[item].space / 2;
        y += items_[item].space;
      }
    }
  }

  // The middle of its neighbours on one side, or its own where there are none.
  double wish(std::size_t item, bool to_the_right) const {
    const std::vector<std::size_t>& others =
        to_the_right ? items_[item].before : items_[item].after;
    if (others.empty()) return items_[item].y;
    double sum = 0;
    for (const std::size_t other : others) sum += items_[other].y;
    return sum / static_cast<double>(others.size());
  }

  template <class Visit>
  void visit_columns(bool to_the_right, const Visit& visit) {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      visit(columns_[to_the_right ? i : columns_.size() - 1 - i]);
  }

  void order(bool to_the_right) {
    visit_columns(to_the_right, [&](std::vector<std::size_t>& column) {
      std::vector<std::pair<double, std::size_t>> wishes;
      wishes.reserve(column.size());
      for (const std::size_t item : column) wishes.emplace_back(wish(item, to_the_right), item);
      std::ranges::stable_sort(wishes, {}, &std::pair<double, std::size_t>::first);
      for (std::size_t i = 0; i < column.size(); ++i) column[i] = wishes[i].second;
      double y = 0;
      for (const std::size_t item : column) {
        items_[item].y = y + items_[item].space / 2;
        y += items_[item].space;
      }
    });
  }

  // Moves a column's items to where they wish to be, in their order and without overlaps: least
  // squares, by joining neighbours that would overlap into blocks.
  void straighten(bool to_the_right) {
    struct Block {
      double sum = 0;
      std::size_t items = 0;
      double mean() const { return sum / static_cast<double>(items); }
    };
    visit_columns(to_the_right, [&](std::vector<std::size_t>& column) {
      std::vector<Block> blocks;
      double offset = 0;
      for (const std::size_t item : column) {
        const double middle = offset + items_[item].space / 2;
        offset += items_[item].space;
        blocks.push_back({wish(item, to_the_right) - middle, 1});
        while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
          blocks[blocks.size() - 2].sum += blocks.back().sum;
          blocks[blocks.size() - 2].items += blocks.back().items;
          blocks.pop_back();
        }
      }
      place(column, blocks);
    });
  }

  template <class Blocks>
  void place(const std::vector<std::size_t>& column, const Blocks& blocks) {
    double offset = 0;
    std::size_t next = 0;
    for (const auto& block : blocks) {
      for (std::size_t i = 0; i < block.items; ++i) {
        Item& item = items_[column[next++]];
        item.y = block.mean() + offset + item.space / 2;
        offset += item.space;
      }
    }
  }

  std::size_t row_of(std::size_t item) const { return items_[item].column / per_row_; }
  double x_of(std::size_t item) const {
    return kMargin + static_cast<double>(items_[item].column % per_row_) * kPitch;
  }

  // Puts the rows below each other.
  void break_rows() {
    double top = 4;
    for (std::size_t first = 0; first < columns_.size(); first += per_row_) {
      double least = 1e30, most = -1e30;
      const std::size_t end = std::min(columns_.size(), first + per_row_);
      for (std::size_t c = first; c < end; ++c) {
        for (const std::size_t item : columns_[c]) {
          least = std::min(least, items_[item].y - items_[item].space / 2);
          most = std::max(most, items_[item].y + items_[item].space / 2);
        }
      }
      for (std::size_t c = first; c < end; ++c) {
        for (const std::size_t item : columns_[c]) items_[item].y += top - least;
      }
      bottoms_.push_back(top + most - least);
      top = bottoms_.back() + kGutter;
    }
    lanes_.resize(bottoms_.size(), 0);
  }

  // From the right end of one item to the left end of the next.
  std::string piece(std::size_t from, std::size_t to) {
    const double x = x_of(from) + GraphLayout::kNodeWidth, y = items_[from].y;
    const double end_x = x_of(to), end_y = items_[to].y;
    if (row_of(from) == row_of(to)) {
      if (y == end_y) return cat("L", px(end_x), " ", px(end_y));
      const double middle = (x + end_x) / 2;
      return cat("C", px(middle), " ", px(y), " ", px(middle), " ", px(end_y), " ", px(end_x), " ",
                 px(end_y));
    }
    const double lane = 8 + 4 * (lanes_[row_of(from)]++ % 5);
    const double right = x_of(from) + GraphLayout::kNodeWidth + lane;
    const double below = bottoms_[row_of(from)] + lane;
    return cat("L", px(right), " ", px(y), "L", px(right), " ", px(below), "L", px(kMargin - lane),
               " ", px(below), "L", px(kMargin - lane), " ", px(end_y), "L", px(end_x), " ",
               px(end_y));
  }

  std::string path_of(const std::vector<std::size_t>& path) {
    std::string out =
        cat("M", px(x_of(path.front()) + GraphLayout::kNodeWidth), " ", px(items_[path.front()].y));
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      out += piece(path[i], path[i + 1]);
      const bool passes = i + 2 < path.size();
      if (passes) out += cat("H", px(x_of(path[i + 1]) + GraphLayout::kNodeWidth));
    }
    return out;
  }

  GraphLayout result() {
    GraphLayout out;
    for (std::size_t node = 0; node < nodes_; ++node)
      out.nodes.push_back({x_of(node), items_[node].y - GraphLayout::kNodeHeight / 2});
    for (const std::vector<std::size_t>& path : paths_) out.edges.push_back(path_of(path));
    const auto widest = static_cast<double>(std::min(per_row_, columns_.size()));
    out.width =
        columns_.empty() ? 0 : 2 * kMargin + widest * kPitch - kPitch + GraphLayout::kNodeWidth;
    out.height = bottoms_.empty() ? 0 : bottoms_.back() + 4;
    return out;
  }

  std::size_t per_row_;
  std::size_t nodes_;
  std::vector<Item> items_;                        // the nodes first
  std::vector<std::vector<std::size_t>> columns_;  // items from above
  std::vector<std::vector<std::size_t>> paths_;    // one for each edge
  std::vector<double> bottoms_;                    // of the rows
  std::vector<int> lanes_;                         // taken by edges to the next row
};

}  // namespace

std::size_t passing_places(std::size_t nodes, const std::vector<GraphEdge>& edges) {
  const std::vector<std::size_t> columns = columns_of(nodes, edges);
  return std::accumulate(edges.begin(), edges.end(), std::size_t{0},
                         [&](std::size_t sum, const GraphEdge& edge) {
                           return sum + columns[edge.to] - columns[edge.from] - 1;
                         });
}

GraphLayout lay_out(std::size_t nodes, const std::vector<GraphEdge>& edges, std::size_t columns) {
  return Layout(nodes, edges, columns).run();
}

}  // namespace etch
