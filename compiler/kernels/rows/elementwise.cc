// Compiles the kernels over single elements and whole rows for every stage.
#include "compiler/kernels/rows/elementwise.h"

#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(QuantizeStep);
ETCH_INSTANTIATE_STEP(DequantizeStep);
ETCH_INSTANTIATE_STEP(AddStep);
ETCH_INSTANTIATE_STEP(MultiplyStep);
ETCH_INSTANTIATE_STEP(SoftmaxStep);
ETCH_INSTANTIATE_STEP(QLinearSoftmaxStep);
ETCH_INSTANTIATE_STEP(PoolStep);

}  // namespace etch
