// Equal arrays of constants are kept once, whichever nodes they are of.
#include "compiler/schedule/share_code.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/program/constants.h"
#include "tests/support/idle_step.h"

namespace etch {
namespace {

class ShareCode : public testing::Test {
 protected:
  // A step of its own node with one array of floats; the step's number.
  std::size_t add(const std::string& suffix, const std::vector<float>& values) {
    auto step = std::make_unique<IdleStep>();
    step->node = static_cast<int>(program_.steps.size());
    step->name = "n" + std::to_string(step->node);
    step->constants.push_back(float_array(suffix, values, "values"));
    program_.steps.push_back(std::move(step));
    return program_.steps.size() - 1;
  }
  std::string owner(std::size_t step) const { return program_.steps[step]->constants[0].owner; }

  Program program_;
};

TEST_F(ShareCode, EqualArraysOfOtherNodesAreTheFirstOnes) {
  const std::vector<float> weights(16, 0.5F);  // 64 bytes
  std::vector<float> others = weights;
  others.back() = 0.25F;
  const std::size_t first = add("weights", weights);
  const std::size_t different = add("weights", others);
  const std::size_t second = add("weights", weights);
  const std::size_t third = add("weights", weights);
  share_code(program_);
  EXPECT_EQ(owner(first), "");
  EXPECT_EQ(owner(different), "");
  EXPECT_EQ(owner(second), "n0");
  EXPECT_EQ(owner(third), "n0");
}

TEST_F(ShareCode, AnotherSuffixOrTypeIsAnotherArray) {
  add("weights", std::vector<float>(16, 0));
  const std::size_t named = add("table", std::vector<float>(16, 0));
  const std::size_t typed = add("weights", {});
  program_.steps[typed]->constants[0] = int32_array("weights", std::vector<std::int32_t>(16), "");
  share_code(program_);
  EXPECT_EQ(owner(named), "");
  EXPECT_EQ(owner(typed), "");
}

TEST_F(ShareCode, ArraysOfLessThanACacheLineStayWithTheirStep) {
  add("scale", std::vector<float>(15, 1));
  const std::size_t other = add("scale", std::vector<float>(15, 1));
  const std::size_t same_node = add("scale", std::vector<float>(15, 1));
  program_.steps[same_node]->node = program_.steps[other]->node;
  program_.steps[same_node]->kind = "another";  // no candidates for one function
  share_code(program_);
  EXPECT_EQ(owner(other), "");
  EXPECT_EQ(owner(same_node), "n1");
}

// Bands of a layer whose weights an earlier layer has: the second band calls the first one's
// function, which reads the array of the earlier layer.
TEST_F(ShareCode, StepsThatShareCodeNameTheOwnerOfItsArrays) {
  const std::vector<float> weights(16, 0.5F);
  add("weights", weights);
  const std::size_t band = add("weights", weights);
  const std::size_t next = add("weights", weights);
  program_.steps[next]->node = program_.steps[band]->node;
  share_code(program_);
  EXPECT_EQ(program_.steps[next]->called(), "n1");
  EXPECT_EQ(owner(band), "n0");
  EXPECT_EQ(owner(next), "n0");
}

}  // namespace
}  // namespace etch
