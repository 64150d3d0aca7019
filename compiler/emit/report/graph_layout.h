// Where to draw the nodes and edges of a graph: in columns from left to right, each node in a
// column after those it follows, and the columns in rows like lines of text, so that a long network
// can be read without scrolling sideways. The same graph gives the same picture.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace etch {

struct GraphEdge {
  std::size_t from = 0, to = 0;  // from < to
};

struct GraphLayout {
  static constexpr double kNodeWidth = 128, kNodeHeight = 40;

  struct Point {
    double x = 0, y = 0;
  };
  std::vector<Point> nodes;        // their left upper corners
  std::vector<std::string> edges;  // what "d" of an SVG path says
  double width = 0, height = 0;
};

// Null-sized without nodes. `columns` are those of a row, at least one.
GraphLayout lay_out(std::size_t nodes, const std::vector<GraphEdge>& edges, std::size_t columns);

// How many places in columns the edges pass by nodes on: what the time of lay_out() grows with.
std::size_t passing_places(std::size_t nodes, const std::vector<GraphEdge>& edges);

}  // namespace etch
