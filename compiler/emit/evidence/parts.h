// The parts of the evidence on one network of one target; see evidence.h.
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/program/certificate.h"

namespace etch {

struct EvidenceContext {
  const Program& program;
  std::string name;                      // of the network: its namespace
  const std::vector<OutputFile>& files;  // all that were generated
  const CertificateLog& certificates;
  const KeptChannelsLog* kept = nullptr;
};

// From nodes to steps to lines and symbols; what each step uses.
std::string trace_part(const EvidenceContext& context);
// Every output channel of every convolution and product: its sums and its thresholds.
std::string requantization_part(const EvidenceContext& context);
// The arena, its tensors and their lives, flash, stack.
std::string memory_part(const EvidenceContext& context);
// Which bytes every access touches, and the loops around it.
std::string accesses_part(const EvidenceContext& context);

}  // namespace etch
