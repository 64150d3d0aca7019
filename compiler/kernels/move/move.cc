// Building of moves; see move.h.
#include "compiler/kernels/move/move.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/nest.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(MoveStep);

AxisMap identity_map(std::int64_t size) {
  AxisMap map(static_cast<std::size_t>(size));
  std::iota(map.begin(), map.end(), std::int64_t{0});
  return map;
}

namespace {

constexpr std::size_t kMostParts = 8;  // rectangles that a map may be cut into
constexpr std::size_t kMostLoops = 7;  // that a nest may have
constexpr std::size_t kTables = std::extent_v<decltype(rt::Picked::n)>;

// Positions along an axis of output and input that advance evenly: two loops, the second inside.
struct AxisPart {
  std::int64_t x_first = 0, y_first = 0;
  struct Loop {
    std::int64_t count = 1, x_step = 0, y_step = 0;
  } loops[2];
};

// From `first`, how many positions follow one another by the same step, which must not be
// negative; at least one.
std::int64_t even_length(const AxisMap& map, std::size_t first) {
  if (first + 1 >= map.size() || map[first + 1] < map[first]) return 1;
  std::size_t end = first + 2;
  while (end < map.size() && map[end] - map[end - 1] == map[first + 1] - map[first]) ++end;
  return static_cast<std::int64_t>(end - first);
}

// The whole axis as even runs of equal length that themselves advance evenly.
std::optional<AxisPart> one_part(const AxisMap& map) {
  const auto size = static_cast<std::int64_t>(map.size());
  const std::int64_t inner = even_length(map, 0);
  if (size % inner != 0) return std::nullopt;
  AxisPart part;
  part.x_first = map[0];
  part.loops[1] = {inner, inner > 1 ? map[1] - map[0] : 0, 1};
  const std::int64_t step = inner < size ? map[static_cast<std::size_t>(inner)] - map[0] : 0;
  part.loops[0] = {size / inner, step, inner};
  if (step < 0) return std::nullopt;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t expected = map[0] + i / inner * step + i % inner * part.loops[1].x_step;
    if (map[static_cast<std::size_t>(i)] != expected) return std::nullopt;
  }
  return part;
}

// The axis as few even parts; nothing when there are too many.
std::optional<std::vector<AxisPart>> parts_of(const AxisMap& map) {
  if (const auto whole = one_part(map)) return std::vector<AxisPart>{*whole};
  std::vector<AxisPart> parts;
  for (std::size_t at = 0; at < map.size();) {
    const std::int64_t count = even_length(map, at);
    AxisPart part;
    part.x_first = map[at];
    part.y_first = static_cast<std::int64_t>(at);
    part.loops[1] = {count, count > 1 ? map[at + 1] - map[at] : 0, 1};
    parts.push_back(part);
    if (parts.size() > kMostParts) return std::nullopt;
    at += static_cast<std::size_t>(count);
  }
  return parts;
}

bool is_single(const std::vector<AxisPart>& parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [](const AxisPart& part) { return part.loops[0].count == 1; });
}

// Parts of every axis, or nothing when their combinations are too many.
std::optional<std::vector<std::vector<AxisPart>>> rectangles(const std::vector<AxisMap>& maps) {
  std::vector<std::vector<AxisPart>> out;
  std::size_t count = 1;
  std::size_t loops = 0;
  for (const AxisMap& map : maps) {
    auto parts = parts_of(map);
    if (!parts) return std::nullopt;
    count *= parts->size();
    if (count > kMostParts) return std::nullopt;
    loops += is_single(*parts) ? 1U : 2U;
    out.push_back(std::move(*parts));
  }
  if (loops > kMostLoops) return std::nullopt;
  return out;
}

// What one combination of parts takes (`input`) or fills, with a dimension per loop.
View rectangle(const View& view, const std::vector<AxisPart>& parts, bool input) {
  View out = view;
  out.shape.clear();
  out.stride.clear();
  out.halo_begin.clear();
  out.halo_end.clear();
  for (std::size_t d = 0; d < parts.size(); ++d) {
    out.offset += (input ? parts[d].x_first : parts[d].y_first) * view.stride[d];
    for (const AxisPart::Loop& loop : parts[d].loops) {
      out.shape.push_back(loop.count);
      out.stride.push_back((input ? loop.x_step : loop.y_step) * view.stride[d]);
    }
  }
  return out;
}

