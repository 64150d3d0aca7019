// The bridge from a staged kernel to a Step: one template serves all three stages. A step class
// derives from StagedStep<itself>, has a member template kernel(stage), and one .cc that includes
// staged_step_impl.h says ETCH_INSTANTIATE_STEP(TheStep): so the kernels are compiled once.
#pragma once

#include "compiler/program/step.h"

namespace etch {

// Implements the three run() functions through one template: Derived::kernel(stage).
template <class Derived>
class StagedStep : public Step {
 public:
  void run(Recorder& stage) const override;
  void run(NativeStage& stage) const override;
  void run(Audit& stage) const override;

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

// Whether the loops of a kernel may be divided among threads; see Step::divisible.
enum class Loops { kDivisible, kDependent };

// After a step's class in a header: files that make such a step do not compile its kernel again.
#define ETCH_DECLARE_STEP(Step) extern template class StagedStep<Step>

// A step that is a plan and the kernel template that runs it.
#define ETCH_PLAN_STEP(Step, Plan, function, loops)           \
  class Step : public StagedStep<Step> {                      \
   public:                                                    \
    Plan plan;                                                \
    Step() { divisible = Loops::loops == Loops::kDivisible; } \
    template <class S>                                        \
    void kernel(S& s) const {                                 \
      function(s, plan);                                      \
    }                                                         \
  };                                                          \
  ETCH_DECLARE_STEP(Step)

}  // namespace etch
