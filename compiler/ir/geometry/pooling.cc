// See pooling.h.
#include "compiler/ir/geometry/pooling.h"

namespace etch {

Shape PoolGeometry::output_shape() const {
  const bool last = layout == ConvLayout::kChannelsLast;
  Shape shape = {batch};
  if (!last) shape.push_back(channels);
  for (const ConvAxis& axis : axes) shape.push_back(axis.out);
  if (last) shape.push_back(channels);
  return shape;
}

}  // namespace etch
