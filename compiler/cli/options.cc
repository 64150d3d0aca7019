// Shared arguments and their syntax; see options.h.
#include "compiler/cli/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/file.h"
#include "compiler/schedule/divide.h"

namespace etch::cli {
namespace {

std::optional<std::int64_t> parse_size(std::string_view text) {
  return parse_integer(text, 1, INT64_MAX);
}

std::string check_target(const std::string& name) {
  if (find_target(name) != nullptr) return {};
  return cat("there is no target '", printable(name), "'; `etch targets` lists them");
}

// A check returns what is wrong; empty means good.
std::string check_dim(const std::string& text) {
  return parse_dim(text) ? "" : cat("expected NAME=N with N >= 1, got '", text, "'");
}

std::string check_shape(const std::string& text) {
  return parse_shape(text) ? "" : cat("expected NAME=1,3,224,224, all >= 1, got '", text, "'");
}

std::string check_quantize_input(const std::string& text) {
  if (parse_quantize_input(text)) return {};
  return cat(
      "expected NAME=MODE,MIN,MAX or NAME=MODE,MIN,MAX,TYPE with a mode MIN_COMBINED, "
      "MIN_FIRST or SCALED and a type like quint8, got '",
      text, "'");
}

std::string check_unroll(const std::string& text) {
  if (parse_unroll(text)) return {};
  return cat("expected full, auto, N or LAYER=full|auto|N with N from 1 to ", kMostUnrolledGroups,
             ", got '", text, "'");
}

std::string check_bytes(const std::string& text) {
  return parse_bytes(text) ? "" : cat("expected a number of bytes, 16k or 1M, got '", text, "'");
}

std::string check_limit(const std::string& text) {
  Limits limits;
  if (set_limit(text, limits)) return {};
  std::string names;
  for (const LimitInfo& info : limit_infos()) {
    names += cat(names.empty() ? "" : ", ", info.name, " (to ", info.most, ")");
  }
  return cat("expected NAME=N with one of ", names, ", got '", text, "'");
}

Objective objective_of(const std::string& name) {
  if (name == "speed") return Objective::kSpeed;
  if (name == "size") return Objective::kSize;
  return name == "ram" ? Objective::kRam : Objective::kBalanced;
}

Option add_repeatable(const Parser& parser, const std::string& name,
                      std::vector<std::string>& values, const std::string& help) {
  return parser.add_option(name, values, help).one_argument();
}

}  // namespace

std::optional<std::pair<std::string, std::int64_t>> parse_dim(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  const std::optional<std::int64_t> size = parse_size(std::string_view(text).substr(equals + 1));
  if (!size) return std::nullopt;
  return std::pair(text.substr(0, equals), *size);
}

std::optional<std::pair<std::string, Shape>> parse_shape(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  Shape shape;
  std::string_view rest = std::string_view(text).substr(equals + 1);
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::optional<std::int64_t> size = parse_size(rest.substr(0, comma));
    if (!size) return std::nullopt;
    shape.push_back(*size);
    if (comma == std::string_view::npos) return std::pair(text.substr(0, equals), shape);
    rest.remove_prefix(comma + 1);
  }
}

bool set_limit(const std::string& text, Limits& limits) {
  const auto given = parse_dim(text);
  if (!given) return false;
  for (const LimitInfo& info : limit_infos()) {
    if (info.name != given->first || given->second > info.most) continue;
    limits.*info.member = given->second;
    return true;
  }
  return false;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t unit = 1;
  if (!text.empty()) {
    const char last = text.back();
    if (last == 'k' || last == 'K') unit = 1 << 10;
    if (last == 'M') unit = 1 << 20;
    if (unit > 1) text.remove_suffix(1);
  }
  const std::optional<std::int64_t> number = parse_size(text);
  if (!number || *number > kMost / unit) return std::nullopt;
  return *number * unit;
}

