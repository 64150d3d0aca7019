// Compiles the kernel of other_float.h for all stages, in a file of its own because few networks
// and no other kernel need it.
#include "compiler/kernels/rows/other_float.h"

#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(OtherFloatStep);

}  // namespace etch
