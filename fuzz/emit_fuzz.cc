// Models from our own mutator through the whole compiler to the text of the generated files.
// Nothing is written and no C++ compiler runs.
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
  const std::unique_ptr<etch::Program> program = compile(bytes, request.compile, sink);
  etch::fuzz::check_diagnostics(sink, program == nullptr);
  if (program == nullptr) return 0;
  etch::fuzz::check_files(etch::fuzz::files_of(*program, request));
  etch::fuzz::remember_accepted(bytes);
  return 0;
}
