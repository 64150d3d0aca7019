// Steps that apply a function of one float to every element, and powers; the plans are in
// templates/kernels/rows/function.h.
#pragma once

#include <string>

#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/function.h"

namespace etch {

class FunctionStep : public StagedStep<FunctionStep> {
 public:
  FunctionPlan plan;
  template <class S>
  void kernel(S& s) const {
    function_kernel(s, plan);
  }
};

class PowerStep : public StagedStep<PowerStep> {
 public:
  PowerPlan plan;
  template <class S>
  void kernel(S& s) const {
    power_kernel(s, plan);
  }
};

// function(x, alpha, beta) as the runtime computes it.
float evaluate(Function function, float x, float alpha, float beta);

// Output 0 = function(input 0), float32.
void add_function(Lowering& lowering, const Node& node, Function function, float alpha, float beta,
                  std::string summary);

}  // namespace etch
