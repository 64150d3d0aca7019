// See prefetch.h.
#include "compiler/schedule/prefetch.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace etch {

namespace {

// Half of the L2 cache of common cores with wide vectors; activations need some of it.
constexpr std::int64_t kNear = 512 * 1024;

std::int64_t constant_bytes_of(const Program& program) {
  std::map<std::pair<int, std::string>, std::size_t> largest;  // bands of a node share theirs
  for (const auto& step : program.steps) {
    for (const ConstantArray& constant : step->constants) {
      std::size_t& bytes = largest[{step->node, constant.suffix}];
      bytes = std::max(bytes, constant.bytes.size());
    }
  }
  std::size_t sum = 0;
  for (const auto& [name, bytes] : largest) sum += bytes;
  return static_cast<std::int64_t>(sum);
}

}  // namespace

void prefetch_weights(Program& program) {
  // Processors without vectors seldom have more than one level of caches.
  if (!program.isa.vectorized || constant_bytes_of(program) <= kNear) return;
  for (const auto& step : program.steps) step->prefetch_weights(program.isa);
}

}  // namespace etch
