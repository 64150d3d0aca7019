// Counting executed instructions in an emulator: builds templates/files/count_instructions.cc for
// this machine and reads what it wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
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

// What the plugin counted between one mark and the next, and before the first; empty if it cannot.
std::vector<std::int64_t> read_counts(const std::filesystem::path& folder);

// Of the instructions between one mark and the next of one sample, as harness.h sets them: those of
// each piece after the first, the call of nothing, less what that one takes.
std::vector<std::int64_t> pieces_of(std::span<const std::int64_t> counts);

// The same of all samples, each with its number of pieces and the call of nothing. `counts` has
// what was before each sample's first mark. Empty if it has another size.
std::vector<std::vector<std::int64_t>> samples_of(std::span<const std::int64_t> counts,
                                                  std::size_t samples, std::size_t pieces);

// The text that the plugin wrote about blocks; empty if there is none.
std::string read_block_counts(const std::filesystem::path& folder);

}  // namespace etch::cli
