// Counting executed instructions on this CPU, where there is no emulator to do it: the program is
// executed one instruction at a time, as a debugger does it. Slow, some microseconds for each.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace etch::cli {

// Whether this machine can.
bool can_single_step();

// What of a program is counted: between calls of the function at `mark`, a symbol's value in the
// program's file. Of `times` groups of so many calls each; what is before a group, as reading files
// is, is executed at full speed.
struct CountedPart {
  std::uint64_t mark = 0;
  std::size_t times = 0, marks = 0;
};

// Runs `command` in `folder`, in groups one instruction at a time. Returns for each group 0, for
// what is before it, and the instructions between one call and the next, marks - 1 numbers; fewer
// with a reason in `why`.
std::vector<std::int64_t> single_step(const std::vector<std::string>& command,
                                      const std::filesystem::path& folder, const CountedPart& part,
                                      std::chrono::milliseconds limit, std::string& why);

}  // namespace etch::cli
