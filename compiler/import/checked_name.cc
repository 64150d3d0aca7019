// See checked_name.h.
#include "compiler/import/checked_name.h"

#include <utility>

#include "compiler/base/text.h"

namespace etch {

bool check_name(const std::string& name, const std::string& location, const Limits& limits,
                Sink& sink) {
  if (std::cmp_greater(name.size(), limits.name_bytes)) {
    sink.error(DiagKind::kLimit, location,
               cat("a name has ", name.size(), " bytes, ", at_most(limits, &Limits::name_bytes)));
    return false;
  }
  if (is_utf8(name)) return true;
  sink.error(DiagKind::kName, location, "a name is not UTF-8, as strings of ONNX have to be");
  return false;
}

}  // namespace etch
