// Arbitrary bytes through the importer and resolve: what a file has to pass before anything
// believes it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/import/import.h"
#include "compiler/passes/resolve.h"
#include "fuzz/checks.h"
#include "fuzz/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const etch::ImportOptions options = etch::fuzz::import_options();
  etch::Sink sink;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::optional<etch::Graph> graph = etch::import_model(bytes, options, sink);
  etch::fuzz::check_diagnostics(sink, !graph.has_value());
  if (!graph) return 0;
  resolve(*graph, sink);
  etch::fuzz::check_diagnostics(sink, sink.has_errors());
  return 0;
}
