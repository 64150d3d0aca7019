// How many bytes of code a compiled file holds, read from its ELF section and symbol tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace etch::cli {

struct ObjectSize {
  std::int64_t code_bytes = 0;                    // of all executable sections
  std::map<std::string, std::int64_t> functions;  // mangled name -> bytes
};

// `bytes` is an ELF object (see elf_file.h). Anything else, and whatever in it cannot be
// understood, counts as nothing.
ObjectSize size_of_object(std::string_view bytes);

// Bytes of the functions in namespaces whose unqualified C++ name is `name`, and of those that only
// the file knows and whose names begin with it: the tiles "n03_conv_tile_2x4" of a step "n03_conv".
std::int64_t bytes_of_function(const ObjectSize& object, std::string_view name);

}  // namespace etch::cli
