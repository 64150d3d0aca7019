// Compiles the kernels of copies and fills for every stage.
#include "compiler/lower/layout_steps.h"

#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(CopyStep);
ETCH_INSTANTIATE_STEP(FillStep);

}  // namespace etch
