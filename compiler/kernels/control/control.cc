// Compiles the kernels of control.h for every stage.
#include "compiler/kernels/control/control.h"

#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(NextTripStep);
ETCH_INSTANTIATE_STEP(PutSliceStep);

}  // namespace etch
