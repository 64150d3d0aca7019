// From a Program to the files of the generated folder. Pure: returns the files' texts; writing
// them (temporary folder, then rename) is output_folder's work.
#pragma once

#include <string>
#include <vector>

#include "compiler/steps/step.h"

namespace etch {

enum class WeightsForm { kEmbedded, kFile };
enum class FileLayout { kFolder, kSingleFile };

struct EmitOptions {
  std::string name = "model";  // [A-Za-z_][A-Za-z0-9_]*: namespace, file stem, symbol prefix
  WeightsForm weights = WeightsForm::kEmbedded;
  FileLayout layout = FileLayout::kFolder;
  bool profile = false;  // also NAME_profile.h: a table of the steps for `etch bench`
};

struct OutputFile {
  std::string path;     // relative, forward slashes: "etch/vocab.h"
  std::string content;  // text, or bytes of a weights file
};

std::vector<OutputFile> emit(const Program& program, const EmitOptions& options);

}  // namespace etch
