// What a model's file declares of its inputs and outputs, read without the rest: sizes may be open,
// and operators may be any. For files of samples, whose arrays are taken apart before the model is
// compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/import/import.h"
#include "compiler/ir/dtype.h"

namespace etch {

struct DeclaredPort {
  std::string name;
  std::optional<DType> dtype;                      // null: none that we have
  std::optional<std::vector<std::int64_t>> sizes;  // outermost first, -1 for an open one
};

struct DeclaredPorts {
  std::vector<DeclaredPort> inputs;  // without those that have an initializer, as in test data
  std::vector<DeclaredPort> outputs;
};

// With the sizes that `options` give. Null after E-LIMIT, E-PARSE or E-GRAPH, which import_model()
// reports of the same bytes.
std::optional<DeclaredPorts> declared_ports(std::string_view bytes, const ImportOptions& options,
                                            Sink& sink);

}  // namespace etch
