// Models from our own mutator through the front half of the compiler: import, resolve, all passes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "compiler/compile.h"
#include "fuzz/checks.h"
#include "fuzz/mutator.h"
#include "fuzz/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const etch::fuzz::Request request = etch::fuzz::request_of(bytes);
  etch::Sink sink;
  const std::unique_ptr<etch::Graph> graph = load_graph(bytes, request.compile, sink);
  etch::fuzz::check_diagnostics(sink, graph == nullptr);
  if (graph != nullptr) etch::fuzz::remember_accepted(bytes);
  return 0;
}
