// Whether a model keeps within a profile: for `etch inspect --profile`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/program/step.h"

namespace etch::cli {

// One rule that a model breaks.
struct ProfileFinding {
  std::string rule;   // "P4"
  std::string where;  // "node 'conv1' (QLinearConv)", or empty: the model as a whole
  std::string what;   // printable
};

// What is known of the model.
struct ProfileInput {
  const Graph& graph;                         // as it is in the file
  const std::vector<std::string>& functions;  // that the file defines
  const Sink& sink;                           // what importing and compiling reported
  const Program* program;                     // null: it could not be compiled
};

// The rules P1 to P7 of the profile "sonnx" (docs/spec/operators/README.md), in this order and
// within a rule in that of the nodes.
std::vector<ProfileFinding> sonnx_findings(const ProfileInput& input);

}  // namespace etch::cli
