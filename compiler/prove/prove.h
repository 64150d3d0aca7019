// `etch prove`: whether the compiled code of each integer layer in a generated folder computes what
// the layer's operator defines, for all inputs; docs/proof.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/host/reporter.h"
#include "compiler/options.h"
#include "compiler/prove/phases.h"

namespace etch::cli {

struct ProofTask {
  std::string model;       // file
  CompileOptions compile;  // how the folder was made of it
  EmitOptions emit;        // and written
  std::string sha256;      // of the model, as the folder says
  std::string canonical;   // canonical_options(), as the folder says
  std::filesystem::path folder;
  std::vector<std::string> layers;  // steps to prove; empty: all
  double work = 0;                  // multiplications per part at most; 0: the target's default
};

// One step.
struct StepProof {
  std::string name, origin, summary;
  std::int64_t products = 0;  // multiplications of integers: with any, it counts as a layer
  std::string not_proved;     // why; empty: see the parts
  bool has_weights = true;    // not both operands of its products arrive at run time
  std::string weights_from;   // the initializer of the file that has these weights; empty: none
  std::vector<PhaseResult> parts;

  bool is_looked_at() const { return not_proved.empty(); }
  bool holds() const;     // all parts hold
  bool complete() const;  // and nothing was left out
};

enum class Verdict { kPass, kFail, kNothingProved };

struct FolderProof {
  std::string target;
  int differing_files = 0;  // from what this Etch generates
  std::vector<StepProof> steps;

  // kPass: at least one layer was looked at, and all that were hold.
  Verdict verdict() const;
};

// Null after an error.
std::optional<FolderProof> prove_folder(const ProofTask& task, Reporter& reporter);

}  // namespace etch::cli
