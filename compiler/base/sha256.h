// SHA-256 of a file's bytes: how generated code says which model it was made from.
#pragma once

#include <string>
#include <string_view>

namespace etch {

// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace etch
