// Counting executed instructions in an emulator: builds templates/files/count_instructions.cc for
// this machine and reads what it wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/host/reporter.h"

namespace etch::cli {

// The plugin built into `folder`, as the emulator's option to load it for `program`: it will write
// into `folder`. Null after an error.
std::optional<std::string> build_counter(const std::filesystem::path& folder,
                                         const std::filesystem::path& program, Reporter& reporter);

// What the plugin counted in each of `pieces` pieces of a program that marks them as harness.h
// does, less the call itself. Null after an error.
std::optional<std::vector<std::int64_t>> read_counts(const std::filesystem::path& folder,
                                                     std::size_t pieces, Reporter& reporter);

}  // namespace etch::cli
