// Files of the source tree that the program carries inside itself: the vocabulary header of every
// ISA, the shells under templates/files and the runtime headers. Generated folders are delivered
// with copies of some of them, so the compiler must not depend on where, or whether, its source
// tree is installed. The table itself is written by cmake/embed.cmake.

#pragma once

#include <span>
#include <string_view>

namespace etch {

struct EmbeddedFile {
  std::string_view path;  // relative to the project root, e.g. "templates/isa/avx2/vocab.h"
  std::string_view text;  // the whole file, lives as long as the program
};

// All embedded files, sorted by path.
std::span<const EmbeddedFile> embedded_files();

// The text of the file at `path` (relative to the project root). A path that is not embedded is a
// defect of the compiler and aborts.
std::string_view embedded_file(std::string_view path);

}  // namespace etch
