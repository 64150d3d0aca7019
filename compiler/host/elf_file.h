// Sections and symbols of an ELF file: objects and programs of this machine and of others, 32 or
// 64 bits wide, in either byte order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace etch::cli {

struct ElfSection {
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
};

struct ElfSymbol {
  std::string_view name;  // points into the file's bytes
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  bool is_function = false;
  bool is_defined = false;
};

struct ElfFile {
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
};

// What can be understood of `bytes`; empty if that is no ELF file.
ElfFile read_elf(std::string_view bytes);

}  // namespace etch::cli
