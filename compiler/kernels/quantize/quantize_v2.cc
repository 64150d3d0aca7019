// The kernels of quantize_v2.h, compiled for every stage.
#include "compiler/kernels/quantize/quantize_v2.h"

#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(QuantizeV2Step);
ETCH_INSTANTIATE_STEP(DequantizeV2Step);
ETCH_INSTANTIATE_STEP(QuantizeRangeStep);
ETCH_INSTANTIATE_STEP(DequantizeRangeStep);
ETCH_INSTANTIATE_STEP(RangeEndStep);

}  // namespace etch
