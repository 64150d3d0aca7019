// What a pass leaves of a model, as the names of its operators.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/model_builder.h"

namespace etch {

// Of the resolved graph of `model` after pass(graph), in order, one space between them.
template <class Pass>
std::string operators_after(const ModelBuilder& model, Pass pass) {
  Sink sink;
  auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  if (!graph) return {};
  pass(*graph);
  verify(*graph, Resolved::kYes);
  std::string out;
  for (const Node& node : graph->nodes) out += (out.empty() ? "" : " ") + node.op_type;
  return out;
}

}  // namespace etch
