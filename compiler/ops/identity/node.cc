// Makes Identity nodes; see node.h.
#include "compiler/ops/identity/node.h"

#include "compiler/ops/op.h"

namespace etch {

Node identity_node(const Node& origin, ValueId from, ValueId to) {
  Node node;
  node.index = origin.index;
  node.name = origin.name;
  node.op_type = "Identity";
  node.op = find_op(node.domain, node.op_type);
  node.inputs = {from};
  node.outputs = {to};
  return node;
}

}  // namespace etch
