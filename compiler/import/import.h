// Reads an ONNX model into a Graph. Protobuf ends here: nothing outside this folder (and tests)
// includes ONNX headers.
//
// After a successful import the wiring is sound: every name is defined once and before its use,
// graph inputs and constants have types and static shapes, nodes know their OpDef. Whether
// operators exist and fit together is resolve's business (compiler/passes/resolve.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/limits.h"

namespace etch {

struct ImportOptions {
  std::map<std::string, std::int64_t> dims;      // symbolic size -> value (--dim SYM=N)
  std::map<std::string, Shape> input_shapes;     // graph input -> shape (--input-shape NAME=1,3)
  std::vector<Shape> data_shapes = {};           // of test data, by input: where nothing above says
  std::map<std::string, Tensor> constants = {};  // graph inputs whose value is known after all
  std::vector<std::string> cuts =
      {};                          // the outputs instead of the file's (--cut NAME); none: those
  std::string external_data = {};  // folder beneath which tensors may be read; empty: none may
  Limits limits;
};

// IR 3-14, ai.onnx 7-28, com.microsoft 1, com.ms.internal.nhwc any version or none,
// org.tensorflow any version; other domains may be imported but not used. Tensor data may be
// in other files where options.external_data allows it. An open size that neither option nor data
// fixes becomes 1, with a note, where it is the batch: an input's first size, or the middle one of
// [layers, batch, units], its symbol used nowhere else. What an option fixes by an input's name
// holds for the same symbol of other inputs. Any other is E-SHAPE. With cuts, nodes that no cut
// needs are left out. Inputs that options.constants names are constants of the graph. Null when an
// error was reported: E-PARSE, E-VERSION, E-GRAPH, E-NAME, E-TENSOR, E-TYPE, E-SHAPE, E-ATTR,
// E-EXTDATA, E-LIMIT, E-UNSUPPORTED (subgraphs but of If, Loop, Scan and FlexAttention, sparse
// tensors). Never throws, whatever the bytes.
std::optional<Graph> import_model(std::string_view bytes, const ImportOptions& options, Sink& sink);

// Graph inputs that one inference leaves to the next.
struct StateInputs {
  std::set<std::string> names;
  std::map<std::string, Tensor> initial = {};  // what the file's initializers say of them
};

// The same, but these are inputs though the file has an initializer for them, which goes to
// states.initial; such inputs have the last numbers in test data.
std::optional<Graph> import_model(std::string_view bytes, const ImportOptions& options,
                                  StateInputs& states, Sink& sink);

}  // namespace etch
