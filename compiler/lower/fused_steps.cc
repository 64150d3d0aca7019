// See fused_steps.h.
#include "compiler/lower/fused_steps.h"

#include "compiler/base/text.h"

namespace etch {

void warn_of_emulated_steps(const Program& program, Sink& sink) {
  if (program.isa.fused_steps || program.float_macs == 0) return;
  sink.warning(DiagKind::kUnsupported, {},
               cat(program.isa.name, " has no instruction for fused products and sums, and ",
                   counted(program.float_macs, "product"),
                   " of floats with --float-products fused are computed by several (exact, but "
                   "slow); --float-products separate is fast"));
}

}  // namespace etch
