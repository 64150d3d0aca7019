// The only file that is compiled with the paths; see paths.h and cmake/tests.cmake.
#include "tests/support/paths.h"

#include <fstream>
#include <iterator>

namespace etch {

std::string source_dir() { return ETCH_SOURCE_DIR; }

std::string etch_binary() { return ETCH_BINARY; }

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace etch
