// The importer's outline: parse, versions, what a model may not contain, graph.
#include "compiler/import/import.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/function_table.h"
#include "compiler/import/graph_builder.h"
#include "compiler/import/model_proto.h"
#include "compiler/ir/dead_code.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {

struct VersionRange {
  std::int64_t least;
  std::int64_t most;
};
constexpr VersionRange kIrVersions = {3, 14};
constexpr VersionRange kOnnxOpsets = {7, 28};
constexpr VersionRange kMicrosoftOpsets = {1, 1};
constexpr VersionRange kAnyVersion = {1, INT64_MAX};

void check_version(std::int64_t version, VersionRange range, std::string_view what, Sink& sink) {
  if (version >= range.least && version <= range.most) return;
  sink.error(DiagKind::kVersion, "",
             cat(what, " must be ", range.least, " to ", range.most, ", got ", version));
}

void check_opset(const std::string& domain, std::int64_t version, Sink& sink) {
  const std::string what = cat("the version of ", domain.empty() ? "ai.onnx" : printable(domain));
  if (domain == kOnnx) check_version(version, kOnnxOpsets, what, sink);
  if (domain == kMicrosoft) check_version(version, kMicrosoftOpsets, what, sink);
  if (domain == kNhwc || domain == kTensorFlow) check_version(version, kAnyVersion, what, sink);
}

std::map<std::string, std::int64_t> read_opsets(const onnx::ModelProto& model, Sink& sink) {
  std::map<std::string, std::int64_t> opsets;
  for (const auto& import : model.opset_import()) {
    const std::string domain = normal_domain(import.domain());
    check_opset(domain, import.version(), sink);
    const auto [entry, is_new] = opsets.emplace(domain, import.version());
    if (is_new || entry->second == import.version()) continue;
    sink.error(DiagKind::kVersion, "",
               cat("the domain '", printable(import.domain()), "' is imported as version ",
                   entry->second, " and as ", import.version()));
  }
  if (opsets.empty()) sink.error(DiagKind::kVersion, "", "the model imports no operator set");
  // ONNX Runtime writes this domain without importing it and takes ai.onnx's version for it.
  if (opsets.count("") != 0) opsets.emplace(kNhwc, opsets[""]);
  return opsets;
}

// What a function imports and the model does not; of what both import, nodes have to agree.
void add_opsets(const onnx::ModelProto& model, std::map<std::string, std::int64_t>& opsets,
                Sink& sink) {
  for (const auto& function : model.functions()) {
    for (const auto& import : function.opset_import()) {
      const std::string domain = normal_domain(import.domain());
      if (opsets.emplace(domain, import.version()).second)
        check_opset(domain, import.version(), sink);
    }
  }
}

// Parts of a model that carry computations we do not read.
void check_contents(const onnx::ModelProto& model, Sink& sink) {
  if (model.training_info_size() > 0) {
    sink.note(DiagKind::kUnsupported, "", "training information is ignored");
  }
}

}  // namespace

std::optional<Graph> import_model(std::string_view bytes, const ImportOptions& options,
                                  Sink& sink) {
  StateInputs none;
  return import_model(bytes, options, none, sink);
}

std::optional<Graph> import_model(std::string_view bytes, const ImportOptions& options,
                                  StateInputs& states, Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  onnx::ModelProto model;
  if (!read_model_proto(bytes, options.limits, model, sink)) return std::nullopt;
  check_version(model.ir_version(), kIrVersions, "the IR version", sink);
  auto opsets = read_opsets(model, sink);
  add_opsets(model, opsets, sink);
  check_contents(model, sink);
  ExternalData external(options.external_data, options.limits);
  const auto file_bytes = static_cast<std::int64_t>(bytes.size());
  const FunctionTable functions(model, options.limits, sink);
  Graph graph =
      GraphBuilder(model.graph(), functions, opsets,
                   std::max(options.limits.computed_bytes, file_bytes * Limits::kComputedPerByte),
                   options, external, sink, states)
          .build();
  if (sink.error_count() != errors_before) return std::nullopt;
  graph.opsets = std::move(opsets);
  graph.ir_version = model.ir_version();
  graph.producer = model.producer_name();
  graph.limits = options.limits;
  graph.source_bytes = file_bytes + external.distinct_bytes();
  graph.external_digest = external.digest();
  graph.shapes_chosen = !options.dims.empty() || !options.input_shapes.empty();
  graph.computed_bytes_left =
      std::max(graph.limits.computed_bytes, graph.source_bytes * Limits::kComputedPerByte);
  if (!options.cuts.empty()) remove_dead(graph);
  verify(graph, Resolved::kNo);
  return graph;
}

}  // namespace etch
