// A pooling's shapes as explicit numbers per spatial axis. Windows are clipped to the image: a
// position outside it does not exist.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/geometry/convolution.h"

namespace etch {

// x [N, C, in...], y [N, C, out...]; channels last: [N, in..., C] and [N, out..., C].
struct PoolGeometry {
  ConvLayout layout = ConvLayout::kChannelsFirst;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::vector<ConvAxis> axes;  // outermost first, 1 to 3; each pad is < kernel

  Shape output_shape() const;
};

}  // namespace etch
