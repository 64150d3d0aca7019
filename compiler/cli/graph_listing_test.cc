// The tables that `etch inspect` prints.
#include "compiler/cli/graph_listing.h"

#include <gtest/gtest.h>

#include "tests/support/model_builder.h"

namespace etch::cli {
namespace {

using Lines = std::vector<std::string>;

// x -> Add with a constant -> Relu 'last'
ModelBuilder small_model() {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 2});
  model.initializer("c", Tensor::of<float>({2}, {1, 2}));
  model.node("Add", {"x", "c"}, {"y"});
  model.node("Relu", {"y"}, {"z"});
  model.node_name("la\nst");
  model.output("z");
  return model;
}

TEST(GraphListing, AlignsOneLinePerNode) {
  Sink sink;
  const auto graph = load(small_model(), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(table_of(list_nodes(*graph, *graph)),
            (Lines{"  #  operator  output         reads    constants  name",
                   "  0  Add       float32[1, 2]  input 0  1",
                   "  1  Relu      float32[1, 2]  #0       -          la\\x0ast"}));
}

TEST(GraphListing, TakesMissingTypesFromTheOtherGraph) {
  Sink sink;
  const auto imported = import_graph(small_model(), sink);
  const auto typed = load(small_model(), sink);
  ASSERT_TRUE(imported && typed) << errors_of(sink);
  EXPECT_EQ(list_nodes(*imported, *typed)[0].output, "float32[1, 2]");
  EXPECT_EQ(list_nodes(*imported, *imported)[0].output, "?[?]");
}

TEST(GraphListing, CountsWhatWasFusedAndNamesWhatWasNot) {
  FusionLog log;
  Node node;
  node.op_type = "Conv";
  for (node.index = 0; node.index < 2; ++node.index) log.fused(node, "became QLinearConv");
  node.index = 5;
  node.name = "c5";
  log.missed(node, "int16");
  EXPECT_EQ(lines_of(log),
            (Lines{"fused", "  2\tConv became QLinearConv", "not fused", "  #5 Conv 'c5': int16"}));
  EXPECT_EQ(lines_of(FusionLog()),
            (Lines{"fused         nothing", "not fused     nothing that is quantized"}));
}

}  // namespace
}  // namespace etch::cli
