// Functions of one float and powers of two tensors, which the runtime computes row by row.
#pragma once

#include "templates/external/rows.h"
#include "templates/kernels/arguments.h"

namespace etch {

enum class Function {
#define ETCH_FUNCTION(id) k##id,
#include "templates/kernels/rows/functions.def"
#undef ETCH_FUNCTION
};

// y = function(x, alpha, beta); operand 0 is x, operand 1 y, and so in the nest.
struct FunctionPlan {
  Function function = Function::kAbs;
  float alpha = 0, beta = 0;
  RowNest rows;
};

namespace function_detail {

template <class Of, class S>
void apply(S& s, const FunctionPlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::Apply<Of>{}, s.template operand<const float>(0) + at[0],
           static_cast<int>(rows.step[0]), s.template operand<float>(1) + at[1], rows.n, plan.alpha,
           plan.beta);
  });
}

}  // namespace function_detail

template <class S>
void function_kernel(S& s, const FunctionPlan& plan) {
  switch (plan.function) {
#define ETCH_FUNCTION(id) \
  case Function::k##id:   \
    return function_detail::apply<rt::id>(s, plan);
#include "templates/kernels/rows/functions.def"
#undef ETCH_FUNCTION
  }
}

// y = a to the power b; operands of the nest: a, b, y.
struct PowerPlan {
  Argument a, b;
  int y = 0;  // operand of the step
  RowNest rows;
};

template <class S>
void power_kernel(S& s, const PowerPlan& plan) {
  const RowNest& rows = plan.rows;
  walk_rows(s, rows, [&](const RowPlace<S>& at) {
    s.call(external::Power{}, pointer_to<float>(s, plan.a) + at[0], static_cast<int>(rows.step[0]),
           pointer_to<float>(s, plan.b) + at[1], static_cast<int>(rows.step[1]),
           s.template operand<float>(plan.y) + at[2], rows.n);
  });
}

}  // namespace etch
