// A small lexer for generated C++: enough to see text that got out of a comment or a string.
#pragma once

#include <string>
#include <string_view>

namespace etch::fuzz {

// Why `code` cannot be what was meant: unbalanced brackets, an open string or comment, a line
// comment that swallows the next line, a trigraph. Empty: nothing.
std::string fault_of_code(std::string_view code);

}  // namespace etch::fuzz
