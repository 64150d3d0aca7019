// Convolutions by the portable kernel, which serves every problem on every instruction set: regions
// and tile shapes (plan.h), packed weights and biases that contain all zero points (pack.h), and
// what is said of them (describe.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/kernels/conv/problem.h"
#include "compiler/kernels/conv/tuning.h"
#include "compiler/program/tunable.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/conv/conv.h"

namespace etch {

class ConvStep : public StagedStep<ConvStep>, public TunableTiles {
 public:
  ConvPlan plan;
  ConvStep() { divisible = true; }
  TunableTiles* tunable() override { return this; }
  bool prefetch_weights(const IsaTraits& isa) override;
  TileSummary tile_summary(const IsaTraits& isa) const override;
  TileChoice choice() const override;
  std::vector<TileChoice> candidates(const IsaTraits& isa, std::size_t most) const override;
  bool unroll(const IsaTraits& isa, const Unrolling& unrolling) override;
  template <class S>
  void kernel(S& s) const {
    conv_kernel(s, plan);
  }
};
ETCH_DECLARE_STEP(ConvStep);

// For kernels with loops of their own around it: compiled once, beside ConvStep's.
#define ETCH_CONV_KERNEL(Stage) \
  template void conv_kernel_at(Stage&, const ConvPlan&, const conv_detail::Place<Stage>&)
extern ETCH_CONV_KERNEL(Recorder);
extern ETCH_CONV_KERNEL(NativeStage);
extern ETCH_CONV_KERNEL(Audit);

// The kernel for any problem. Operand 0 is x, then come the residual if there is one, scratch
// memory if lanes_of_terms() says so, and y. Fills plan, constants, macs, facts and overlaps; the
// caller sets names. Its tiles are those of `tuning` if that names them.
struct MadeConv {
  std::unique_ptr<ConvStep> step;
  std::string refusal;  // why there is none: the tuning file's choice cannot be had
};
MadeConv make_conv_step(ConvProblem problem, const IsaTraits& isa, const Tuning& tuning);

// How many int32 of scratch memory the step takes as an operand before y; 0: none.
std::int64_t lanes_of_terms(const ConvPlan& plan);

// What the products of the plan take from every x. With a zero point at run time the caller takes
// it from the zero point, too.
int moved_by(const ConvPlan& plan, const IsaTraits& isa);

}  // namespace etch
