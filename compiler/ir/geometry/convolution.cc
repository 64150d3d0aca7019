// See convolution.h.
#include "compiler/ir/geometry/convolution.h"

namespace etch {

Shape ConvGeometry::output_shape() const {
  Shape out{batch};
  if (layout == ConvLayout::kChannelsFirst) out.push_back(out_channels);
  for (const ConvAxis& axis : axes) out.push_back(axis.out);
  if (layout == ConvLayout::kChannelsLast) out.push_back(out_channels);
  return out;
}

}  // namespace etch
