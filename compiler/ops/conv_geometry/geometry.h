// Shape rules that all convolutions share: attributes, defaults, automatic padding and implicit
// sizes of one node become explicit numbers per spatial axis (specification sections 1.4 and
// 3.3). Serves Conv, ConvInteger, QLinearConv and, transposed, ConvTranspose and
// QLinearConvTranspose, in one to three spatial dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ops/op.h"

namespace etch {

enum class ConvDirection { kForward, kTransposed };
enum class ConvLayout { kChannelsFirst, kChannelsLast };  // of x and y; w never changes

// One spatial axis. Forward: tap j of output o reads input o*stride + j*dilation - pad_begin.
// Transposed: input i adds through tap j to output i*stride + j*dilation - pad_begin. Positions
// outside [0, in) and [0, out) do not exist and contribute nothing.
struct ConvAxis {
  std::int64_t in = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;  // >= 0; transposed: cropped from the full output
  std::int64_t pad_end = 0;
  std::int64_t out = 1;  // >= 1
  bool operator==(const ConvAxis&) const = default;
};

// x [N, C, in...], y [N, M, out...]; channels last: [N, in..., C] and [N, out..., M].
// w forward [M, C/group, kernel...], transposed [C, M/group, kernel...]. Output channel m belongs
// to group m / (M/group).
struct ConvGeometry {
  ConvDirection direction = ConvDirection::kForward;
  ConvLayout layout = ConvLayout::kChannelsFirst;
  std::int64_t batch = 1;  // may be 0
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t group = 1;
  std::vector<ConvAxis> axes;  // outermost first, 1 to 3

  std::int64_t in_per_group() const { return in_channels / group; }
  std::int64_t out_per_group() const { return out_channels / group; }
  Shape output_shape() const;
};

// Consumes kernel_shape, strides, dilations, group, auto_pad and pads (transposed: also
// output_padding and output_shape) of a node whose x and w are inputs `x` and `w`. Reports
// E-ATTR, E-SHAPE, E-LIMIT (output too large) or E-UNSUPPORTED (more than 3 spatial axes) and
// returns nothing when the node is wrong.
struct ConvInputs {
  int x = 0;
  int w = 1;
};
std::optional<ConvGeometry> resolve_conv_geometry(ResolveContext& context, ConvDirection direction,
                                                  ConvLayout layout, ConvInputs inputs);

// Checks an optional bias input: [M] (E-SHAPE) of `type` (E-TYPE).
void check_conv_bias(ResolveContext& context, int input, DType type, std::int64_t channels);

}  // namespace etch
