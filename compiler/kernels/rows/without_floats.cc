// Compiles the elementwise kernels without floats for every stage.
#include "compiler/kernels/rows/without_floats.h"

#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(MultiplyLineStep);
ETCH_INSTANTIATE_STEP(QuantizeBitsStep);

}  // namespace etch
