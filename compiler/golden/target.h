// What `etch golden` records of one target: generates its code, builds it and runs the samples.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/golden/file.h"
#include "compiler/host/model_options.h"

namespace etch::cli {

enum class GoldenDepth { kGenerate, kBuildAndRun };

// The model and what to do with it, the same for all targets.
struct GoldenTask {
  ModelOptions options;  // of which the target is replaced
  std::string name;      // of the generated network
  // Folders with inputs; made-up ones from 1, 2, ... `seeds` if there are none.
  std::vector<std::filesystem::path> data;
  std::uint32_t seeds = 0;
  GoldenDepth depth = GoldenDepth::kBuildAndRun;
};

struct TargetResult {
  ExitCode code = ExitCode::kOk;  // otherwise the rest means nothing, and the reason is printed
  GoldenTarget target;            // all but the files
  std::vector<OutputFile> files;
  std::vector<GoldenSample> samples;  // the outputs are empty if target.not_run is not
};

// A target that cannot be run here (no compiler, no emulator, too little memory on the emulated
// board) is no error: `not_run` says why.
TargetResult make_target(const GoldenTask& task, const std::string& target);

// Sizes and hashes of the files. If they were to be written by Etch `version` instead of this one,
// which is named in every file.
std::map<std::string, GoldenBytes> hashes_of(const std::vector<OutputFile>& files,
                                             const std::string& version);

// Of each step function in `files` named STEM_steps_*.cc its text, with that of the functions
// before it that it calls; by the names of `functions`.
std::map<std::string, std::string> texts_of_steps(const std::vector<OutputFile>& files,
                                                  const std::string& stem,
                                                  const std::vector<std::string>& functions);

// SHA-256 of the elements, with one pattern for every NaN of a float32.
std::string hash_of_values(Tensor tensor);

}  // namespace etch::cli
