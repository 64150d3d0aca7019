// See rename.h.
#include "compiler/passes/rename.h"

namespace etch {

void rename(std::vector<ValueId>& ids, const Names& names) {
  for (ValueId& id : ids) {
    if (const auto found = names.find(id); found != names.end()) id = found->second;
  }
}

void rename(std::vector<Node>& nodes, const Names& read, const Names& written) {
  for (Node& node : nodes) {
    rename(node.inputs, read);
    rename(node.outputs, written);
    for (std::vector<Node>& branch : node.branches) rename(branch, read, written);
  }
}

}  // namespace etch
