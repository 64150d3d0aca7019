// See model_proto.h.
#include "compiler/import/model_proto.h"

#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/foreign_file.h"
#include "compiler/import/parse.h"
#include "compiler/import/parts.h"

namespace etch {

bool read_model_proto(std::string_view bytes, const Limits& limits, onnx::ModelProto& model,
                      Sink& sink) {
  if (std::cmp_greater(bytes.size(), limits.file_bytes)) {
    sink.error(DiagKind::kLimit, "",
               cat("has ", bytes.size(), " bytes, ", at_most(limits, &Limits::file_bytes)));
    return false;
  }
  if (count_parts(bytes, limits.parts) > limits.parts) {
    sink.error(DiagKind::kLimit, "",
               cat("has too many messages and strings, ", at_most(limits, &Limits::parts)));
    return false;
  }
  if (const std::string foreign = foreign_file(bytes); !foreign.empty()) {
    sink.error(DiagKind::kParse, "", foreign);
    return false;
  }
  if (!parse_message(bytes, static_cast<int>(limits.depth), model)) {
    const std::string truncated = truncated_message(bytes);
    sink.error(DiagKind::kParse, "",
               truncated.empty() ? cat("not an ONNX model, or damaged, or nested too deeply (",
                                       at_most(limits, &Limits::depth), ")")
                                 : truncated);
    return false;
  }
  if (!model.has_graph()) {
    sink.error(DiagKind::kGraph, "", "has no graph: it is no ONNX model, or not a whole one");
    return false;
  }
  return true;
}

}  // namespace etch
