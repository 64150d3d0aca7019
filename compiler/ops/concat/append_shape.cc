// Adds sizes along one axis; see append_shape.h.
#include "compiler/ops/concat/append_shape.h"

#include "compiler/base/checked.h"
#include "compiler/base/text.h"

namespace etch {

bool append_shape(ResolveContext& context, int first, int i, std::size_t axis, Shape& out) {
  Shape rest = context.shape(i);
  if (rest.size() == out.size()) {
    const auto sum = checked_add(out[axis], rest[axis]);
    rest[axis] = out[axis];
    if (rest == out && sum) {
      out[axis] = *sum;
      return true;
    }
  }
  context.error(DiagKind::kShape,
                cat("input ", i, " of shape ", to_string(context.shape(i)), " does not fit ",
                    to_string(context.shape(first)), " along axis ", axis));
  return false;
}

}  // namespace etch
