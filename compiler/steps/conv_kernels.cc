// Compiles the convolution kernels for every stage.
#include "compiler/steps/conv.h"
#include "compiler/steps/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(ConvStep);
ETCH_INSTANTIATE_STEP(DepthwiseStep);

}  // namespace etch
