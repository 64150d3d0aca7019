// See columns.h.
#include "compiler/cli/columns.h"

#include "compiler/base/text.h"

namespace etch::cli {

std::string left_aligned(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.resize(width, ' ');
  return out;
}

std::string right_aligned(std::string_view text, std::size_t width) {
  const std::size_t blanks = text.size() < width ? width - text.size() : 0;
  return std::string(blanks, ' ').append(text);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) out += cat(out.empty() ? "" : separator, part);
  return out;
}

}  // namespace etch::cli
