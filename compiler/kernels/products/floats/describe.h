// The third stage of a float product: what reports and comments are told.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/ir/geometry/matrix_product.h"

namespace etch {

struct FloatProductDescription {
  std::string kind;
  std::string summary;
  std::int64_t macs = 0;
};
FloatProductDescription describe_float_conv(const ConvGeometry& g, bool depthwise);
FloatProductDescription describe_float_matmul(const MatMulGeometry& g);
FloatProductDescription describe_float_gemm(const GemmGeometry& g);

}  // namespace etch
