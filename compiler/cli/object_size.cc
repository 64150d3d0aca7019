// See object_size.h. Structures and constants are those of <elf.h>.
#include "compiler/cli/object_size.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

#include "compiler/base/text.h"

namespace etch::cli {
namespace {

// The T at `offset`, or null beyond the end.
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

std::vector<Elf64_Shdr> sections_of(std::string_view bytes) {
  std::vector<Elf64_Shdr> sections;
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return sections;
  }
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (section) sections.push_back(*section);
  }
  return sections;
}

void add_functions(std::string_view bytes, const Elf64_Shdr& symbols, const Elf64_Shdr& strings,
                   ObjectSize& out) {
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = read_at<Elf64_Sym>(bytes, symbols.sh_offset + at);
    if (!symbol) return;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
    const std::string name(text_at(bytes, strings.sh_offset + symbol->st_name));
    out.functions[name] = static_cast<std::int64_t>(symbol->st_size);
  }
}

}  // namespace

ObjectSize size_of_object(std::string_view bytes) {
  ObjectSize out;
  const std::vector<Elf64_Shdr> sections = sections_of(bytes);
  for (const Elf64_Shdr& section : sections) {
    if ((section.sh_flags & SHF_EXECINSTR) != 0) {
      out.code_bytes += static_cast<std::int64_t>(section.sh_size);
    }
    if (section.sh_type == SHT_SYMTAB && section.sh_link < sections.size()) {
      add_functions(bytes, section, sections[section.sh_link], out);
    }
  }
  return out;
}

std::int64_t bytes_of_function(const ObjectSize& object, std::string_view name) {
  // In the Itanium ABI an identifier stands as its length and its letters: "8n03_conv". What
  // follows ends the name (E) or starts the parameters.
  const std::string mangled = cat(name.size(), name);
  std::int64_t bytes = 0;
  for (const auto& [symbol, size] : object.functions) {
    const std::size_t at = symbol.find(mangled);
    const bool digit_before =
        at != std::string::npos && at > 0 && symbol[at - 1] >= '0' && symbol[at - 1] <= '9';
    if (at != std::string::npos && !digit_before) bytes += size;
  }
  return bytes;
}

}  // namespace etch::cli
