// Compiles the depthwise kernel for every stage.
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(DepthwiseStep);

}  // namespace etch
