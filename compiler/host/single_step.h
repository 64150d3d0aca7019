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

// Runs `command` in `folder` up to its first call of the function at `mark`, a symbol's value in
// the program's file, and from there one instruction at a time until it has been called `marks`
// times. Returns the instructions between one call and the next: marks - 1 numbers, or fewer with
// a reason in `why`.
std::vector<std::int64_t> single_step(const std::vector<std::string>& command,
                                      const std::filesystem::path& folder, std::uint64_t mark,
                                      std::size_t marks, std::chrono::milliseconds limit,
                                      std::string& why);

}  // namespace etch::cli
