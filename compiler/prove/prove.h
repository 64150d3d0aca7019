// `etch prove`: whether the compiled code of each integer layer in a generated folder computes what
// the layer's operator defines, for all inputs; docs/proof.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/host/model_options.h"
#include "compiler/host/reporter.h"
#include "compiler/prove/phases.h"

namespace etch::cli {

struct ProofTask {
  ModelOptions options;  // the model, and how the folder was made
  std::filesystem::path folder;
  std::string stem;                 // of the folder's files
  std::vector<std::string> layers;  // steps to prove; empty: all
  double work = 0;                  // multiplications per part at most; 0: the target's default
};

// One step.
struct StepProof {
  std::string name, origin, summary;
  std::string not_proved;    // why; empty: see the parts
  std::string weights_from;  // the initializer of the file that has these weights; empty: none
  std::vector<PhaseResult> parts;

  bool is_layer() const { return not_proved.empty(); }
  bool holds() const;     // all parts hold
  bool complete() const;  // and nothing was left out
};

struct FolderProof {
  std::string target;
  int differing_files = 0;  // from what this Etch generates
  std::vector<StepProof> steps;

  bool holds() const;
};

// Null after an error.
std::optional<FolderProof> prove_folder(const ProofTask& task, Reporter& reporter);

}  // namespace etch::cli
