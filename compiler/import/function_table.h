// The functions that a model has (ModelProto.functions; ONNX's docs/IR.md, "Functions").
// A node calls one by domain, name and overload; where a function and an operator have the same
// name, the function is meant, because the file says what it computes. Internal to import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/limits.h"

namespace etch {

struct ModelFunction {
  const onnx::FunctionProto* proto = nullptr;
  std::vector<onnx::AttributeProto> defaults;  // of its attributes that have one
  std::map<std::string, std::int64_t> opsets;  // that it imports; "" is ai.onnx
  std::int64_t bytes = 0;                      // of it in the file
  std::int64_t names = 0;                      // that each call makes anew
};

// "" for "ai.onnx", which is another spelling of the default domain.
std::string normal_domain(const std::string& domain);

class FunctionTable {
 public:
  // Reports E-GRAPH for functions that have the same domain, name and overload, E-PARSE for
  // attributes that cannot be read. `model` must outlive the table.
  FunctionTable(const onnx::ModelProto& model, const Limits& limits, Sink& sink);

  // The function that `node` calls; null when it is an operator.
  const ModelFunction* find(const onnx::NodeProto& node) const;

 private:
  std::unordered_map<std::string, ModelFunction> functions_;  // by domain, name and overload
};

}  // namespace etch
