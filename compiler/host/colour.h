// Colours of words on terminals. Pipes and files never get any, nor does a terminal where NO_COLOR
// is set (https://no-color.org) or TERM is dumb or not set: what scripts read has no escapes in it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace etch::cli {

enum class Colour { kRed, kGreen, kYellow, kCyan };

// `text` in this colour if `stream` shows colours, otherwise as it is.
std::string in_colour(std::string_view text, Colour colour, std::FILE* stream);

// "PASS" or "FAIL", for standard output.
std::string verdict_word(bool pass);

}  // namespace etch::cli
