// See elf_file.h. Structures and constants are those of <elf.h>.
#include "compiler/host/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace etch::cli {
namespace {

struct Elf32 {
  using Header = Elf32_Ehdr;
  using Section = Elf32_Shdr;
  using Symbol = Elf32_Sym;
};
struct Elf64 {
  using Header = Elf64_Ehdr;
  using Section = Elf64_Shdr;
  using Symbol = Elf64_Sym;
};

// The T at `offset`, or null beyond the end. Its fields are still in the file's byte order.
template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

template <class Elf>
class ElfReader {
 public:
  ElfReader(std::string_view bytes, bool swapped) : bytes_(bytes), swapped_(swapped) {}

  ElfFile read() const {
    ElfFile file;
    const auto header = read_at<typename Elf::Header>(bytes_, 0);
    if (!header) return file;
    for (std::uint64_t i = 0; i < field(header->e_shnum); ++i) {
      const auto section = read_at<typename Elf::Section>(
          bytes_, field(header->e_shoff) + i * sizeof(typename Elf::Section));
      if (!section) continue;
      file.sections.push_back({field(section->sh_type), field(section->sh_flags),
                               field(section->sh_offset), field(section->sh_size),
                               field(section->sh_link)});
    }
    for (const ElfSection& section : file.sections) {
      if (section.type != SHT_SYMTAB || section.link >= file.sections.size()) continue;
      add_symbols(section, file.sections[section.link], file);
    }
    return file;
  }

 private:
  template <class T>
  T field(T value) const {
    if (!swapped_) return value;
    char text[sizeof(T)];
    std::memcpy(text, &value, sizeof(T));
    std::reverse(text, text + sizeof(T));
    std::memcpy(&value, text, sizeof(T));
    return value;
  }

  void add_symbols(const ElfSection& symbols, const ElfSection& strings, ElfFile& file) const {
    constexpr std::uint64_t kBytes = sizeof(typename Elf::Symbol);
    for (std::uint64_t at = 0; at + kBytes <= symbols.size; at += kBytes) {
      const auto symbol = read_at<typename Elf::Symbol>(bytes_, symbols.offset + at);
      if (!symbol) return;
      file.symbols.push_back({text_at(bytes_, strings.offset + field(symbol->st_name)),
                              field(symbol->st_value), field(symbol->st_size),
                              ELF64_ST_TYPE(symbol->st_info) == STT_FUNC,
                              field(symbol->st_shndx) != SHN_UNDEF});
    }
  }

  std::string_view bytes_;
  bool swapped_;
};

}  // namespace

ElfFile read_elf(std::string_view bytes) {
  if (bytes.size() < EI_NIDENT || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return {};
  const bool little = std::endian::native == std::endian::little;
  const bool swapped = (bytes[EI_DATA] == ELFDATA2LSB) != little;
  if (bytes[EI_CLASS] == ELFCLASS32) return ElfReader<Elf32>(bytes, swapped).read();
  if (bytes[EI_CLASS] == ELFCLASS64) return ElfReader<Elf64>(bytes, swapped).read();
  return {};
}

}  // namespace etch::cli