// Calls visit(parts) for every choice of one part per axis.
template <class Visit>
void for_each_choice(const std::vector<std::vector<AxisPart>>& axes, Visit visit) {
  std::vector<std::size_t> at(axes.size(), 0);
  for (;;) {
    std::vector<AxisPart> choice;
    for (std::size_t d = 0; d < axes.size(); ++d) choice.push_back(axes[d][at[d]]);
    visit(choice);
    std::size_t d = axes.size();
    while (d > 0 && ++at[d - 1] == axes[d - 1].size()) at[--d] = 0;
    if (d == 0) return;
  }
}

bool is_contiguous_run(const AxisMap& map) {
  for (std::size_t i = 1; i < map.size(); ++i) {
    if (map[i] != map[i - 1] + 1) return false;
  }
  return true;
}

std::vector<std::size_t> memory_order(const View& view) {
  std::vector<std::size_t> order(view.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return view.stride[a] > view.stride[b]; });
  return order;
}

}  // namespace

bool needs_tables(const std::vector<AxisMap>& maps) { return !rectangles(maps); }

MoveBuilder::MoveBuilder(Lowering& lowering, const Node& node, const View& y, std::string kind)
    : lowering_(lowering), node_(node), y_(y), step_(std::make_unique<MoveStep>()) {
  step_->kind = std::move(kind);
}

MoveBuilder::Source MoveBuilder::source(int input) {
  if (!lowering_.is_constant(node_, input)) return memory(lowering_.view(node_, input));
  return constant(lowering_.constant(node_, input), "row-major, as in the model");
}

MoveBuilder::Source MoveBuilder::memory(const View& view) {
  Source out;
  out.view = view;
  out.operand = static_cast<int>(views_.size());
  names_.push_back(cat("x", out.operand));
  views_.push_back(view);
  return out;
}

std::string MoveBuilder::name_of_constant(const char* stem) {
  return cat(stem, step_->constants.size());
}

MoveBuilder::Source MoveBuilder::constant(const Tensor& tensor, std::string comment) {
  Source out;
  out.constant = name_of_constant("data");
  out.view.dtype = tensor.dtype();
  out.view.shape = tensor.shape();
  lay_out(out.view, row_major(out.view.rank()));
  step_->constants.push_back(raw_array(out.constant, tensor, lowering_.isa(), std::move(comment)));
  return out;
}

Move MoveBuilder::move_from(const Source& source, const View& from, const View& to,
                            std::string comment) const {
  Move move;
  move.comment = std::move(comment);
  move.operand = source.operand;
  move.source = source.constant;
  CopyPlan plan = make_copy(from, to);
  move.nest = std::move(plan.nest);
  move.flip = plan.flip;
  move.nest.offset[0] = from.offset - source.view.offset;
  move.nest.offset[kNestOperands - 1] = to.offset - y_.offset;
  return move;
}

void MoveBuilder::copy(const Source& source, const View& from, const View& to,
                       std::string comment) {
  if (element_count(to.shape) == 0) return;
  step_->plan.moves.push_back(move_from(source, from, to, std::move(comment)));
}

void MoveBuilder::lookup(const Source& source, const View& from, const View& to,
                         const std::array<std::uint8_t, 256>& table, std::string comment) {
  if (element_count(to.shape) == 0) return;
  Move move = move_from(source, from, to, std::move(comment));
  move.kind = Move::Kind::kLookup;
  move.flip = 0;
  move.table = name_of_constant("table");
  std::vector<std::byte> bytes(table.size());
  std::memcpy(bytes.data(), table.data(), table.size());
  step_->constants.push_back(
      byte_array(move.table, std::move(bytes), "what each of the 256 stored values becomes"));
  step_->plan.moves.push_back(std::move(move));
}

bool MoveBuilder::map(const Source& source, const View& from, const View& to,
                      const std::vector<AxisMap>& maps, const std::string& comment) {
  if (element_count(to.shape) == 0) return true;
  const auto axes = rectangles(maps);
  if (!axes) return pick(source, from, to, maps, comment);
  for_each_choice(*axes, [&](const std::vector<AxisPart>& parts) {
    copy(source, rectangle(from, parts, true), rectangle(to, parts, false), comment);
  });
  return true;
}

