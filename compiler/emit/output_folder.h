// Writes a generated folder so that it is there as a whole or not at all: into a temporary folder
// beside the target first, which is then renamed into place.
#pragma once

#include <filesystem>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/emit/emit.h"

namespace etch {

enum class Overwrite {
  kOwnFiles,  // only a folder in which there is nothing but files that Etch wrote
  kAnything,  // any folder: --force
};

// Makes `target` a folder with exactly `files`, one of which must be `mark`: it marks the folder as
// ours and lists what belongs to it. Missing parents are made. An existing folder is
// replaced in one step if `overwrite` allows it; anything that is not a folder is never replaced.
// On failure nothing has changed, and E-IO errors say why. Returns whether it succeeded. What a
// killed program left beside the target is removed first (compiler/base/scratch_folder.h).
bool write_output_folder(const std::vector<OutputFile>& files, const std::filesystem::path& target,
                         Overwrite overwrite, Sink& sink, const char* mark = "report.json");

}  // namespace etch
