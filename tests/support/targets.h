// Which targets a test runs on. A test asks for all and names those that it leaves out, and why: so
// a new instruction set is in every test that nobody has excluded it from. tests/house finds lists
// of names instead.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/targets/targets.h"

namespace etch {

struct LeftOut {
  std::string_view target;
  std::string_view reason;
};

// The names of all_targets() but those. Throws when one of them is none of these targets or has no
// reason.
std::vector<const char*> all_targets_but(std::initializer_list<LeftOut> left_out);

// The names of those among all_targets() that fulfil a condition. Throws when there are none.
std::vector<const char*> targets_where(bool (*wanted)(const IsaTraits&));

// Whatever plans differently: all_targets(), and one target for each vocabulary and kind of kernels
// in assembly, which the Native stage runs in their portable form.
std::vector<const IsaTraits*> plans();

// The names of the cross targets that are the first with their kind of kernels in assembly, but
// those that are left out.
std::vector<const char*> one_for_each_assembly_but(std::initializer_list<LeftOut> left_out);

// The name of a test on a target: "avx2", "cortex_m4".
std::string name_of_target(const testing::TestParamInfo<const char*>& each);

}  // namespace etch
