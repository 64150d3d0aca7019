// See compile_file.h.
#include "compiler/host/compile_file.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/host/data_set.h"
#include "compiler/host/progress.h"
#include "compiler/import/file.h"
#include "compiler/import/tensor_proto.h"

namespace etch::cli {

namespace fs = std::filesystem;

namespace {

// What input number `file` is in all data sets of the model, if it is the same in each of them;
// `data` may be a folder of its own.
std::optional<Tensor> same_in_data(const std::string& model, const fs::path& data, int file) {
  std::vector<fs::path> folders = find_data_sets(model);
  folders.push_back(data);
  std::optional<Tensor> same;
  for (const fs::path& folder : folders) {
    Sink ignored;  // what is not there is not the same
    std::optional<Tensor> tensor = read_tensor_file(
        tensor_path(folder, "input", static_cast<std::size_t>(file)).string(), ignored);
    if (!tensor || (same && *same != *tensor)) return std::nullopt;
    same = std::move(tensor);
  }
  return same;
}

// Adds inputs that have to be constants, as the errors say, and are in the test data. Whether it
// found any.
bool take_constants(const Sink& sink, const std::string& model, const fs::path& data,
                    ImportOptions& options, Sink& notes) {
  bool found = false;
  for (const Diagnostic& each : sink.sorted()) {
    if (each.input_file < 0 || options.constants.contains(each.input)) continue;
    std::optional<Tensor> tensor = same_in_data(model, data, each.input_file);
    if (!tensor) continue;
    options.constants.emplace(each.input, std::move(*tensor));
    notes.note(
        DiagKind::kUnsupported, cat("input '", printable(each.input), "'"),
        cat("is taken as the constant that input_", each.input_file, ".pb of the test data holds"));
    found = true;
  }
  return found;
}

// Compiles; with test data again, as long as that has a constant that was missing.
std::unique_ptr<Program> compile_with_data(const std::string& bytes, const std::string& model,
                                           const fs::path& data, CompileOptions& options,
                                           Sink& sink) {
  Sink notes;
  while (true) {
    Sink attempt = notes;
    std::unique_ptr<Program> program = compile(bytes, options, attempt);
    if (program == nullptr && !data.empty() &&
        take_constants(attempt, model, data, options.import, notes)) {
      continue;
    }
    sink = std::move(attempt);
    return program;
  }
}

}  // namespace

std::unique_ptr<Program> compile_file(const ModelOptions& options, Reporter& reporter,
                                      const fs::path& data) {
  std::optional<CompileOptions> completed = complete_options(options, reporter);
  if (!completed) return nullptr;
  CompileOptions& compile_options = *completed;
  if (!data.empty()) compile_options.import.data_shapes = shapes_of_inputs(data);
  Sink sink;
  std::unique_ptr<Program> program;
  {
    const Progress progress("compiling", 0, reporter);
    const std::optional<std::string> bytes =
        read_model_file(options.model, compile_options.import.limits, sink);
    if (bytes) program = compile_with_data(*bytes, options.model, data, compile_options, sink);
  }
  reporter.diagnostics(sink, options.model);
  if (program == nullptr && !reporter.failed()) {
    reporter.internal_error(cat(options.model, ": refused without a reason"));
  }
  return reporter.failed() ? nullptr : std::move(program);
}

}  // namespace etch::cli