std::optional<float> parse_float(std::string_view text) {
  float value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::pair<std::string, Unrolling>> parse_unroll(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const bool named = equals != std::string::npos;
  if (named && equals == 0) return std::nullopt;
  const auto unrolling = parse_unrolling(std::string_view(text).substr(named ? equals + 1 : 0));
  if (!unrolling) return std::nullopt;
  return std::pair(named ? text.substr(0, equals) : "", *unrolling);
}

std::optional<Tuning> read_tuning_file(const std::string& path, Reporter& reporter) {
  constexpr std::size_t kMostBytes = 16 << 20;
  Sink sink;
  const std::optional<std::string> text = read_file(path, kMostBytes, "", sink);
  reporter.diagnostics(sink, path);
  if (!text) return std::nullopt;
  std::vector<TuningFault> faults;
  Tuning tuning = parse_tuning(*text, faults);
  constexpr std::size_t kMostFaults = 20;
  for (std::size_t i = 0; i < std::min(faults.size(), kMostFaults); ++i) {
    reporter.usage_error(cat(one_line(path), ":", faults[i].line, ": ", faults[i].what));
  }
  if (!faults.empty()) return std::nullopt;
  return tuning;
}

std::optional<QuantizeInput> parse_quantize_input(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  std::vector<std::string_view> parts;
  std::string_view rest = std::string_view(text).substr(equals + 1);
  for (std::size_t comma = rest.find(','); comma != std::string_view::npos;
       comma = rest.find(',')) {
    parts.push_back(rest.substr(0, comma));
    rest.remove_prefix(comma + 1);
  }
  parts.push_back(rest);
  if (parts.size() < 3 || parts.size() > 4) return std::nullopt;
  const std::optional<RangeMode> mode = range_mode(parts[0]);
  const std::optional<float> min = parse_float(parts[1]);
  const std::optional<float> max = parse_float(parts[2]);
  std::optional<DType> type;
  if (parts.size() == 4) type = tensorflow_type(parts[3]);
  if (!mode || !min || !max || (parts.size() == 4 && !type)) return std::nullopt;
  return QuantizeInput{text.substr(0, equals), *mode, *min, *max, type};
}

constexpr std::int64_t kMostSplitRowsKib = std::int64_t{1} << 31;

void add_model_options(const Parser& parser, ModelOptions& options) {
  parser.add_option("MODEL", options.model, "the network").required().type_name("FILE.onnx");
  parser
      .add_option("-t,--target", options.target,
                  "instruction set to generate for; native: the best of this CPU")
      .check(check_target)
      .type_name("TARGET")
      .show_default();
  add_repeatable(parser, "--dim", options.dims, "fix a symbolic size, e.g. --dim batch=1")
      .check(check_dim)
      .type_name("SYM=N");
  add_repeatable(parser, "--input-shape", options.input_shapes,
                 "fix the shape of an input, e.g. --input-shape data=1,3,224,224")
      .check(check_shape)
      .type_name("NAME=N,N,...");
  add_repeatable(parser, "--cut", options.cuts,
                 "compute this tensor instead of the file's outputs, and nothing after it")
      .type_name("NAME");
  add_repeatable(parser, "--quantize-input", options.quantize_inputs,
                 "take float for a quantized input, by TensorFlow's QuantizeV2, e.g. "
                 "--quantize-input data=SCALED,-1,1")
      .check(check_quantize_input)
      .type_name("NAME=MODE,MIN,MAX[,TYPE]");
  parser
      .add_option("--external-data", options.external_data,
                  "read tensors that the model keeps in other files, which must be in this folder")
      .type_name("DIR");
  add_repeatable(parser, "--limit", options.limits,
                 "raise a limit, e.g. --limit nodes=10000; a model that exceeds one is refused "
                 "with the name of the limit")
      .check(check_limit)
      .type_name("NAME=N");
}

void add_code_options(const Parser& parser, ModelOptions& options) {
  parser
      .add_option("--qdq", options.qdq,
                  "operators between DequantizeLinear and QuantizeLinear: as integer operators, or "
                  "in float arithmetic as in the file")
      .one_of({"integer", "float"})
      .type_name("HOW")
      .show_default();
  const Option requantize =
      parser
          .add_option("--requantize", options.requantize,
                      "scale accumulators with float or integer arithmetic, with equal results; "
                      "auto: float where the target has an FPU")
          .one_of({"auto", "float", "integer"})
          .type_name("HOW")
          .show_default();
  parser
      .add_flag("--strict-integer", options.strict_integer,
                "with --requantize integer: refuse a network if something between its quantized "
                "values would still use floats or emulate them")
      .needs(requantize);
  parser
      .add_option("--split-rows", options.split_rows_kib,
                  "compute convolutions in bands of rows where the tensor between them exceeds KB "
                  "kibibytes; 0: never")
      .between(std::int64_t{0}, kMostSplitRowsKib)
      .type_name("KB")
      .show_default();
  parser
      .add_option("--threads", options.threads,
                  "divide the work of large layers among N threads, with equal results")
      .between(std::int64_t{1}, kMostThreads)
      .type_name("N")
      .show_default();
}

void add_budget_options(const Parser& parser, ModelOptions& options) {
  parser
      .add_option("--optimize", options.objective,
                  "speed: as fast as possible; size: the least flash; ram: the least arena, even "
                  "if something is computed twice; balanced: fast, of moderate size")
      .one_of({"balanced", "speed", "size", "ram"})
      .type_name("WHAT")
      .show_default();
  parser
      .add_option("--arena-limit", options.arena_limit,
                  "stream rows of the first layers until the arena has at most this many bytes (k: "
                  "1024), or refuse the model")
      .check(check_bytes)
      .type_name("BYTES");
  parser
      .add_option(
          "--flash-limit", options.flash_limit,
          "generate smaller code until weights and code, as estimated, take at most this many "
          "bytes, or refuse the model")
      .check(check_bytes)
      .type_name("BYTES");
}

void add_time_limit(const Parser& parser, ModelOptions& options) {
  parser
      .add_option("--time-limit", options.time_limit,
                  "end a program that runs longer than this (default: 3600, 600 in an emulator of "
                  "another machine)")
      .between(0.01, 1e6)
      .type_name("S");
}

void add_schedule_options(const Parser& parser, ModelOptions& options) {
  add_repeatable(parser, "--unroll", options.unrolling,
                 "how far the loop over K in every tile is unrolled: auto (a measured rule), full "
                 "or N groups of 4 bytes; LAYER=... for one step of report.json")
      .check(check_unroll)
      .type_name("[LAYER=]HOW");
  parser
      .add_option("--tuning", options.tuning,
                  "use the tiles, loop orders and unrolling that `etch tune` measured")
      .type_name("FILE");
}

CompileOptions ModelOptions::compile_options() const {
  CompileOptions out;
  out.target = target;
  if (qdq == "float") out.qdq = QdqMode::kFloat;
  if (requantize == "float") out.requantize = RequantizeMode::kFloat;
  if (requantize == "integer") out.requantize = RequantizeMode::kInteger;
  out.strict_integer = strict_integer;
  out.threads = threads;
  for (const std::string& text : unrolling) {
    const auto [layer, how] = *parse_unroll(text);
    (layer.empty() ? out.unrolling.all : out.unrolling.layers[layer]) = how;
  }
  out.objective = objective_of(objective);
  if (!arena_limit.empty()) out.arena_limit = parse_bytes(arena_limit);
  if (!flash_limit.empty()) out.flash_limit = parse_bytes(flash_limit);
  out.split_rows_above = split_rows_kib == 0 ? -1 : split_rows_kib << 10;
  for (const std::string& text : dims) {
    auto [name, size] = *parse_dim(text);
    out.import.dims.insert_or_assign(std::move(name), size);
  }
  for (const std::string& text : input_shapes) {
    auto [name, shape] = *parse_shape(text);
    out.import.input_shapes.insert_or_assign(std::move(name), std::move(shape));
  }
  out.import.cuts = cuts;
  out.import.external_data = external_data;
  for (const std::string& text : limits) set_limit(text, out.import.limits);
  for (const std::string& text : quantize_inputs) {
    out.quantize_inputs.push_back(*parse_quantize_input(text));
  }
  return out;
}

}  // namespace etch::cli
