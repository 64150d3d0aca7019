// A target without an instruction for fused steps is named, once and only where a network has them.
#include "compiler/lower/fused_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

std::string warnings_of_product(std::string_view target, FloatSteps steps) {
  ModelBuilder model(13);
  model.input("a", DType::kF32, {2, 3}).initializer("b", Tensor(DType::kF32, {3, 4}));
  model.node("MatMul", {"a", "b"}, {"y"}).output("y");
  CompileOptions options;
  options.target = target;
  options.float_steps = steps;
  Sink sink;
  EXPECT_NE(compile(model.bytes(), options, sink), nullptr);
  std::string out;
  for (const Diagnostic& each : sink.sorted()) {
    if (each.severity == Severity::kWarning) out += each.message;
  }
  return out;
}

std::string warning_of(std::string_view target) {
  return cat(target,
             " has no instruction for fused products and sums, and 24 products of floats with "
             "--float-products fused are computed by several (exact, but slow); --float-products "
             "separate is fast");
}

TEST(FusedSteps, AreWarnedOfWhereTheyAreComputedBySeveral) {
  EXPECT_EQ(warnings_of_product("sse41", FloatSteps::kFused), warning_of("sse41"));
  EXPECT_EQ(warnings_of_product("sse41", FloatSteps::kSeparate), "");
}

TEST(FusedSteps, AreWarnedOfForEachCpuThatAFolderIsFor) {
  EXPECT_EQ(warnings_of_product("x86-64-multi", FloatSteps::kFused),
            warning_of("sse41") + warning_of("scalar"));
}

TEST(FusedSteps, AreAnInstructionOfSomeTargets) {
  int with = 0, without = 0;
  for (const IsaTraits* const isa : plans()) {
    const std::string warnings = warnings_of_product(isa->name, FloatSteps::kFused);
    EXPECT_EQ(warnings.find("has no instruction for fused") == std::string::npos, isa->fused_steps)
        << isa->name;
    ++(isa->fused_steps ? with : without);
  }
  EXPECT_GT(with, 5);
  EXPECT_GT(without, 5);
}

}  // namespace
}  // namespace etch
