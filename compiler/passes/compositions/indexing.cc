// Operators that pick by coordinates:
//   GatherND         Gather of the rows that the coordinates name
//   OneHot           each index compared with all positions; then the one value or the other
//   Compress         Gather of the positions where the condition, a constant, holds
//   ReverseSequence  Gather of positions counted back from each sequence's end
//   Trilu            Where, by row and column; k may be known at run time only
//   CenterCropPad    Slice and Pad
//   SpaceToDepth     with a mode (since 28), CRD: a block's pixels of one channel after each other
#include <algorithm>
#include <cstdint>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/indices.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

bool is_empty(const Shape& shape) { return element_count(shape) == 0; }

Shape joined(const Shape& a, const Shape& b) {
  Shape out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

void gather_nd(Parts& parts) {
  if (!parts.needs(1) || !parts.has_type(1, {DType::kS64})) return;
  const auto batch = parts.take<std::int64_t>("batch_dims", 0);
  const Shape& data = parts.shape(0);
  const Shape& indices = parts.shape(1);
  const auto least = static_cast<std::int64_t>(std::min(data.size(), indices.size()));
  const bool has_list = batch >= 0 && batch < least;
  const std::int64_t count = has_list ? indices.back() : 0;
  const bool fits = has_list && count > 0 &&
                    count <= static_cast<std::int64_t>(data.size()) - batch &&
                    std::equal(data.begin(), data.begin() + batch, indices.begin());
  if (!fits) {
    parts.fail(DiagKind::kShape, cat("indices of shape ", to_string(indices), " with ", batch,
                                     " batch axes do not fit data of shape ", to_string(data)));
    return;
  }
  const Shape sizes(data.begin() + batch, data.begin() + batch + count);
  const Shape inner(data.begin() + batch + count, data.end());
  const Shape lists(indices.begin(), indices.end() - 1);
  if (is_empty(lists) || is_empty(inner)) {
    return parts.give(0, parts.constant(Tensor(parts.dtype(0), joined(lists, inner))));
  }
  if (is_empty(data)) {
    parts.fail(DiagKind::kShape, "input 0 has no elements that indices could name");
    return;
  }
  if (!coordinates_in_range(parts, 1, sizes)) return;
  const std::int64_t width = element_count(inner);
  const ValueId rows = parts.reshape(parts.input(0), {element_count(data) / width, width});
  const ValueId at = row_numbers(parts, 1, sizes, static_cast<std::size_t>(batch));
  parts.reshape(parts.add("Gather", {rows, at}, {{"axis", std::int64_t{0}}}), joined(lists, inner));
}

// The number of input i, an integer or a float with an integer's value; -1 after a report.
std::int64_t known_count(Parts& parts, std::size_t i, const char* role) {
  const Tensor* tensor = parts.constant(i);
  if (tensor == nullptr || tensor->size() != 1) {
    parts.needs_constant(i, role, "must be one number known at compile time");
    return -1;
  }
  if (tensor->dtype() != DType::kF32) return tensor->integer(0);
  const float value = tensor->real(0);
  return value >= 0 && value < 16777216.0F ? static_cast<std::int64_t>(value) : -1;
}

void one_hot(Parts& parts) {
  if (!parts.needs(1) || !parts.needs(2)) return;
  if (!parts.has_type(0, {DType::kF32, DType::kS64, DType::kS32, DType::kU8, DType::kS8}) ||
      !parts.has_type(1, {DType::kF32, DType::kS64, DType::kS32, DType::kU8, DType::kS8})) {
    return;
  }
  Shape shape = parts.shape(0);
  const std::int64_t axis = parts.take_axis("axis", -1, shape.size() + 1);
  const std::int64_t depth = known_count(parts, 1, "depth");
  if (parts.failed()) return;
  if (depth < 1 || depth > 1'000'000 || parts.shape(2) != Shape{2}) {
    parts.fail(DiagKind::kShape, "depth must be at least 1, and there must be two values");
    return;
  }
  const auto at = static_cast<std::size_t>(axis);
  shape.insert(shape.begin() + axis, 1);
  const ValueId given = parts.reshape(parts.cast(parts.input(0), DType::kS64), shape);
  const ValueId negative = parts.add("Less", {given, parts.number(DType::kS64, 0)});
  const ValueId from_end = parts.add("Add", {given, parts.number(DType::kS64, depth)});
  const ValueId index = parts.add("Where", {negative, from_end, given});
  const ValueId places =
      parts.ints(along(shape.size(), at, depth), count_up(static_cast<std::size_t>(depth)));
  const ValueId off = parts.slice(parts.input(2), 0, 0, 1);
  const ValueId on = parts.slice(parts.input(2), 0, 1, 2);
  parts.add("Where", {parts.add("Equal", {index, places}), on, off});
}

void compress(Parts& parts) {
  if (!parts.needs(1) || !parts.has_type(1, {DType::kBool})) return;
  const Tensor* condition = parts.constant(1);
  if (condition == nullptr) {
    parts.needs_constant(1, "condition",
                         "must be known at compile time, for it says the output's shape");
    return;
  }
  ValueId x = parts.input(0);
  std::int64_t axis = 0;
  std::int64_t size = element_count(parts.shape(0));
  if (parts.has("axis")) {
    axis = parts.take_axis("axis", 0, parts.shape(0).size());
    if (axis < 0) return;
    size = parts.shape(0)[static_cast<std::size_t>(axis)];
  } else {
    x = parts.reshape(x, {size});
  }
  if (condition->size() > size) {
    parts.fail(DiagKind::kShape, cat("the condition has ", condition->size(),
                                     " elements, more than the ", size, " there are"));
    return;
  }
  Ints places;
  for (std::int64_t i = 0; i < condition->size(); ++i) {
    if (condition->integer(i) != 0) places.push_back(i);
  }
  parts.add("Gather", {x, parts.ints(places)}, {{"axis", axis}});
}

void reverse_sequence(Parts& parts) {
  if (!parts.needs(1) || !parts.has_type(1, {DType::kS64})) return;
  const auto time = parts.take<std::int64_t>("time_axis", 0);
  const auto batch = parts.take<std::int64_t>("batch_axis", 1);
  const Shape& shape = parts.shape(0);
  if (shape.size() < 2 || time < 0 || time > 1 || batch != 1 - time) {
    parts.fail(DiagKind::kAttr, "time_axis and batch_axis must be 0 and 1 or 1 and 0");
    return;
  }
  const std::int64_t batches = shape[static_cast<std::size_t>(batch)];
  const std::int64_t steps = shape[static_cast<std::size_t>(time)];
  if (parts.shape(1) != Shape{batches}) {
    parts.fail(DiagKind::kShape, cat("sequence_lens must have ", batches, " elements"));
    return;
  }
  if (is_empty(shape)) return parts.give(0, parts.input(0));
  Ints perm = count_up(shape.size());
  if (time == 0) std::swap(perm[0], perm[1]);
  const ValueId zero = parts.number(DType::kS64, 0), one = parts.number(DType::kS64, 1);
  const ValueId most = parts.number(DType::kS64, steps);
  ValueId length = parts.reshape(parts.input(1), {batches, 1});
  length = parts.add("Min", {parts.add("Max", {length, zero}), most});
  const ValueId step = parts.ints({1, steps}, count_up(static_cast<std::size_t>(steps)));
  const ValueId turned = parts.add("Sub", {parts.add("Sub", {length, one}), step});
  ValueId at = parts.add("Where", {parts.add("Less", {step, length}), turned, step});
  Ints starts(static_cast<std::size_t>(batches));
  for (std::size_t b = 0; b < starts.size(); ++b) starts[b] = static_cast<std::int64_t>(b) * steps;
  at = parts.add("Add", {at, parts.ints({batches, 1}, starts)});
  const ValueId x = parts.transpose(parts.input(0), perm);
  const std::int64_t rows = batches * steps;
  const ValueId flat = parts.reshape(x, {rows, element_count(shape) / rows});
  const ValueId picked =
      parts.add("Gather", {flat, parts.reshape(at, {rows})}, {{"axis", std::int64_t{0}}});
  Shape moved = shape;
  moved[0] = batches;
  moved[1] = steps;
  parts.give(0, parts.transpose(parts.reshape(picked, moved), perm));
}

void trilu(Parts& parts) {
  const Shape& shape = parts.shape(0);
  const bool upper = parts.take<std::int64_t>("upper", 1) != 0;
  if (shape.size() < 2) {
    parts.fail(DiagKind::kShape, "input 0 must have at least two axes");
    return;
  }
  ValueId k = parts.number(DType::kS64, 0);
  if (parts.input(1) != kNoValue) {
    if (!parts.has_type(1, {DType::kS64})) return;
    if (element_count(parts.shape(1)) != 1) {
      parts.fail(DiagKind::kShape, "input 1 (k): must have one element");
      return;
    }
    k = parts.shape(1).empty() ? parts.input(1) : parts.reshape(parts.input(1), {});
  }
  if (is_empty(shape)) return parts.give(0, parts.input(0));
  const std::int64_t height = shape[shape.size() - 2], width = shape.back();
  // The column that is in each row's place on the diagonal. A k beyond the matrix is as good as
  // one at its edge, and cannot overflow.
  const ValueId limited =
      parts.add("Min", {parts.add("Max", {k, parts.number(DType::kS64, -height)}),
                        parts.number(DType::kS64, width)});
  const ValueId rows = parts.ints({height, 1}, count_up(static_cast<std::size_t>(height)));
  const ValueId columns = parts.ints({width}, count_up(static_cast<std::size_t>(width)));
  const ValueId diagonal = parts.add("Add", {rows, limited});
  const ValueId stays = parts.add(upper ? "GreaterOrEqual" : "LessOrEqual", {columns, diagonal});
  parts.add("Where", {stays, parts.input(0), parts.constant(Tensor(parts.dtype(0), {}))});
}

void center_crop_pad(Parts& parts) {
  Ints target;
  if (!parts.read(1, "shape", target)) return;
  const Shape& shape = parts.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  Ints axes = parts.take<Ints>("axes", count_up(shape.size()));
  Ints pads(2 * shape.size(), 0);
  ValueId y = parts.input(0);
  if (axes.size() != target.size()) {
    parts.fail(DiagKind::kShape, cat("shape must have ", axes.size(), " elements"));
    return;
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || target[i] < 0 || target[i] > INT32_MAX) {
      parts.fail(DiagKind::kAttr, "axes and sizes must be those of input 0");
      return;
    }
    const auto d = static_cast<std::size_t>(axis);
    const std::int64_t more = target[i] - shape[d];
    if (more < 0) y = parts.slice(y, axis, -more / 2, -more / 2 + target[i]);
    if (more > 0) {
      pads[d] = more / 2;
      pads[d + shape.size()] = more - more / 2;
    }
  }
  const bool has_pads = std::ranges::any_of(pads, [](std::int64_t each) { return each != 0; });
  if (has_pads) y = parts.add("Pad", {y, parts.ints(pads)});
  parts.give(0, y);
}