namespace {

// Takes the innermost dimensions off `dims` that are dense in both views and are moved as they
// are; returns the bytes of such a row and adds where it begins to `first`.
std::int64_t take_dense_rows(std::vector<std::size_t>& dims, const View& from, const View& to,
                             const std::vector<AxisMap>& maps, std::int64_t& first) {
  std::int64_t bytes = bytes_of(to.dtype);
  while (!dims.empty()) {
    const std::size_t d = dims.back();
    const bool dense =
        from.stride[d] == bytes && to.stride[d] == bytes && is_contiguous_run(maps[d]);
    if (to.shape[d] != 1 && !dense) break;
    first += maps[d][0] * from.stride[d];
    bytes *= to.shape[d];
    dims.pop_back();
  }
  return bytes;
}

// Turns the dimensions that advance evenly into loops around the calls; returns the others.
std::vector<std::size_t> take_even_loops(Move& move, const std::vector<std::size_t>& dims,
                                         const View& from, const View& to,
                                         const std::vector<AxisMap>& maps, std::int64_t& first) {
  std::vector<std::size_t> rest;
  for (const std::size_t d : dims) {
    const auto part = one_part(maps[d]);
    if (!part || part->loops[0].count != 1) {
      rest.push_back(d);
      continue;
    }
    first += part->x_first * from.stride[d];
    NestAxis axis;
    axis.count = static_cast<int>(to.shape[d]);
    axis.step[0] = part->loops[1].x_step * from.stride[d];
    axis.step[kNestOperands - 1] = to.stride[d];
    if (axis.count > 1) move.nest.axes.push_back(axis);
  }
  return rest;
}

// A loop over positions of the input: where each begins, in bytes.
struct TableLoop {
  std::vector<std::int64_t> positions;
  std::int64_t y_step = 0;
};

// Of two loops whose positions of the output follow one another without a gap, one loop.
TableLoop merged(const TableLoop& outer, const TableLoop& inner) {
  TableLoop all{{}, inner.y_step};
  for (const std::int64_t begin : outer.positions) {
    for (const std::int64_t at : inner.positions) all.positions.push_back(begin + at);
  }
  return all;
}

// The loops over `dims`, outermost first. A call has kTables of them: of more, neighbours become
// one, those with the fewest positions first. Nothing if too many remain.
std::optional<std::vector<TableLoop>> table_loops(const std::vector<std::size_t>& dims,
                                                  const View& from, const View& to,
                                                  const std::vector<AxisMap>& maps) {
  std::vector<TableLoop> loops;
  for (const std::size_t d : dims) {
    loops.push_back({maps[d], to.stride[d]});
    for (std::int64_t& at : loops.back().positions) at *= from.stride[d];
  }
  const auto count = [&](std::size_t i) { return loops[i].positions.size(); };
  while (loops.size() > kTables) {
    std::size_t best = loops.size();
    for (std::size_t i = 0; i + 1 < loops.size(); ++i) {
      const auto inside = static_cast<std::int64_t>(count(i + 1)) * loops[i + 1].y_step;
      if (loops[i].y_step != inside) continue;
      if (best == loops.size() || count(i) * count(i + 1) < count(best) * count(best + 1)) best = i;
    }
    if (best == loops.size()) return std::nullopt;
    loops[best] = merged(loops[best], loops[best + 1]);
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  return loops;
}

// Makes `loops` those of a call; returns their positions.
std::vector<std::int32_t> set_tables(Move& move, const std::vector<TableLoop>& loops) {
  std::vector<std::int32_t> table(kTables - loops.size(), 0);  // unused loops: one position each
  for (std::size_t t = 0; t < table.size(); ++t) move.picked.n[t] = 1;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const std::size_t loop = kTables - loops.size() + i;
    move.picked.n[loop] = static_cast<std::int32_t>(loops[i].positions.size());
    move.picked.y_step[loop] = static_cast<std::ptrdiff_t>(loops[i].y_step);
    for (const std::int64_t at : loops[i].positions) table.push_back(static_cast<std::int32_t>(at));
  }
  return table;
}

// Finds the longest part of the last loop that is side by side in x and in y.
void set_run(rt::Picked& picked, const std::vector<std::int32_t>& table) {
  constexpr std::int32_t kLeastBytes = 16;  // fewer are picked like others
  const std::int32_t n = picked.n[kTables - 1];
  if (picked.y_step[kTables - 1] != picked.size) return;
  const std::int32_t* const last = table.data() + table.size() - n;
  for (std::int32_t begin = 0, end = 0; begin < n; begin = end) {
    for (end = begin + 1; end < n && last[end] - last[end - 1] == picked.size;) ++end;
    const std::int32_t count = end - begin;
    if (count <= picked.run_count || count * picked.size < kLeastBytes) continue;
    picked.run = begin;
    picked.run_count = count;
  }
}

}  // namespace

