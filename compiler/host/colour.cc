// Escapes of terminals; see colour.h.
#include "compiler/host/colour.h"

#include <unistd.h>

#include <cstdlib>

#include "compiler/base/text.h"

namespace etch::cli {
namespace {

bool shows_colours(std::FILE* stream) {
  const char* const no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* const terminal = std::getenv("TERM");
  if (terminal == nullptr || *terminal == '\0' || std::string_view(terminal) == "dumb")
    return false;
  return isatty(fileno(stream)) == 1;
}

std::string_view escape_of(Colour colour) {
  switch (colour) {
    case Colour::kRed:
      return "\033[1;31m";
    case Colour::kGreen:
      return "\033[1;32m";
    case Colour::kYellow:
      return "\033[1;33m";
    case Colour::kCyan:
      break;
  }
  return "\033[36m";
}

}  // namespace

std::string in_colour(std::string_view text, Colour colour, std::FILE* stream) {
  if (!shows_colours(stream)) return std::string(text);
  return cat(escape_of(colour), text, "\033[0m");
}

std::string verdict_word(bool pass) {
  return in_colour(pass ? "PASS" : "FAIL", pass ? Colour::kGreen : Colour::kRed, stdout);
}

}  // namespace etch::cli
