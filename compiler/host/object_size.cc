// See object_size.h.
#include "compiler/host/object_size.h"

#include <elf.h>

#include "compiler/base/text.h"
#include "compiler/host/elf_file.h"

namespace etch::cli {

ObjectSize size_of_object(std::string_view bytes) {
  ObjectSize out;
  const ElfFile file = read_elf(bytes);
  for (const ElfSection& section : file.sections) {
    if ((section.flags & SHF_EXECINSTR) != 0) {
      out.code_bytes += static_cast<std::int64_t>(section.size);
    }
  }
  for (const ElfSymbol& symbol : file.symbols) {
    if (!symbol.is_function || !symbol.is_defined) continue;
    out.functions[std::string(symbol.name)] = static_cast<std::int64_t>(symbol.size);
  }
  return out;
}

std::int64_t bytes_of_function(const ObjectSize& object, std::string_view name) {
  // In the Itanium ABI an identifier is its length and its letters: "8n03_conv". What
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
