// A convolution's shapes as explicit numbers per spatial axis (docs/spec: shapes): what resolving a
// node ends in and all that kernels need to know of it. Serves Conv, ConvInteger, QLinearConv and,
// transposed, ConvTranspose and QLinearConvTranspose, in one to three spatial dimensions.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/tensor.h"

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

}  // namespace etch
