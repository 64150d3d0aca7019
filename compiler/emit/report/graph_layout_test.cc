// Layouts: nodes do not overlap, follow those that they read, and an edge begins and ends at its
// nodes, in chains, diamonds and seeded random graphs.
#include "compiler/emit/report/graph_layout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace etch {
namespace {

using Point = GraphLayout::Point;

bool overlap(const Point& a, const Point& b) {
  return std::abs(a.x - b.x) < GraphLayout::kNodeWidth &&
         std::abs(a.y - b.y) < GraphLayout::kNodeHeight;
}

// The first numbers of a path: where it begins. The last: where it ends.
Point begin_of(const std::string& path) {
  char* rest = nullptr;
  const double x = std::strtod(path.c_str() + 1, &rest);
  return {x, std::strtod(rest, nullptr)};
}
Point end_of(const std::string& path) {
  const std::size_t y = path.rfind(' ');
  const std::size_t x = path.find_last_of("ML ", y - 1);
  return {std::strtod(path.c_str() + x + 1, nullptr), std::strtod(path.c_str() + y, nullptr)};
}

void check(std::size_t nodes, const std::vector<GraphEdge>& edges, std::size_t columns) {
  const GraphLayout layout = lay_out(nodes, edges, columns);
  ASSERT_EQ(layout.nodes.size(), nodes);
  for (std::size_t a = 0; a < nodes; ++a) {
    EXPECT_GE(layout.nodes[a].x, 0);
    EXPECT_GE(layout.nodes[a].y, 0);
    EXPECT_LE(layout.nodes[a].x + GraphLayout::kNodeWidth, layout.width);
    EXPECT_LE(layout.nodes[a].y + GraphLayout::kNodeHeight, layout.height);
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_FALSE(overlap(layout.nodes[a], layout.nodes[b])) << a << " and " << b;
    }
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const Point &from = layout.nodes[edges[e].from], &to = layout.nodes[edges[e].to];
    const Point begin = begin_of(layout.edges[e]), end = end_of(layout.edges[e]);
    EXPECT_NEAR(begin.x, from.x + GraphLayout::kNodeWidth, 0.1) << layout.edges[e];
    EXPECT_NEAR(begin.y, from.y + GraphLayout::kNodeHeight / 2, 0.1) << layout.edges[e];
    EXPECT_NEAR(end.x, to.x, 0.1) << layout.edges[e];
    EXPECT_NEAR(end.y, to.y + GraphLayout::kNodeHeight / 2, 0.1) << layout.edges[e];
  }
}

TEST(GraphLayout, HasNoSizeWithoutNodes) {
  const GraphLayout layout = lay_out(0, {}, 7);
  EXPECT_EQ(layout.width, 0);
  EXPECT_EQ(layout.height, 0);
}

TEST(GraphLayout, PutsAChainIntoRowsLikeText) {
  check(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 3);
  const GraphLayout layout = lay_out(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 3);
  EXPECT_EQ(layout.nodes[0].y, layout.nodes[2].y);
  EXPECT_LT(layout.nodes[1].x, layout.nodes[2].x);
  EXPECT_EQ(layout.nodes[0].x, layout.nodes[3].x);
  EXPECT_GT(layout.nodes[3].y, layout.nodes[2].y);
}

TEST(GraphLayout, PutsWhatFollowsNothingJustBeforeItsReader) {
  const GraphLayout layout = lay_out(4, {{0, 2}, {1, 3}, {2, 3}}, 7);
  EXPECT_EQ(layout.nodes[1].x, layout.nodes[2].x);
}

TEST(GraphLayout, LeavesAPlaceInEveryColumnThatAnEdgePasses) {
  const std::vector<GraphEdge> edges = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  EXPECT_EQ(passing_places(4, edges), 2U);
  check(4, edges, 7);
}

TEST(GraphLayout, HoldsForRandomGraphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    const std::size_t nodes = 2 + random() % 30;
    std::vector<GraphEdge> edges;
    for (std::size_t to = 1; to < nodes; ++to) {
      edges.push_back({to - 1 - random() % std::min<std::size_t>(to, 3), to});
      if (random() % 3 == 0) edges.push_back({random() % to, to});
    }
    check(nodes, edges, 1 + random() % 8);
  }
}

}  // namespace
}  // namespace etch
