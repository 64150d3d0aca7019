// How a family's stages become a step. Each family in a folder of kernels/conv has them as
// functions that return values, in this order: plan (the problem as what its kernel is told), pack
// (the constants in the order in which the kernel reads them), describe (what reports, comments and
// the memory planner are told), and at last assemble, which is the same for all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/kernels/conv/proof.h"
#include "compiler/program/step.h"

namespace etch {

// Adds the function unless it is there; returns its name.
std::string use(AssemblyFunction function, std::vector<AssemblyFunction>& functions);

struct Description {
  std::int64_t macs = 0;
  std::string schedule;
  std::vector<std::string> facts;  // besides those of the proof
  std::vector<Overlap> overlaps;
};

void assemble(Step& step, RangeProof proof, std::vector<ConstantArray> constants,
              Description description);

}  // namespace etch
