// Syntax of options and their meaning for the compiler; see model_options.h.
#include "compiler/host/model_options.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include "compiler/base/text.h"
#include "compiler/import/file.h"
#include "compiler/import/tensor_proto.h"

namespace etch::cli {
namespace {

std::optional<std::int64_t> parse_size(std::string_view text) {
  return parse_integer(text, 0, INT64_MAX);
}

Objective objective_of(const std::string& name) {
  if (name == "speed") return Objective::kSpeed;
  if (name == "size") return Objective::kSize;
  return name == "ram" ? Objective::kRam : Objective::kBalanced;
}

}  // namespace

std::optional<std::pair<std::string, std::int64_t>> parse_dim(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || text[equals - 1] == '<') return std::nullopt;
  const std::optional<std::int64_t> size = parse_size(std::string_view(text).substr(equals + 1));
  if (!size) return std::nullopt;
  return std::pair(text.substr(0, equals), *size);
}

std::optional<SizeRange> parse_bound(const std::string& text) {
  constexpr std::string_view kAtMost = "<=";
  std::string_view rest = text;
  SizeRange range;
  const std::size_t last = rest.rfind(kAtMost);
  if (last == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> most = parse_size(rest.substr(last + kAtMost.size()));
  rest = rest.substr(0, last);
  if (const std::size_t first = rest.find(kAtMost); first != std::string_view::npos) {
    const std::optional<std::int64_t> least = parse_size(rest.substr(0, first));
    if (!least || *least < 1) return std::nullopt;
    range.least = *least;
    rest = rest.substr(first + kAtMost.size());
  }
  range.symbol = rest;
  range.most = most.value_or(0);
  return rest.empty() || range.least >= range.most ? std::nullopt : std::optional(range);
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
    if (info.name != given->first || given->second < 1 || given->second > info.most) continue;
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
  if (!number || *number < 1 || *number > kMost / unit) return std::nullopt;
  return *number * unit;
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
  constexpr std::size_t kMostTuningBytes = 16 << 20;
  Sink sink;
  const std::optional<std::string> text = read_file(path, kMostTuningBytes, "", sink);
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

std::optional<std::pair<std::string, std::string>> parse_constant(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

namespace {

// Calls `take` with each part of a list "1,3,224"; false as soon as it says so.
template <class F>
bool for_each_part(std::string_view text, F take) {
  while (true) {
    const std::string_view part = text.substr(0, text.find(','));
    if (!take(part)) return false;
    if (part.size() == text.size()) return true;
    text.remove_prefix(part.size() + 1);
  }
}

// Infinities and NaN are numbers too: what takes them says that it does not.
std::optional<double> number_of(std::string_view text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return parse_double(text);
}

}  // namespace

std::optional<Tensor> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  const bool good = for_each_part(text, [&](std::string_view part) {
    const std::optional<double> number = number_of(part);
    if (number) numbers.push_back(*number);
    return number.has_value();
  });
  if (!good) return std::nullopt;
  const auto count = static_cast<std::int64_t>(numbers.size());
  return Tensor::of<double>(count == 1 ? Shape{} : Shape{count}, numbers);
}

bool exact_numbers(std::string_view text) {
  return for_each_part(text, [](std::string_view part) {
    if (part.starts_with('-')) part.remove_prefix(1);
    std::uint64_t size = 0;
    const char* const end = part.data() + part.size();
    const auto result = std::from_chars(part.data(), end, size);
    if (result.ec != std::errc() || result.ptr != end || size == 0) return true;
    return size >> std::countr_zero(size) <= std::uint64_t{1} << 53;
  });
}

std::optional<std::map<std::string, Tensor>> read_constants(const ModelOptions& options,
                                                            Reporter& reporter) {
  std::map<std::string, Tensor> out;
  for (const std::string& text : options.constants) {
    const auto [name, path] = *parse_constant(text);
    Sink sink;
    std::optional<Tensor> tensor = parse_numbers(path);
    if (!tensor) tensor = read_tensor_file(path, sink);
    for (const Diagnostic& each : sink.sorted()) reporter.io_error(path, each.message);
    if (!tensor) return std::nullopt;
    out.insert_or_assign(name, std::move(*tensor));
  }
  return out;
}

std::optional<std::map<std::string, Tensor>> read_initial_states(const ModelOptions& options,
                                                                 Reporter& reporter) {
  std::map<std::string, Tensor> out;
  for (const std::string& text : options.initial_states) {
    const auto [name, path] = *parse_constant(text);
    if (out.contains(name)) {
      reporter.usage_error(cat("--initial-state gives '", one_line(name), "' twice"));
      return std::nullopt;
    }
    Sink sink;
    std::optional<Tensor> tensor = read_tensor_file(path, sink);
    for (const Diagnostic& each : sink.sorted()) reporter.io_error(path, each.message);
    if (!tensor) return std::nullopt;
    out.emplace(name, std::move(*tensor));
  }
  return out;
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

std::optional<CompileOptions> complete_options(const ModelOptions& options, Reporter& reporter) {
  CompileOptions out = options.compile_options();
  auto constants = read_constants(options, reporter);
  if (!constants) return std::nullopt;
  out.import.constants = std::move(*constants);
  auto initial_states = read_initial_states(options, reporter);
  if (!initial_states) return std::nullopt;
  out.initial_states = std::move(*initial_states);
  if (options.tuning.empty()) return out;
  std::optional<Tuning> tuning = read_tuning_file(options.tuning, reporter);
  if (!tuning) return std::nullopt;
  out.tuning = std::move(*tuning);
  return out;
}

CompileOptions ModelOptions::compile_options() const {
  CompileOptions out;
  out.target = target;
  if (qdq == "float") out.qdq = QdqMode::kFloat;
  if (qdq == "all") out.qdq = QdqMode::kAll;
  if (float_products == "fused") out.float_steps = FloatSteps::kFused;
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
    if (std::optional<SizeRange> range = parse_bound(text)) {
      out.bounds.push_back(std::move(*range));
      continue;
    }
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
  for (const std::string& text : states) out.states.push_back(*parse_state(text));
  return out;
}

}  // namespace etch::cli
