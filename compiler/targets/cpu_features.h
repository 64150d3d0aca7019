// What the processor that this program runs on can execute.
#pragma once

#include <string_view>

namespace etch {

// Whether this machine's CPU and operating system have all of `features`, gcc's names with spaces
// between: "avx2 fma". An unknown name is a defect of the compiler and aborts.
bool cpu_has_all(std::string_view features);

}  // namespace etch
