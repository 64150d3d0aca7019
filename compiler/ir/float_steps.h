// How the sums of float products take the next product (`--float-products`): the choice for a whole
// network, which reference functions and kernels follow alike. docs/decisions/0008 says which
// operators have such sums and what each way costs.
#pragma once

#include <string_view>

namespace etch {

enum class FloatSteps {
  kSeparate,  // the product is rounded, then the sum
  kFused      // the sum of both is rounded once
};

// For people, after "sums in order of ...".
inline std::string_view how_rounded(FloatSteps steps) {
  return steps == FloatSteps::kFused ? "each product and sum rounded as one" : "each step rounded";
}

}  // namespace etch
