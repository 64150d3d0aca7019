// Compares what the Recorder prints; see share_code.h.
#include "compiler/schedule/share_code.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/stage/recording.h"

namespace etch {

namespace {

bool same_array(const ConstantArray& x, const ConstantArray& y) {
  return x.suffix == y.suffix && x.element == y.element && x.bytes == y.bytes;
}

bool same_constants(const Step& a, const Step& b) {
  if (a.constants.size() != b.constants.size()) return false;
  for (std::size_t i = 0; i < a.constants.size(); ++i) {
    if (!same_array(a.constants[i], b.constants[i])) return false;
  }
  return true;
}

// Smaller arrays stay beside the others of their step; those of one node are shared whatever their
// size is.
constexpr std::size_t kCacheLine = 64;

// Makes the first step that has an array the owner of all that are equal to it: layers that a
// network repeats, or a loop that its exporter unrolled, read one copy of their weights. Steps that
// share code name owners too, as the step with their function may own none of its arrays.
void share_arrays(Program& program) {
  using Key = std::tuple<int, std::string_view, DType, std::string_view>;
  std::map<Key, std::string_view> owners;  // by node, suffix, type and bytes
  for (const auto& step : program.steps) {
    for (ConstantArray& constant : step->constants) {
      const std::string_view bytes(reinterpret_cast<const char*>(constant.bytes.data()),
                                   constant.bytes.size());
      const int node = bytes.size() < kCacheLine ? step->node : -1;
      const auto [owner, is_first] =
          owners.try_emplace({node, constant.suffix, constant.element, bytes}, step->name);
      if (!is_first) constant.owner = owner->second;
    }
  }
}

}  // namespace

void share_code(Program& program) {
  std::map<std::pair<int, std::string>, std::vector<Step*>> alike;  // by node and kind
  for (const auto& step : program.steps) alike[{step->node, step->kind}].push_back(step.get());
  for (auto& [key, steps] : alike) {
    if (steps.size() < 2) continue;
    std::map<std::string, Step*> known;
    for (Step* const step : steps) {
      const auto [first, inserted] = known.emplace(nameless_code(*step, program.isa), step);
      if (!inserted && same_constants(*first->second, *step)) step->function = first->second->name;
    }
  }
  share_arrays(program);
}

}  // namespace etch
