// Breaks the long lines of generated C++, so that people and their review tools can read them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace etch {

inline constexpr std::size_t kMostColumns = 100;

// `code` with every line of more than kMostColumns broken after a comma, at an operator or between
// words of a comment; tokens stay the same. A comment after code moves to a line of its own before
// it. What cannot be broken (a literal) stays.
std::string wrapped(std::string_view code);

}  // namespace etch
