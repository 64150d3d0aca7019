// The one table of ONNX's numbers of element types; see onnx_types.h.
#include "compiler/ir/onnx_types.h"

#include "compiler/base/check.h"

namespace etch {
namespace {

struct TypeNumber {
  DType dtype;
  std::int32_t number;
};
constexpr TypeNumber kTypeNumbers[] = {
    {DType::kF32, 1},  {DType::kU8, 2},   {DType::kS8, 3},    {DType::kU16, 4},  {DType::kS16, 5},
    {DType::kS32, 6},  {DType::kS64, 7},  {DType::kBool, 9},  {DType::kF16, 10}, {DType::kF64, 11},
    {DType::kU32, 12}, {DType::kU64, 13}, {DType::kBF16, 16}, {DType::kU4, 21},  {DType::kS4, 22}};

}  // namespace

std::optional<DType> dtype_from_onnx(std::int64_t number) {
  for (const TypeNumber& type : kTypeNumbers) {
    if (type.number == number) return type.dtype;
  }
  return std::nullopt;
}

std::int32_t onnx_number_of(DType dtype) {
  for (const TypeNumber& type : kTypeNumbers) {
    if (type.dtype == dtype) return type.number;
  }
  ETCH_CHECK(false);
}

}  // namespace etch