bool has_mode(const Graph& graph, const Node& node) {
  return graph.opset("") >= 28 && node.attributes.contains("mode");
}

void space_to_depth(Parts& parts) {
  const auto mode = parts.take<std::string>("mode", "DCR");
  const auto block = parts.take<std::int64_t>("blocksize", 0);
  const Shape x = parts.shape(0);
  if (mode != "DCR" && mode != "CRD") {
    parts.fail(DiagKind::kAttr, cat("mode: must be DCR or CRD, got '", printable(mode), "'"));
  } else if (block < 1 || block > 1 << 15 || x.size() != 4 || x[2] % block != 0 ||
             x[3] % block != 0) {
    parts.fail(DiagKind::kShape, cat(to_string(x), " does not consist of blocks of ", block));
  } else {
    const Shape blocks = {x[0], x[1], x[2] / block, block, x[3] / block, block};
    const Ints perm = mode == "CRD" ? Ints{0, 1, 3, 5, 2, 4} : Ints{0, 3, 5, 1, 2, 4};
    const ValueId moved = parts.transpose(parts.reshape(parts.input(0), blocks), perm);
    parts.reshape(moved, {x[0], x[1] * block * block, x[2] / block, x[3] / block});
  }
}

bool has_unsorted_type(const Graph& graph, const Node& node) {
  const auto type = first_type(graph, node);
  return type == DType::kU32 || type == DType::kU64 || type == DType::kS16 || type == DType::kU16;
}