bool MoveBuilder::pick(const Source& source, const View& from, const View& to,
                       const std::vector<AxisMap>& maps, const std::string& comment) {
  ETCH_CHECK(from.dtype != DType::kS8 || to.dtype == from.dtype);
  Move move;
  move.kind = Move::Kind::kPick;
  move.comment = comment;
  move.operand = source.operand;
  move.source = source.constant;
  std::int64_t first = from.offset - source.view.offset;
  std::vector<std::size_t> dims = memory_order(to);
  const std::int64_t bytes = take_dense_rows(dims, from, to, maps, first);
  move.picked.size = static_cast<std::int32_t>(bytes);
  dims = take_even_loops(move, dims, from, to, maps, first);
  const auto loops = table_loops(dims, from, to, maps);
  if (!loops) return false;
  const std::vector<std::int32_t> table = set_tables(move, *loops);
  set_run(move.picked, table);
  move.nest.offset[0] = first;
  move.nest.offset[kNestOperands - 1] = to.offset - y_.offset;
  move.table = name_of_constant("positions");
  step_->constants.push_back(
      int32_array(move.table, table, "bytes from the input's start, for each loop in turn"));
  step_->plan.moves.push_back(std::move(move));
  return true;
}

void MoveBuilder::fill(const View& to, const Tensor& value, std::string comment) {
  if (element_count(to.shape) == 0) return;
  const auto bytes = value.bytes();
  const bool uniform = std::all_of(bytes.begin(), bytes.end(),
                                   [&](std::byte byte) { return byte == bytes.front(); });
  Source source;
  if (uniform) {
    Move move = move_from(source, to, to, std::move(comment));
    move.kind = Move::Kind::kFill;
    const bool flipped = to.flipped && value.dtype() == DType::kS8;
    move.value = std::to_integer<int>(bytes.front()) ^ (flipped ? 128 : 0);
    step_->plan.moves.push_back(std::move(move));
    return;
  }
  source = constant(value, "the value of every element");
  View from = to;
  from.offset = 0;
  from.stride.assign(to.stride.size(), 0);
  step_->plan.moves.push_back(move_from(source, from, to, std::move(comment)));
}

void MoveBuilder::finish(std::string summary) {
  if (step_->plan.moves.empty()) return;
  step_->summary = std::move(summary);
  step_->plan.y = static_cast<int>(views_.size());
  names_.push_back("y");
  views_.push_back(y_);
  std::vector<std::pair<const char*, const View*>> operands;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    views_[i].dtype = DType::kU8;
    operands.emplace_back(names_[i].c_str(), &views_[i]);
  }
  lowering_.add(node_, std::move(step_), std::move(operands));
}

void lower_mapped(Lowering& lowering, const Node& node, const std::vector<AxisMap>& maps,
                  std::string kind, std::string summary) {
  if (refuse_empty(lowering, node)) return;
  const View& as_is = lowering.view(node, 0);
  const Order order = order_like(as_is);
  const bool raw = as_is.dtype == DType::kS8 && needs_tables(maps);
  const View x = raw ? lowering.ordered(node, 0, order) : as_is;
  const View y = lowering.new_output(node, 0, order);
  MoveBuilder moves(lowering, node, y, std::move(kind));
  if (!moves.map(moves.memory(x), x, y, maps, {})) {
    lowering.unsupported(
        node, "more than four axes with irregular positions, apart in memory, cannot be compiled");
    return;
  }
  moves.finish(std::move(summary));
}

}  // namespace etch
