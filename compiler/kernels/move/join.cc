// Joining of tensors; see join.h.
#include "compiler/kernels/move/join.h"

#include <array>

#include "compiler/base/text.h"
#include "compiler/kernels/move/move.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"

namespace etch {

namespace {

bool same_place(const View& a, const View& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.stride == b.stride &&
         a.dtype == b.dtype && a.flipped == b.flipped;
}

// By the byte as `from` stores it, the byte as `to` does.
std::array<std::uint8_t, 256> table_of(const std::function<std::int32_t(std::int32_t)>& requantize,
                                       const View& from, const View& to) {
  const rt::Stored x = stored_as(from);
  const rt::Stored y = stored_as(to);
  std::array<std::uint8_t, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    const std::int32_t q = rt::value_of(static_cast<std::uint8_t>(byte), x);
    table[byte] = rt::keep<std::uint8_t>(requantize(q), y);
  }
  return table;
}

// The order of the first input in memory.
Order order_of_inputs(Lowering& lowering, const Node& node,
                      const std::vector<JoinedInput>& inputs) {
  for (const JoinedInput& input : inputs) {
    if (!lowering.is_constant(node, input.place.input))
      return order_like(lowering.view(node, input.place.input));
  }
  return row_major(static_cast<int>(lowering.value(node.outputs[0]).shape->size()));
}

}  // namespace

PlacedInput placed_along(int input, std::size_t rank, std::int64_t axis, std::int64_t start) {
  PlacedInput out{input, std::vector<std::int64_t>(rank, 0)};
  out.start[static_cast<std::size_t>(axis)] = start;
  return out;
}

void add_join(Lowering& lowering, const Node& node, std::int64_t axis,
              const std::vector<JoinedInput>& inputs) {
  if (refuse_empty(lowering, node)) return;
  const View y = lowering.new_output(node, 0, order_of_inputs(lowering, node, inputs));
  MoveBuilder moves(lowering, node, y, "concat");
  const auto along = static_cast<std::size_t>(axis);
  int copied = 0;
  for (const JoinedInput& input : inputs) {
    const ValueId id = node.inputs[static_cast<std::size_t>(input.place.input)];
    const std::int64_t size = lowering.value(id).shape->at(along);
    const std::int64_t start = input.place.start[along];
    const View to = part_of(y, along, start, size);
    const bool in_memory = !lowering.is_constant(node, input.place.input);
    if (size == 0) continue;
    if (in_memory && !input.requantize && same_place(lowering.view(node, input.place.input), to)) {
      continue;
    }
    ++copied;
    const MoveBuilder::Source source = moves.source(input.place.input);
    const std::string comment =
        cat("positions ", start, " to ", start + size - 1, " of axis ", axis);
    if (input.requantize) {
      moves.lookup(source, source.view, to, table_of(*input.requantize, source.view, to), comment);
    } else {
      moves.copy(source, source.view, to, comment);
    }
  }
  moves.finish(cat("join ", counted(static_cast<std::int64_t>(inputs.size()), "tensor"),
                   " along axis ", axis, ": ", copied,
                   " of them are copied, the others are in place"));
}

}  // namespace etch
