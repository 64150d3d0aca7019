// See rotary.h; RotaryEmbedding of ai.onnx and of com.microsoft.
#include "compiler/passes/functions/rotary.h"

#include <optional>

#include "compiler/base/text.h"
#include "compiler/passes/functions/functions.h"

namespace etch {

namespace {

// The two elements of every pair, each [batch, length, heads, turned / 2].
struct Pairs {
  ValueId first, second;
};

Pairs pairs_of(Parts& parts, ValueId x, const RotaryShape& shape) {
  const std::int64_t half = shape.turned / 2;
  if (!shape.interleaved)
    return {parts.slice(x, 3, 0, half), parts.slice(x, 3, half, shape.turned)};
  if (shape.turned != shape.size) x = parts.slice(x, 3, 0, shape.turned);
  const Shape one{shape.batch, shape.length, shape.heads, half};
  const ValueId split = parts.reshape(x, {shape.batch, shape.length, shape.heads, half, 2});
  return {parts.reshape(parts.slice(split, 4, 0, 1), one),
          parts.reshape(parts.slice(split, 4, 1, 2), one)};
}

ValueId joined(Parts& parts, const Pairs& pairs, const RotaryShape& shape) {
  if (!shape.interleaved) return parts.concat({pairs.first, pairs.second}, 3);
  const Shape one{shape.batch, shape.length, shape.heads, shape.turned / 2, 1};
  const ValueId both =
      parts.concat({parts.reshape(pairs.first, one), parts.reshape(pairs.second, one)}, 4);
  return parts.reshape(both, {shape.batch, shape.length, shape.heads, shape.turned});
}

// The shape of input 0, which is [batch, length, heads * size] or [batch, heads, length, size];
// `cache_size`: pairs that the tables have.
std::optional<RotaryShape> shape_of(Parts& parts, std::int64_t cache_size) {
  const auto heads = parts.take<std::int64_t>("num_heads", 0);
  const auto turned = parts.take<std::int64_t>("rotary_embedding_dim", 0);
  RotaryShape out;
  out.interleaved = parts.take<std::int64_t>("interleaved", 0) != 0;
  const std::size_t rank = parts.rank(parts.input(0));
  if (!parts.expects(0, DType::kF32, Shape(rank == 4 ? 4 : 3, -1))) return std::nullopt;
  const Shape x = parts.shape(0);
  out.batch = x[0];
  if (rank == 4) {
    out.heads = x[1];
    out.length = x[2];
    out.size = x[3];
  } else {
    out.length = x[1];
    out.size = heads > 0 ? x[2] / heads : 2 * cache_size;
    out.heads = out.size > 0 ? x[2] / out.size : 0;
  }
  out.turned = turned == 0 ? out.size : turned;
  const bool divides = rank == 4 || out.heads * out.size == x[2];
  if (out.heads > 0 && divides && out.turned > 0 && out.turned % 2 == 0 && out.turned <= out.size)
    return out;
  parts.fail(DiagKind::kShape, cat("shape ", to_string(x), " does not consist of ", heads,
                                   " heads of which ", turned, " elements are turned"));
  return std::nullopt;
}

// Turns input 0 by tables of that shape and gives output 0.
void turn_input(Parts& parts, const RotaryShape& shape, ValueId cosine, ValueId sine) {
  const bool heads_first = parts.rank(parts.input(0)) == 4;
  ValueId x = parts.input(0);
  x = heads_first ? parts.transpose(x, {0, 2, 1, 3})
                  : parts.reshape(x, {shape.batch, shape.length, shape.heads, shape.size});
  const ValueId y = turned_heads(parts, x, shape, cosine, sine);
  parts.give(0, heads_first
                    ? parts.transpose(y, {0, 2, 1, 3})
                    : parts.reshape(y, {shape.batch, shape.length, shape.heads * shape.size}));
}

}  // namespace

ValueId turned_heads(Parts& parts, ValueId x, const RotaryShape& shape, ValueId cosine,
                     ValueId sine) {
  const Pairs pairs = pairs_of(parts, x, shape);
  const auto turn = [&](const char* join, ValueId a, ValueId b) {
    return parts.add(join,
                     {parts.add("Mul", {a, pairs.first}), parts.add("Mul", {b, pairs.second})});
  };
  const Pairs turned{turn("Sub", cosine, sine), turn("Add", sine, cosine)};
  const ValueId y = joined(parts, turned, shape);
  if (shape.turned == shape.size) return y;
  return parts.concat({y, parts.slice(x, 3, shape.turned, shape.size)}, 3);
}

void write_rotary_embedding(Parts& parts) {
  if (!parts.needs(1) || !parts.needs(2)) return;
  const Shape table = parts.shape(1);
  const auto shape = shape_of(parts, table.empty() ? 0 : table.back());
  if (!shape) return;
  const std::int64_t half = shape->turned / 2;
  const Shape used{shape->batch, shape->length, 1, half};
  const bool chosen = parts.has_input(3);
  const Shape tables = chosen ? Shape{-1, half} : Shape{shape->batch, shape->length, half};
  if (!parts.expects(1, DType::kF32, tables) || !parts.expects(2, DType::kF32, tables)) return;
  if (!parts.allows(3, DType::kS64, {shape->batch, shape->length})) return;
  const auto angles = [&](std::size_t i) {
    const ValueId id = parts.input(i);
    return parts.reshape(chosen ? parts.gather(id, parts.input(3), 0) : id, used);
  };
  turn_input(parts, *shape, angles(1), angles(2));
}

void write_microsoft_rotary_embedding(Parts& parts) {
  if (!parts.needs(1) || !parts.expects(2, DType::kF32, {-1, -1})) return;
  if (parts.take<float>("scale", 1.0F) != 1.0F)
    parts.fail(DiagKind::kUnsupported, "attribute 'scale': only 1 is supported");
  parts.only("is_packed_batching", 0);
  const auto shape = shape_of(parts, parts.shape(2)[1]);
  if (!shape) return;
  const std::int64_t half = shape->turned / 2;
  if (!parts.expects(2, DType::kF32, {-1, half}) || !parts.expects(3, DType::kF32, {-1, half}))
    return;
  // One position is that of the first element; else each element has its own.
  const bool first_only = parts.rank(parts.input(1)) == 1;
  const Shape ids = first_only ? Shape{1} : Shape{shape->batch, shape->length};
  if (!parts.expects(1, DType::kS64, ids)) return;
  ValueId places = parts.input(1);
  if (first_only) {
    places = parts.add(
        "Add", {parts.positions(DType::kS64, 0, shape->length, {1, shape->length}), places});
  }
  const auto angles = [&](std::size_t i) {
    const ValueId rows = parts.gather(parts.input(i), places, 0);
    return parts.reshape(rows, {first_only ? 1 : shape->batch, shape->length, 1, half});
  };
  turn_input(parts, *shape, angles(2), angles(3));
}

}  // namespace etch
