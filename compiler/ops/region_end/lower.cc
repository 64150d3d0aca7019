// Lowering of the end of a Loop, Scan or If: what a trip leaves to the next one and to what
// follows.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/kernels/control/control.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/lowering.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_end/op.h"

namespace etch {

namespace {
constexpr const char* kNext = "what the next trip begins with";

// The slice that output `out` gets in this trip from input `i`.
void put_slice(Lowering& lowering, const Node& node, const RegionEnd& params, int i, int out) {
  const Shape& shape = *lowering.value(node.inputs[as_index(i)]).shape;
  const auto& slices = params.slices[as_index(out - params.carried)];
  auto step = std::make_unique<PutSliceStep>();
  step->kind = "slice";
  step->summary = cat("one of ", counted(params.trips, "slice"), " of the result");
  StepArguments arguments(lowering, node, *step);
  const int rank = static_cast<int>(shape.size());
  View x = lowering.contiguous(node, i, row_major(rank));
  x.dtype = DType::kU8;
  const View& trip = lowering.view(node, 0);
  PutSlicePlan& plan = step->plan;
  plan.x = arguments.memory(x, "x").argument;
  plan.trip = arguments.memory(trip, "trip").argument.operand;
  View y = lowering.new_dense_output(node, out, row_major(rank + 1));
  y.dtype = DType::kU8;
  plan.y = arguments.output("y", y);
  const Shape before(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(slices.axis));
  const std::int64_t bytes =
      element_count(shape) * bytes_of(*lowering.value(node.inputs[as_index(i)]).dtype);
  plan.outer = static_cast<int>(element_count(before));
  plan.size = static_cast<int>(params.trips);
  plan.bytes = static_cast<int>(bytes / plan.outer);
  plan.reversed = slices.reversed ? 1 : 0;
  arguments.add(std::move(step));
}

bool same_memory(const View& a, const View& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.stride == b.stride;
}

// Inputs from `first` on become the next trip's `states`. Those that read another state, or this
// one in another order, are moved out of the way before any is overwritten.
void carry(Lowering& lowering, const Node& node, const std::vector<View>& states, int first) {
  const auto is_state = [&](const View& view) {
    return std::ranges::any_of(states, [&](const View& s) { return s.buffer == view.buffer; });
  };
  std::vector<std::pair<View, std::size_t>> moved;
  std::vector<std::size_t> direct;
  for (std::size_t k = 0; k < states.size(); ++k) {
    const int i = first + static_cast<int>(k);
    if (lowering.is_constant(node, i)) {
      direct.push_back(k);
      continue;
    }
    const View from = lowering.view(node, i);
    if (same_memory(from, states[k])) continue;
    if (!is_state(from)) {
      direct.push_back(k);
      continue;
    }
    View aside = lowering.scratch(states[k].dtype, element_count(states[k].shape));
    aside.shape = states[k].shape;
    aside.flipped = states[k].flipped;
    lay_out(aside, row_major(aside.rank()));
    lowering.copy_view(node, from, aside, "set aside, its memory is about to change");
    moved.emplace_back(aside, k);
  }
  for (const std::size_t k : direct)
    lowering.copy_to(node, first + static_cast<int>(k), states[k], kNext);
  for (const auto& [view, k] : moved) lowering.copy_view(node, view, states[k], kNext);
}

void add_next_trip(Lowering& lowering, const Node& node) {
  auto step = std::make_unique<NextTripStep>();
  step->kind = "trip";
  step->summary = "count the trip";
  const View trip = lowering.view(node, 0);
  lowering.add(node, std::move(step), {{"trip", &trip}}, 0, 1);
}

// Where the results of a branch go: of the first new memory, of the second that of the first.
void give_results(Lowering& lowering, const Node& node, const RegionEnd& params) {
  const int carried = static_cast<int>(params.carried);
  const int first = 2 + static_cast<int>(params.previous);
  std::vector<View> results;
  for (int k = 0; k < carried; ++k) {
    const int rank = static_cast<int>(lowering.value(node.outputs[as_index(k)]).shape->size());
    const View y = params.previous > 0 ? lowering.view(node, 2 + k)
                                       : lowering.new_dense_output(node, k, row_major(rank));
    lowering.copy_to(node, first + k, y, "the result of the branch");
    results.push_back(y);
  }
  lowering.end_region();
  for (int k = 0; k < carried; ++k) lowering.set_view(node, k, results[as_index(k)]);
}

void end_loop(Lowering& lowering, const Node& node, const RegionEnd& params) {
  const int carried = static_cast<int>(params.carried);
  const int first = 2 + carried;
  for (int k = 0; k < static_cast<int>(params.slices.size()); ++k) {
    const int out = carried + k;
    if (as_index(out) < node.outputs.size() && node.outputs[as_index(out)] != kNoValue)
      put_slice(lowering, node, params, first + out, out);
  }
  if (node.inputs[1] != kNoValue) {
    View flag = lowering.view(node, 1);
    flag.buffer = lowering.innermost_region().flag;
    flag.offset = 0;
    lowering.copy_to(node, 1, flag, "whether there is another trip");
  }
  std::vector<View> states;
  states.reserve(static_cast<std::size_t>(carried));
  for (int k = 0; k < carried; ++k) states.push_back(lowering.view(node, 2 + k));
  carry(lowering, node, states, first);
  add_next_trip(lowering, node);  // last: what the region reads lives up to here
  lowering.end_region();
  for (int k = 0; k < carried; ++k) {
    if (node.outputs[as_index(k)] != kNoValue) lowering.set_view(node, k, states[as_index(k)]);
  }
}
}  // namespace

void lower_region_end(Lowering& lowering, const Node& node) {
  const auto& params = params_of<RegionEnd>(node);
  if (params.is_branch) return give_results(lowering, node, params);
  end_loop(lowering, node, params);
}

}  // namespace etch
