// Compiles the convolution kernel for every stage.
#include "compiler/kernels/conv/portable/conv.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(ConvStep);
ETCH_CONV_KERNEL(Recorder);
ETCH_CONV_KERNEL(NativeStage);
ETCH_CONV_KERNEL(Audit);

}  // namespace etch
