// The operators of QONNX, written as those of ONNX; see qonnx.cc.
#pragma once

#include <string_view>

#include "compiler/passes/compositions/rules.h"

namespace etch {

// Whether a domain is one of QONNX. Files of QONNX do not import its domains, as a rule.
bool is_qonnx(std::string_view domain);

// The rule of QONNX for a node, or null.
const Rule* qonnx_rule(const Node& node);

}  // namespace etch
