// Where the project and the built program are, for tests. The two paths are compiled into one file,
// so that objects of all others are the same in every clone and a compiler cache can serve them.
#pragma once

#include <string>

namespace etch {

// The folder of CMakeLists.txt, absolute.
std::string source_dir();

// The program `etch`, absolute.
std::string etch_binary();

}  // namespace etch
