// Kernels around tables of 256 bytes: y = table[x] for 8-bit elements, and the choice between two
// tensors that are each looked up in a table of their own.
#pragma once

#include <cstdint>

#include "templates/external/ops.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operand 0 is x, operand 1 y, and so in the nest; along a row both are dense. The constant
// "table" maps bytes as stored to bytes as stored.
struct TablePlan {
  RowNest rows;
};

template <class S>
void table_kernel(S& s, const TablePlan& plan) {
  walk_rows(s, plan.rows, [&](const RowPlace<S>& at) {
    s.call(external::Lookup{}, s.template operand<const std::uint8_t>(0) + at[0],
           s.template operand<std::uint8_t>(1) + at[1],
           s.template constant<const std::uint8_t>("table"), plan.rows.n);
  });
}

// z = condition ? a_table[a] : b_table[b]; operands of the nest: condition, a, b, z.
struct ChoicePlan {
  Argument condition, a, b;
  int z = 0;  // operand of the step
  RowNest rows;
};

template <class S>
void choice_kernel(S& s, const ChoicePlan& plan) {
  using Byte = std::uint8_t;
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::ChooseFromTables{}, pointer_to<Byte>(s, plan.condition) + at[0],
           static_cast<int>(rows.step[0]), pointer_to<Byte>(s, plan.a) + at[1],
           static_cast<int>(rows.step[1]), s.template constant<const Byte>("a_table"),
           pointer_to<Byte>(s, plan.b) + at[2], static_cast<int>(rows.step[2]),
           s.template constant<const Byte>("b_table"), s.template operand<Byte>(plan.z) + at[3],
           rows.n);
  });
}

}  // namespace etch
