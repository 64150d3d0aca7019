// The only file that is compiled with the paths; see paths.h and CMakeLists.txt.
#include "tests/support/paths.h"

namespace etch {

std::string source_dir() { return ETCH_SOURCE_DIR; }

std::string etch_binary() { return ETCH_BINARY; }

}  // namespace etch
