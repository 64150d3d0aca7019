// From a Program to the files of the generated folder. Pure: returns the files' texts; writing
// them (temporary folder, then rename) is output_folder's work.
#pragma once

#include <string>
#include <vector>

#include "compiler/program/step.h"

namespace etch {

// In the C++ files; in a file that the assembler includes; in a file that is linked to the program
// by one address, or programmed into memory there.
enum class WeightsForm { kEmbedded, kFile, kBinary };
enum class FileLayout { kFolder, kSingleFile };

struct EmitOptions {
  std::string name = "model";  // [A-Za-z_][A-Za-z0-9_]*: namespace, file stem, symbol prefix
  WeightsForm weights = WeightsForm::kEmbedded;
  std::string weights_section = {};  // is_usable_section(); empty: the compiler's for constants
  FileLayout layout = FileLayout::kFolder;
  std::string package = {};  // "cmake,zephyr": the forms of --package, for the record only
  std::string made_as = {};  // of a variant's network: the name of the whole, for the record only
  bool profile = false;      // also NAME_profile.h: a table of the steps for `etch bench`
};

// Of a program with variants, each becomes a network NAME_TARGET with a header, steps and weights
// of its own; NAME.h and NAME.cc give them one run() that takes the variant as an argument.
struct OutputFile {
  std::string path;         // relative, forward slashes: "etch/vocab.h"
  std::string content;      // text, or bytes of a weights file
  std::string target = {};  // whose flags this source is compiled with; empty: the whole program's
  bool as_is = false;       // runtime, vocabularies and bytes: not text that was written here
};

std::vector<OutputFile> emit(const Program& program, const EmitOptions& options);

}  // namespace etch
