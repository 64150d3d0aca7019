// See describe.h.
#include "compiler/kernels/products/floats/describe.h"

#include "compiler/base/text.h"
#include "compiler/ir/tensor.h"

namespace etch {
namespace {

std::string summary_of(const ConvGeometry& g, bool depthwise) {
  std::string kernel;
  for (const ConvAxis& axis : g.axes) kernel += cat(kernel.empty() ? "" : "x", axis.kernel);
  return cat("float ", kernel, g.direction == ConvDirection::kTransposed ? " transposed" : "",
             depthwise ? " depthwise" : "", " convolution, ", g.in_channels, " -> ",
             counted(g.out_channels, "channel"));
}

std::int64_t count_macs(const ConvGeometry& g) {
  const bool transposed = g.direction == ConvDirection::kTransposed;
  std::int64_t count = g.batch;
  for (const ConvAxis& axis : g.axes) count *= axis.kernel * (transposed ? axis.in : axis.out);
  return count * g.in_per_group() * g.out_channels;
}

template <class Geometry>
std::string matrix_summary(const Geometry& g) {
  return cat("float matrix product, ", g.rows, " x ", g.depth, " by ", g.depth, " x ", g.cols);
}

}  // namespace

FloatProductDescription describe_float_conv(const ConvGeometry& g, bool depthwise) {
  return {depthwise ? "depthwise" : "conv", summary_of(g, depthwise), count_macs(g)};
}

FloatProductDescription describe_float_matmul(const MatMulGeometry& g) {
  return {"matmul", matrix_summary(g), element_count(g.batch) * g.rows * g.depth * g.cols};
}

FloatProductDescription describe_float_gemm(const GemmGeometry& g) {
  return {"matmul", matrix_summary(g), g.rows * g.depth * g.cols};
}

}  // namespace etch
