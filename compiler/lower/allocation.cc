// Lowering, third part: the memory of each result, which is the caller's where that fits what later
// steps read, and the arena otherwise.
#include <algorithm>
#include <any>

#include "compiler/ir/geometry/strided.h"
#include "compiler/lower/halo.h"
#include "compiler/lower/lowering.h"

namespace etch {

// Later steps may read what is in an output as they read an input: at addresses that are aligned to
// elements only, which vectors of int32 do not take. A halo would be outside the caller's memory:
// rows of one line are contiguous with a halo, too.
bool Lowering::can_write_output(ValueId id, const View& view) const {
  const bool is_output = std::count(graph_.outputs.begin(), graph_.outputs.end(), id) == 1;
  const bool readable = view.dtype == DType::kF32 || view.dtype == DType::kU8;
  return is_output && (readable || consumers_[static_cast<std::size_t>(id)].empty()) &&
         !view.flipped && !has_halo(view) && is_contiguous(view, row_major(view.rank()));
}

namespace {
// What value `id` becomes where nothing but its shape changes any more.
ValueId relabelled(const Graph& graph, const std::vector<std::vector<int>>& consumers, ValueId id) {
  for (;;) {
    const std::vector<int>& readers = consumers[static_cast<std::size_t>(id)];
    if (readers.size() != 1 || std::ranges::count(graph.outputs, id) > 0) return id;
    const Node& reader = graph.nodes[static_cast<std::size_t>(readers[0])];
    if (std::any_cast<Relabel>(&reader.params) == nullptr || reader.inputs[0] != id) return id;
    id = reader.outputs[0];
  }
}
}  // namespace

View Lowering::allocate(ValueId id, const Order& order, DType stored, bool flipped, Halo wanted,
                        As as) {
  View view;
  view.dtype = stored;
  view.flipped = flipped;
  view.shape = *value(id).shape;
  const std::optional<HaloWish>& halo = plans_[static_cast<std::size_t>(id)].halo;
  const bool with_halo = halo && stored == DType::kU8 && wanted == Halo::kAsWished;
  if (with_halo) {
    view.halo_begin = halo->begin;
    view.halo_end = halo->end;
    view.halo_value = halo->value;
    view.halo_source = halo->source;
  }
  const std::int64_t bytes = lay_out(view, order);
  const ValueId output = relabelled(graph_, consumers_, id);
  if (as == As::kResult && can_write_output(output, view)) {
    const auto port =
        std::find(graph_.outputs.begin(), graph_.outputs.end(), output) - graph_.outputs.begin();
    view.buffer = add_buffer(Home::kOutput, static_cast<int>(port), bytes);
    return view;
  }
  view.buffer = add_buffer(Home::kArena, -1, bytes);
  if (with_halo && has_halo(view)) {
    if (halo->source < 0) {
      unfilled_[view.buffer] = {view, halo->value};
    } else {
      unfilled_at_run_time_.insert(view.buffer);
    }
  }
  return view;
}

}  // namespace etch
