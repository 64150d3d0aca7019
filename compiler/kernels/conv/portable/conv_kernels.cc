// Compiles the convolution kernel for every stage.
#include "compiler/kernels/conv/portable/conv.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(ConvStep);

}  // namespace etch
