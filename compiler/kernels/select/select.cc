// Compiles the kernels of select.h for every stage.
#include "compiler/kernels/select/select.h"

#include "compiler/base/text.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(CompareStep);
ETCH_INSTANTIATE_STEP(WhereStep);
ETCH_INSTANTIATE_STEP(GatherStep);
ETCH_INSTANTIATE_STEP(GatherHalvesStep);
ETCH_INSTANTIATE_STEP(GatherElementsStep);

std::optional<DType> row_type(Lowering& lowering, const Node& node, DType type) {
  switch (type) {
    case DType::kU8:
    case DType::kS8:
    case DType::kBool:
      return DType::kU8;
    case DType::kF32:
    case DType::kS32:
    case DType::kS64:
      return type;
    default:
      lowering.unsupported(node, cat("elements of type ", name_of(type), " cannot be compiled"));
      return std::nullopt;
  }
}

}  // namespace etch
