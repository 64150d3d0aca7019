// Granularity of QuantizeLinear and DequantizeLinear; see quantization_axis.h.
#include "compiler/ops/quantization_axis.h"

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/quantization.h"

namespace etch {

namespace {

std::int64_t read_block_size(ResolveContext& context) {
  if (context.node().domain != kOnnx || context.opset() < 21) return 0;
  const std::int64_t block = context.int_attr("block_size", 0);
  if (block < 0) context.attr_error("block_size", cat("must be >= 0, got ", block));
  return block;
}

QuantizationAxis split_at(const Shape& shape, std::int64_t axis) {
  QuantizationAxis out;
  out.axis = axis;
  out.size = shape[as_index(axis)];
  out.outer = element_count({shape.begin(), shape.begin() + axis});
  out.inner = element_count({shape.begin() + axis + 1, shape.end()});
  return out;
}

std::int64_t count_of_blocks(std::int64_t size, std::int64_t block) {
  return size == 0 ? 0 : (size - 1) / block + 1;  // `block` may be huge: no size + block
}

}  // namespace

std::optional<ResolvedQuantizationAxis> resolve_quantization_axis(ResolveContext& context) {
  const std::int64_t asked = context.int_attr("axis", 1);
  const std::int64_t block = read_block_size(context);
  if (context.failed()) return std::nullopt;
  const Shape& x = context.shape(0);
  const Shape& scale = context.shape(1);
  if (block == 0 && (scale.empty() || scale == Shape{1})) {
    return ResolvedQuantizationAxis{{}, per_tensor_shapes()};
  }
  // A vector has one axis. tf2onnx gives biases the axis of their weights.
  const bool is_vector = x.size() == 1 && block == 0;
  const auto axis = is_vector ? std::optional<std::int64_t>(0) : normal_axis(asked, rank_of(x));
  if (!axis) {
    context.attr_error("axis", cat("is out of range for rank ", x.size(), ", got ", asked));
    return std::nullopt;
  }
  ResolvedQuantizationAxis out{split_at(x, *axis), per_channel_shapes(x[as_index(*axis)])};
  out.axis.granularity = QuantizationGranularity::kAxis;
  if (block > 0) {
    out.axis.granularity = QuantizationGranularity::kBlock;
    out.axis.block = block;
    Shape blocks = x;
    blocks[as_index(*axis)] = count_of_blocks(out.axis.size, block);
    out.shapes = {blocks};
  }
  return out;
}

}  // namespace etch
