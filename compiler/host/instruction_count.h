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

// The address in the program's file of the function that marks pieces; 0: it has none.
std::uint64_t address_of_mark(const std::filesystem::path& program);

// The plugin built into `folder`, as the emulator's option to load it for `program`: it will write
// into `folder`, with `blocks` also which blocks were executed (cycle_model.h). Null after an
// error.
std::optional<std::string> build_counter(const std::filesystem::path& folder,
                                         const std::filesystem::path& program, bool blocks,
                                         Reporter& reporter);

// Before each run in `folder`: what an earlier one counted is not read again.
void forget_counts(const std::filesystem::path& folder);

// What the plugin counted in each of `pieces` pieces of a program that marks them as harness.h
// does, less the call itself. Null after an error.
std::optional<std::vector<std::int64_t>> read_counts(const std::filesystem::path& folder,
                                                     std::size_t pieces, Reporter& reporter);

// The same from the numbers of instructions between one mark and the next.
std::vector<std::int64_t> pieces_of(const std::vector<std::int64_t>& counts);

// The text that the plugin wrote about blocks; empty if there is none.
std::string read_block_counts(const std::filesystem::path& folder);

}  // namespace etch::cli
