// See capabilities.h.
#include "compiler/targets/capabilities.h"

namespace etch {

Capabilities capabilities_of(const IsaTraits& isa) {
  Capabilities out;
  out.sums_in_convolutions = isa.fpu;
  out.convolutions_copy_rows = isa.assembly == Assembly::kDsp;
  out.depthwise_copies_rows = isa.assembly == Assembly::kDsp || isa.assembly == Assembly::kMve;
  return out;
}

}  // namespace etch
