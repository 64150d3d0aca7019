// Tables and the steps that use them; see table.h.
#include "compiler/kernels/rows/table.h"

#include <memory>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/op_def.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/lower/memory_order.h"
#include "compiler/program/certificate.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(TableStep);
ETCH_INSTANTIATE_STEP(ChoiceStep);

Tensor all_bytes(DType type) {
  ETCH_CHECK(is_8bit(type));
  Tensor out(type, {256});
  for (std::size_t i = 0; i < 256; ++i) out.mutable_bytes()[i] = static_cast<std::byte>(i);
  return out;
}

ByteTable table_from(const Tensor& values) {
  ETCH_CHECK(is_8bit(values.dtype()) && values.size() == 256);
  ByteTable table{};
  for (std::size_t i = 0; i < 256; ++i) table[i] = std::to_integer<std::uint8_t>(values.bytes()[i]);
  return table;
}

ByteTable table_of(const Lowering& lowering, const Node& node, int input) {
  ETCH_CHECK(is_pointwise(node));
  const Tensor x = all_bytes(*lowering.value(node.inputs[static_cast<std::size_t>(input)]).dtype);
  std::vector<const Tensor*> inputs;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    const bool given = node.inputs[static_cast<std::size_t>(i)] != kNoValue;
    inputs.push_back(i == input ? &x : given ? &lowering.constant(node, i) : nullptr);
  }
  return table_from(node.op->reference(node, inputs).at(0));
}

namespace {
// The byte that keeps the 8 bits `value`, and what it keeps: an int8 with offset 128 has its top
// bit inverted, all others are kept as they are.
std::uint8_t stored_bits(std::size_t bits, const rt::Stored& as) {
  const bool inverted = as.offset == 128 && as.flip == 0;
  return static_cast<std::uint8_t>(inverted ? bits ^ 128U : bits);
}
}  // namespace

ConstantArray table_constant(std::string suffix, const ByteTable& table, const rt::Stored& x,
                             const rt::Stored& y) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < 256; ++i)
    bytes.push_back(static_cast<std::byte>(stored_bits(table[stored_bits(i, x)], y)));
  return byte_array(std::move(suffix), std::move(bytes), "results for the bytes 0 to 255");
}

void add_table(Lowering& lowering, const Node& node, int input, const ByteTable& table,
               std::string summary) {
  if (refuse_empty(lowering, node)) return;
  const View before = lowering.view(node, input);
  const View y = lowering.new_output(node, 0, memory_order(before));
  const Order order = memory_order(y);
  // The table itself deals with the form in which int8 is kept.
  View x = has_order(before, order) ? before : lowering.ordered(node, input, order);
  auto step = std::make_unique<TableStep>();
  step->kind = "table";
  step->summary = std::move(summary);
  step->constants.push_back(table_constant("table", table, stored_as(x), stored_as(y)));
  const auto x_steps = steps_of(x);
  const auto y_steps = steps_of(y);
  step->plan.rows = make_rows(y.shape, {x_steps, y_steps});
  if (x_steps == y_steps) step->overlaps.push_back({1, 0, y.offset - x.offset});
  x.dtype = DType::kU8;
  const Step& made = *step;
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
  certify(made, [&] {
    const Value& in = lowering.value(node.inputs[static_cast<std::size_t>(input)]);
    return TableCertificate{in.name, *in.dtype, *lowering.value(node.outputs[0]).dtype, table};
  });
}

}  // namespace etch