// As a signed type of 32 or 64 bits: those of 16 bits have the same values, and others are in the
// same order with the highest bit the other way round.
void top_k_of_others(Parts& parts) {
  if (!parts.needs(1)) return;
  const DType type = parts.dtype(0);
  const DType plain = type == DType::kU64 ? DType::kS64 : DType::kS32;
  ValueId bit = kNoValue;
  if (type == DType::kU64) bit = parts.constant(Tensor::of<std::int64_t>({}, {INT64_MIN}));
  if (type == DType::kU32) bit = parts.constant(Tensor::of<std::int32_t>({}, {INT32_MIN}));
  ValueId x = parts.cast(parts.input(0), plain);
  if (bit != kNoValue) x = parts.add("BitwiseXor", {x, bit});
  const ValueId values = parts.new_value();
  Node top;
  top.op_type = "TopK";
  top.inputs = {x, parts.input(1)};
  top.outputs = {values, parts.has_output(1) ? parts.output(1) : parts.new_value()};
  top.attributes = parts.take_all();
  parts.add(std::move(top));
  const ValueId sorted = bit == kNoValue ? values : parts.add("BitwiseXor", {values, bit});
  parts.give(0, parts.cast(sorted, type));
}

constexpr Rule kIndexingRules[] = {{"GatherND", gather_nd, 2, 1, 11},
                                   {"OneHot", one_hot, 3, 1, 9},
                                   {"Compress", compress, 2, 1, 9},
                                   {"Unique", write_unique, 1, 4, 11},
                                   {"ReverseSequence", reverse_sequence, 2, 1, 10},
                                   {"TopK", top_k_of_others, 2, 2, 11, has_unsorted_type},
                                   {"Trilu", trilu, 2, 1, 14},
                                   {"CenterCropPad", center_crop_pad, 2, 1, 18},
                                   {"SpaceToDepth", space_to_depth, 1, 1, 1, has_mode}};
}  // namespace

std::span<const Rule> indexing_rules() { return kIndexingRules; }

}  // namespace etch
