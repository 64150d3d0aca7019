// The canonical list of options, which generated folders carry; see options.h.
#include "compiler/options.h"

#include <charconv>

#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/ops/quantize_v2/range.h"
#include "compiler/text/names.h"

namespace etch {

namespace {

// Appends " --name value".
class Options {
 public:
  void add(std::string_view name, std::string_view value) {
    text_ += cat(" --", name, " ", shell_word(value));
  }
  void flag(std::string_view name) { text_ += cat(" --", name); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string sizes(const Shape& shape) {
  std::string out;
  for (const std::int64_t size : shape) out += cat(out.empty() ? "" : ",", size);
  return out;
}

// "NAME=FILE" without a path: the file's name stands for its data.
std::string tensor_text(const std::string& name, const Tensor& tensor) {
  const std::string_view data(reinterpret_cast<const char*>(tensor.bytes().data()),
                              tensor.bytes().size());
  return cat(name, "=", sha256_hex(data).substr(0, 16), ".pb");
}

// The shortest decimal that reads back to the same number.
std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// As a user types it: numbers, which the importer takes as float64 of rank 0 or 1, or a file. An
// argument of a command line, of 128 KiB at most, has no more numbers than kMostNumbers.
std::string constant_text(const std::string& name, const Tensor& tensor) {
  constexpr std::int64_t kMostNumbers = 65'536;
  const bool numbers = tensor.dtype() == DType::kF64 && tensor.shape().size() <= 1;
  if (!numbers || tensor.size() == 0 || tensor.size() > kMostNumbers) {
    return tensor_text(name, tensor);
  }
  std::string out;
  for (const double number : tensor.as<double>()) {
    out += cat(out.empty() ? cat(name, "=") : ",", shortest(number));
  }
  return out;
}

void add_import(Options& out, const ImportOptions& options) {
  for (const auto& [name, size] : options.dims) out.add("dim", cat(name, "=", size));
  for (const auto& [name, shape] : options.input_shapes) {
    out.add("input-shape", cat(name, "=", sizes(shape)));
  }
  for (const auto& [name, tensor] : options.constants) {
    out.add("constant", constant_text(name, tensor));
  }
  for (const std::string& name : options.cuts) out.add("cut", name);
  if (!options.external_data.empty()) out.add("external-data", "DIR");
  const Limits usual;
  for (const LimitInfo& info : limit_infos()) {
    const std::int64_t limit = options.limits.*info.member;
    if (limit != usual.*info.member) out.add("limit", cat(info.name, "=", limit));
  }
}

std::string text_of(const QuantizeInput& input) {
  return cat(input.name, "=", name_of(input.mode), ",", decimal(input.min), ",", decimal(input.max),
             input.type ? "," : "", input.type ? tensorflow_name(*input.type) : "");
}

void add_code(Options& out, const CompileOptions& options) {
  for (const QuantizeInput& input : options.quantize_inputs) {
    out.add("quantize-input", text_of(input));
  }
  for (const StateRequest& state : options.states) {
    out.add("state", cat(state.output, "=", state.input));
  }
  for (const auto& [name, tensor] : options.initial_states)
    out.add("initial-state", tensor_text(name, tensor));
  if (options.qdq != QdqMode::kInteger)
    out.add("qdq", options.qdq == QdqMode::kAll ? "all" : "float");
  if (options.float_steps == FloatSteps::kFused) out.add("float-products", "fused");
  if (options.requantize != RequantizeMode::kAuto) {
    out.add("requantize", options.requantize == RequantizeMode::kFloat ? "float" : "integer");
  }
  if (options.strict_integer) out.flag("strict-integer");
  if (options.split_rows_above != kSplitRowsAbove) {
    const bool never = options.split_rows_above < 0;
    out.add("split-rows", cat(never ? 0 : options.split_rows_above >> 10));
  }
  if (options.threads != 1) out.add("threads", cat(options.threads));
}

void add_schedule(Options& out, const CompileOptions& options) {
  constexpr std::string_view kObjectives[] = {"balanced", "speed", "size", "ram"};
  if (options.objective != Objective::kBalanced) {
    out.add("optimize", kObjectives[static_cast<int>(options.objective)]);
  }
  if (options.arena_limit) out.add("arena-limit", cat(*options.arena_limit));
  if (options.flash_limit) out.add("flash-limit", cat(*options.flash_limit));
  if (options.unrolling.all != Unrolling()) out.add("unroll", text_of(options.unrolling.all));
  for (const auto& [layer, how] : options.unrolling.layers) {
    out.add("unroll", cat(layer, "=", text_of(how)));
  }
  if (!options.tuning.entries.empty()) out.add("tuning", "FILE");
}

std::string to_string(const SizeRange& range) {
  return cat(range.least == 1 ? std::string() : cat(range.least, "<="), range.symbol,
             "<=", range.most);
}

}  // namespace

std::string canonical_options(const CompileOptions& options, std::string_view target) {
  Options out;
  out.add("target", target);
  for (const SizeRange& range : options.bounds) out.add("dim", to_string(range));
  add_import(out, options.import);
  add_code(out, options);
  add_schedule(out, options);
  return out.text();
}

}  // namespace etch
