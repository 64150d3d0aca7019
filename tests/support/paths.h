// Where the project and the built program are, for tests, and what files hold. The two paths are in
// one file, so that objects of all others are the same in every clone and a compiler cache can
// serve them.
#pragma once

#include <filesystem>
#include <string>

namespace etch {

// The folder of CMakeLists.txt, absolute.
std::string source_dir();

// The program `etch`, absolute.
std::string etch_binary();

// The bytes of a file; nothing if it cannot be read.
std::string contents_of(const std::filesystem::path& path);

}  // namespace etch
