// Elementwise functions of 8-bit values as tables of 256 bytes, made at compile time by the
// operators' reference functions; the kernels are in templates/kernels/rows/table.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/table.h"

namespace etch {

ETCH_PLAN_STEP(TableStep, TablePlan, table_kernel, kDivisible);

ETCH_PLAN_STEP(ChoiceStep, ChoicePlan, choice_kernel, kDivisible);

// The bits of f(x) at the bits of x; int8 in two's complement.
using ByteTable = std::array<std::uint8_t, 256>;

// Every value of uint8 or int8, at its bits: [256].
Tensor all_bytes(DType type);

// The elements of an 8-bit tensor [256].
ByteTable table_from(const Tensor& values);

// What the node's reference function makes of every value of input `input`, its other inputs being
// constant. The operator must treat elements one by one and not look at the input's shape.
ByteTable table_of(const Lowering& lowering, const Node& node, int input);

// Output 0 = table[input `input`].
void add_table(Lowering& lowering, const Node& node, int input, const ByteTable& table,
               std::string summary);

// The constant array `suffix`: `table` from bytes as `x` stores them to bytes as `y` does.
ConstantArray table_constant(std::string suffix, const ByteTable& table, const rt::Stored& x,
                             const rt::Stored& y);

}  // namespace etch
