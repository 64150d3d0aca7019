// What a fuzzing program calls when the compiler breaks a promise. libFuzzer keeps the input.
#pragma once

#include <string_view>

namespace etch::fuzz {

// Prints what was found and aborts.
[[noreturn]] void finding(std::string_view what);

}  // namespace etch::fuzz
