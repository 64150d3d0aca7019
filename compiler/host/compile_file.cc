// See compile_file.h.
#include "compiler/host/compile_file.h"

#include <optional>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/host/data_set.h"
#include "compiler/host/progress.h"
#include "compiler/import/file.h"

namespace etch::cli {

namespace fs = std::filesystem;

std::unique_ptr<Program> compile_file(const ModelOptions& options, Reporter& reporter,
                                      const fs::path& data) {
  CompileOptions compile_options = options.compile_options();
  if (!data.empty()) compile_options.import.data_shapes = shapes_of_inputs(data);
  if (!options.tuning.empty()) {
    std::optional<Tuning> tuning = read_tuning_file(options.tuning, reporter);
    if (!tuning) return nullptr;
    compile_options.tuning = std::move(*tuning);
  }
  Sink sink;
  std::unique_ptr<Program> program;
  {
    const Progress progress("compiling", 0, reporter);
    const std::optional<std::string> bytes =
        read_model_file(options.model, compile_options.import.limits, sink);
    if (bytes) program = compile(*bytes, compile_options, sink);
  }
  reporter.diagnostics(sink, options.model);
  if (program == nullptr && !reporter.failed()) {
    reporter.internal_error(cat(options.model, ": refused without a reason"));
  }
  return reporter.failed() ? nullptr : std::move(program);
}

}  // namespace etch::cli
