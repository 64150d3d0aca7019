// See model_name.h.
#include "compiler/cli/model_name.h"

#include <algorithm>

#include "compiler/text/names.h"

namespace etch::cli {
namespace {

bool is_part_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string name_from_path(const std::filesystem::path& model) {
  constexpr std::size_t kLongest = 32;
  std::string name;
  for (const char c : model.stem().string()) {
    if (is_part_of_name(c)) {
      name.push_back(c);
    } else if (!name.empty() && name.back() != '_') {
      name.push_back('_');
    }
  }
  name.resize(std::min(name.size(), kLongest));
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (is_usable_name(name)) return name;
  const std::string prefixed = "model_" + name;
  return is_usable_name(prefixed) ? prefixed : "model";
}

}  // namespace etch::cli
