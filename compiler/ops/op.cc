// The list of operators, made from ops.def, and the look-up of an operator by its ONNX name.
#include "compiler/ops/op.h"

#include <algorithm>
#include <iterator>

namespace etch {

#define ETCH_OP(folder) extern const OpDef kOp_##folder;
#include "compiler/ops/ops.def"
#undef ETCH_OP

namespace {
const OpDef* const kOps[] = {
#define ETCH_OP(folder) &kOp_##folder,
#include "compiler/ops/ops.def"
#undef ETCH_OP
    nullptr};  // an array may not be empty
}  // namespace

std::span<const OpDef* const> all_ops() { return std::span(kOps).first(std::size(kOps) - 1); }

const OpName* find_name(const OpDef& op, std::string_view domain, std::string_view type) {
  const auto found = std::find_if(op.names.begin(), op.names.end(), [&](const OpName& name) {
    return name.domain == domain && name.type == type;
  });
  return found == op.names.end() ? nullptr : &*found;
}

const OpDef* find_op(std::string_view domain, std::string_view type) {
  for (const OpDef* op : all_ops()) {
    if (find_name(*op, domain, type) != nullptr) return op;
  }
  return nullptr;
}

}  // namespace etch
