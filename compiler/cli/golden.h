// The two halves of `etch golden` and what the command line gives to each of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/cli/options.h"
#include "compiler/cli/parser.h"
#include "compiler/golden/folder.h"

namespace etch::cli {

struct RecordOptions : ModelOptions {
  std::vector<std::string> targets;
  std::vector<std::string> data;
  std::string output;
  std::uint32_t samples = 3;
  bool generate_only = false;
  bool force = false;
  bool json = false;
  std::vector<std::string> words;  // the options among the arguments, for the file
};

struct VerifyOptions {
  std::string folder;
  std::vector<std::string> targets;  // only these; empty: all that were recorded
  std::string model;
  double time_limit = 0;
  double max_growth = -1;  // percent; negative: any
  bool allow_code_change = false;
  bool generate_only = false;
  bool skip_missing = false;
  bool update = false;
  bool json = false;
};

// What of the command line is kept in the file and changes the generated code.
void add_kept_options(const Parser& parser, ModelOptions& options);

// Whether a target ran when it was recorded.
bool has_outputs(const Golden& golden);

// Writes the folder `options.output`. kDiffer if the outputs of two targets differ.
ExitCode record_golden(const RecordOptions& options, Reporter& reporter);

// Generates, builds and runs again what the folder holds. kDiffer: other outputs; kChanged: other
// code, size or model; kIo: a target that ran when recorded cannot be run here.
ExitCode verify_golden(const VerifyOptions& options, Reporter& reporter);

}  // namespace etch::cli
