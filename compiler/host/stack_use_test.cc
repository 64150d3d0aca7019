// The deepest path through a call graph as gcc writes it.
#include "compiler/host/stack_use.h"

#include <gtest/gtest.h>

namespace etch::cli {
namespace {

constexpr std::string_view kGraph =
    "graph: { title: \"net.cc\"\n"
    "node: { title: \"run\" label: \"void run()\\nnet.cc:1:6\\n24 bytes (static)\" }\n"
    "node: { title: \"step\" label: \"void step()\\nstep.h:1:6\" shape : ellipse }\n"
    "edge: { sourcename: \"run\" targetname: \"step\" label: \"net.cc:2:3\" }\n"
    "edge: { sourcename: \"run\" targetname: \"other\" label: \"net.cc:3:3\" }\n"
    "node: { title: \"leaf\" label: \"void leaf()\\nnet.cc:9:6\\n8 bytes (static)\" }\n"
    "edge: { sourcename: \"other\" targetname: \"leaf\" }\n"
    "node: { title: \"other\" label: \"void other()\\nnet.cc:8:6\\n100 bytes (static)\" }\n"
    "}\n";

CallGraph graph(std::string_view more) {
  CallGraph out;
  out.add(kGraph);
  out.add(more);
  return out;
}

std::string step(std::string_view frame) {
  return "node: { title: \"step\" label: \"void step()\\nstep.cc:5:6\\n" + std::string(frame) +
         "\" }\n";
}

TEST(StackUse, IsTheDeepestPathThroughAllFiles) {
  EXPECT_EQ(graph(step("200 bytes (static)")).deepest("run"), 224);
  EXPECT_EQ(graph(step("50 bytes (static)")).deepest("run"), 132);
  EXPECT_EQ(graph({}).deepest("leaf"), 8);
}

TEST(StackUse, CountsTheCompilersLibraryAsWhatItMayUse) {
  for (const char* name : {"memset", "__aeabi_dmul", "__muldf3", "__ashldi3", "__floatsisf"}) {
    const std::string call =
        std::string("edge: { sourcename: \"step\" targetname: \"") + name + "\" }\n";
    EXPECT_EQ(graph(step("50 bytes (static)") + call).deepest("run"), 24 + 50 + kLibraryStack)
        << name;
  }
}

TEST(StackUse, TakesTheFramesOfFunctionsInAssemblyFromWhoWroteThem) {
  CallGraph naked = graph(step("4 bytes (static)") +
                          "edge: { sourcename: \"step\" targetname: \"_ZN3net5steps3dspEPKh\" }\n"
                          "node: { title: \"_ZN3net5steps3dspEPKh\" label: \"void "
                          "net::steps::dsp(const uint8_t*)\\nnet.cc:9:6\\n0 bytes (static)\" }\n");
  EXPECT_EQ(naked.deepest("run"), 24 + 108);  // by way of other
  naked.set_frame("dsp", 200);
  EXPECT_EQ(naked.deepest("run"), 24 + 4 + 200);
  naked.set_frame("sp", 9999);  // another name
  EXPECT_EQ(naked.deepest("run"), 24 + 4 + 200);
}

TEST(StackUse, CountsWhatGccLeavesOutWhereAFunctionTakesAStructure) {
  const auto deepest = [](std::string_view name) {
    CallGraph graph;
    graph.add("node: { title: \"f\" label: \"" + std::string(name) +
              "\\nf.h:1:6\\n8 bytes (static)\" }\n");
    return graph.deepest("f");
  };
  for (const char* none : {"void f()", "int32_t f(const Shape&, int32_t, float)",
                           "void f(const T*, int32_t) [with T = Row; Map = rt::g(Row)]",
                           "g<rt::f(Row)::<lambda(Row)> >(const float (&)[4], ptrdiff_t)", "f"}) {
    EXPECT_EQ(deepest(none), 8) << none;
  }
  for (const char* one :
       {"void f(Row)", "void f(const Shape&, RowOf<float>, int32_t)",
        "void f(float*, Row) [with A = B]", "void f(int32_t, f()::<lambda(int32_t)>)"}) {
    EXPECT_EQ(deepest(one), 8 + kSplitStructure) << one;
  }
}

TEST(StackUse, HasNoBoundWhereSomethingIsNotKnown) {
  EXPECT_EQ(graph({}).deepest("run"), std::nullopt) << "no frame of step";
  EXPECT_EQ(graph({}).deepest("nobody"), std::nullopt);
  EXPECT_EQ(graph(step("50 bytes (dynamic)")).deepest("run"), std::nullopt);
  EXPECT_EQ(graph(step("x bytes (static)")).deepest("run"), std::nullopt);
  for (const char* name : {"run", "step", "malloc", "expf", "__indirect_call"}) {
    const std::string call =
        std::string("edge: { sourcename: \"step\" targetname: \"") + name + "\" }\n";
    EXPECT_EQ(graph(step("50 bytes (static)") + call).deepest("run"), std::nullopt) << name;
  }
}

TEST(StackUse, IgnoresWhatIsNoGraph) {
  CallGraph nothing;
  nothing.add("node: {\nedge:\nnode: { title: \"a");
  EXPECT_EQ(nothing.deepest("a"), std::nullopt);
}

}  // namespace
}  // namespace etch::cli
