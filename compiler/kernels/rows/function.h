// Steps that apply a function of one float to every element, and powers; the plans are in
// templates/kernels/rows/function.h.
#pragma once

#include <string>

#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/function.h"

namespace etch {

ETCH_PLAN_STEP(FunctionStep, FunctionPlan, function_kernel, kDependent);

ETCH_PLAN_STEP(PowerStep, PowerPlan, power_kernel, kDependent);

// function(x, alpha, beta) as the runtime computes it.
float evaluate(Function function, float x, float alpha, float beta);

// Output 0 = function(input 0), float32.
void add_function(Lowering& lowering, const Node& node, Function function, float alpha, float beta,
                  std::string summary);

}  // namespace etch
