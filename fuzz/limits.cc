// See limits.h.
#include "fuzz/limits.h"

namespace etch::fuzz {

ImportOptions import_options() {
  ImportOptions options;
  options.limits.file_bytes = std::size_t{256} << 10;
  options.limits.elements = std::int64_t{1} << 16;
  options.limits.nodes = 64;
  options.limits.name_bytes = std::size_t{4} << 10;
  return options;
}

}  // namespace etch::fuzz
