// Lines of tables that commands print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace etch::cli {

// `text` with blanks up to `width` characters, after it or before it; longer text as it is.
std::string left_aligned(std::string_view text, std::size_t width);
std::string right_aligned(std::string_view text, std::size_t width);

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

}  // namespace etch::cli
