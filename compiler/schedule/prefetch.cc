// See prefetch.h.
#include "compiler/schedule/prefetch.h"

#include <cstdint>

#include "compiler/steps/conv.h"

namespace etch {

namespace {

// Half of the L2 cache of common cores with wide vectors; activations need some of it.
constexpr std::int64_t kNear = 512 * 1024;

std::int64_t constant_bytes_of(const Program& program) {
  std::int64_t sum = 0;
  for (const auto& step : program.steps) {
    for (const ConstantArray& constant : step->constants)
      sum += static_cast<std::int64_t>(constant.bytes.size());
  }
  return sum;
}

}  // namespace

void prefetch_weights(Program& program) {
  // Processors without vectors seldom have more than one level of caches.
  if (!program.isa.vectorized || constant_bytes_of(program) <= kNear) return;
  for (const auto& step : program.steps) {
    auto* const conv = dynamic_cast<ConvStep*>(step.get());
    if (conv == nullptr || conv->plan.order != LoopOrder::kChannelsOutside) continue;
    if (conv->plan.start_is_operand) continue;
    conv->plan.prefetch = true;
    conv->header = "etch_prefetch.h";
    conv->schedule += ", prefetches";
  }
}

}  // namespace etch
