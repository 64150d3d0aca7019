// See result_limits.h.
#include "compiler/ops/result_limits.h"

#include "compiler/base/text.h"

namespace etch {

std::optional<ResultLimits> read_result_limits(ResolveContext& context, DType type) {
  const std::int64_t least = min_of(type), most = max_of(type);
  const bool fused = context.node().domain == kEtch;
  const std::int64_t low = fused ? context.int_attr("clamp_low", least) : least;
  const std::int64_t high = fused ? context.int_attr("clamp_high", most) : most;
  if (low < least || high > most || low > high) {
    context.attr_error("clamp_low", cat("and clamp_high must be a range within ", name_of(type),
                                        ", got ", low, " and ", high));
    return std::nullopt;
  }
  return ResultLimits{static_cast<int>(low), static_cast<int>(high)};
}

}  // namespace etch
