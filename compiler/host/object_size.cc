// See object_size.h.
#include "compiler/host/object_size.h"

#include <elf.h>

#include <optional>

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

namespace {

struct Identifier {
  std::string_view name;
  bool is_local = false;  // of internal linkage
};

// The last identifier of a function in a namespace. In the Itanium ABI it is its length and its
// letters, after an L where only the file knows it: "_ZN3net5steps8n03_convEPKh".
std::optional<Identifier> identifier_of(std::string_view symbol) {
  constexpr std::string_view kNested = "_ZN";
  if (!symbol.starts_with(kNested)) return std::nullopt;
  std::optional<Identifier> out;
  for (std::size_t at = kNested.size(); at < symbol.size();) {
    const bool is_local = symbol[at] == 'L';
    if (is_local) ++at;
    std::size_t length = 0;
    const std::size_t digits = at;
    for (; at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9' && length < symbol.size();
         ++at)
      length = 10 * length + static_cast<std::size_t>(symbol[at] - '0');
    if (at == digits || length > symbol.size() - at) break;
    out = {symbol.substr(at, length), is_local};
    at += length;
  }
  return out;
}

bool begins_with(std::string_view name, std::string_view step) {
  return name.size() > step.size() && name.starts_with(step) && name[step.size()] == '_';
}

// The function that is known to other files and whose name, with more after it, a local one has.
std::string_view owner_of(const ObjectSize& object, std::string_view local) {
  std::string_view owner;
  for (const auto& [symbol, size] : object.functions) {
    const std::optional<Identifier> other = identifier_of(symbol);
    if (!other || other->is_local || !begins_with(local, other->name)) continue;
    if (other->name.size() > owner.size()) owner = other->name;
  }
  return owner;
}

}  // namespace

std::int64_t bytes_of_function(const ObjectSize& object, std::string_view name) {
  std::int64_t bytes = 0;
  for (const auto& [symbol, size] : object.functions) {
    const std::optional<Identifier> own = identifier_of(symbol);
    if (!own) continue;
    const bool is_tile = own->is_local && begins_with(own->name, name);
    if (own->name == name || (is_tile && owner_of(object, own->name) == name)) bytes += size;
  }
  return bytes;
}

}  // namespace etch::cli
