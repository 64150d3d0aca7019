// Shared arguments and their syntax; see options.h.
#include "compiler/cli/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "compiler/base/closest.h"
#include "compiler/base/text.h"
#include "compiler/import/file.h"
#include "compiler/schedule/divide.h"
#include "compiler/targets/aliases.h"
#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"

namespace etch::cli {
namespace {

// A check returns what is wrong; empty means good.
std::string check_dim(const std::string& text) {
  if (parse_dim(text) || parse_bound(text)) return {};
  if (text.find("<=") == std::string::npos)
    return cat("expected NAME=N with N >= 0, got '", text, "'");
  return cat("expected NAME<=N with N >= 2, or LEAST<=NAME<=N with 1 <= LEAST < N, got '", text,
             "'");
}

std::string check_shape(const std::string& text) {
  return parse_shape(text) ? "" : cat("expected NAME=1,3,224,224, all >= 0, got '", text, "'");
}

std::string check_constant(const std::string& text) {
  const auto parts = parse_constant(text);
  if (!parts) return cat("expected NAME=N,... or NAME=FILE.pb, got '", text, "'");
  if (exact_numbers(parts->second)) return {};
  return cat("such large integers are read from a file: NAME=FILE.pb, got '", text, "'");
}

std::string check_initial_state(const std::string& text) {
  return parse_constant(text) ? "" : cat("expected IN=FILE.pb or IN=FILE.npy, got '", text, "'");
}

std::string check_quantize_input(const std::string& text) {
  if (parse_quantize_input(text)) return {};
  return cat(
      "expected NAME=MODE,MIN,MAX or NAME=MODE,MIN,MAX,TYPE with a mode MIN_COMBINED, "
      "MIN_FIRST or SCALED and a type like quint8, got '",
      text, "'");
}

std::string check_state(const std::string& text) {
  return parse_state(text) ? "" : cat("expected OUT=IN, names of the model, got '", text, "'");
}

std::string check_unroll(const std::string& text) {
  if (parse_unroll(text)) return {};
  return cat("expected full, auto, N or LAYER=full|auto|N with N from 1 to ", kMostUnrolledGroups,
             ", got '", text, "'");
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

Option add_repeatable(const Parser& parser, const std::string& name,
                      std::vector<std::string>& values, const std::string& help) {
  return parser.add_option(name, values, help).one_argument();
}

// ---- options that read files ----

void add_constant_option(const Parser& parser, ModelOptions& options) {
  add_repeatable(parser, "--constant", options.constants,
                 "take this input as a constant, e.g. --constant rate=16000 or --constant "
                 "shape=test_data_set_0/input_1.pb")
      .check(check_constant)
      .type_name("NAME=N,...|FILE.pb");
}

void add_initial_state_option(const Parser& parser, ModelOptions& options) {
  add_repeatable(parser, "--initial-state", options.initial_states,
                 "what reset() sets the input IN of a --state to, in place of the file's "
                 "initializer or zeros")
      .check(check_initial_state)
      .type_name("IN=FILE.pb|.npy");
}

void add_external_data_option(const Parser& parser, ModelOptions& options) {
  parser
      .add_option("--external-data", options.external_data,
                  "read tensors that the model keeps in other files, which must be in this folder")
      .type_name("DIR");
}

void add_tuning_option(const Parser& parser, ModelOptions& options) {
  parser
      .add_option("--tuning", options.tuning,
                  "use the tiles, loop orders and unrolling that `etch tune` measured")
      .type_name("FILE");
}

}  // namespace

std::string check_bytes(const std::string& text) {
  return parse_bytes(text) ? "" : cat("expected a number of bytes, 16k or 1M, got '", text, "'");
}

bool refuse_bounds(const ModelOptions& options, const char* what, Reporter& reporter) {
  for (const std::string& text : options.dims) {
    const std::optional<SizeRange> range = parse_bound(text);
    if (!range) continue;
    reporter.usage_error(cat(what, " is about one size: --dim ", one_line(range->symbol),
                             "=N in place of --dim ", one_line(text)));
    return true;
  }
  return false;
}

std::string check_any_target(const std::string& name) {
  if (find_target(name) != nullptr) return {};
  std::vector<std::string> names = {"native"};
  for (const MultiTarget& target : multi_targets()) names.emplace_back(target.isa->name);
  for (const IsaTraits* isa : all_targets()) names.emplace_back(isa->name);
  for (const CrossTarget& target : cross_targets()) names.emplace_back(target.isa->name);
  for (const TargetAlias& alias : target_aliases()) names.emplace_back(alias.name);
  return cat("there is no target '", printable(name), "'", did_you_mean(name, names),
             " (`etch targets` lists them)");
}

std::string model_in(const std::string& path) {
  const std::filesystem::path inside = std::filesystem::path(path) / "model.onnx";
  std::error_code error;
  return std::filesystem::is_regular_file(inside, error) ? inside.string() : path;
}

constexpr std::int64_t kMostSplitRowsKib = std::int64_t{1} << 31;

void add_model_options(const Parser& parser, ModelOptions& options) {
  parser.add_option("MODEL", options.model, "the network, or a folder with its model.onnx")
      .change(model_in)
      .required()
      .type_name("FILE.onnx");
  parser
      .add_option("-t,--target", options.target,
                  "instruction set to generate for; native: the best of this CPU")
      .check(check_any_target)
      .type_name("TARGET")
      .show_default();
  add_repeatable(parser, "--dim", options.dims,
                 "fix a symbolic size, e.g. --dim batch=1; or generate code that takes it, up to a "
                 "bound, e.g. --dim 'seq<=128' or --dim '8<=seq<=128'")
      .check(check_dim)
      .type_name("SYM=N");
  add_repeatable(parser, "--input-shape", options.input_shapes,
                 "fix the shape of an input, e.g. --input-shape data=1,3,224,224")
      .check(check_shape)
      .type_name("NAME=N,N,...");
  add_constant_option(parser, options);
  add_repeatable(parser, "--cut", options.cuts,
                 "compute this tensor instead of the file's outputs, and nothing after it")
      .type_name("NAME");
  add_repeatable(parser, "--quantize-input", options.quantize_inputs,
                 "take float for a quantized input, by TensorFlow's QuantizeV2, e.g. "
                 "--quantize-input data=SCALED,-1,1")
      .check(check_quantize_input)
      .type_name("NAME=MODE,MIN,MAX[,TYPE]");
  add_external_data_option(parser, options);
  add_repeatable(parser, "--limit", options.limits,
                 "raise a limit, e.g. --limit nodes=10000; a model that exceeds one is refused "
                 "with the name of the limit")
      .check(check_limit)
      .type_name("NAME=N");
}

void add_code_options(const Parser& parser, ModelOptions& options) {
  parser
      .add_option(
          "--qdq", options.qdq,
          "operators between DequantizeLinear and QuantizeLinear; integer: as integer "
          "operators where ONNX Runtime has them; all: also where int8 and uint8 are mixed, "
          "products whose result stays float, and means over all positions; float: in float "
          "arithmetic as in the file")
      .one_of({"integer", "all", "float"})
      .type_name("HOW")
      .show_default();
  parser
      .add_option(
          "--float-products", options.float_products,
          "products of floats in Conv, ConvTranspose, MatMul, Gemm, recurrent layers and "
          "MatMulNBits; separate: product and sum are rounded one after the other; fused: both "
          "at once, up to twice as fast where the CPU has an instruction for it, other last bits")
      .one_of({"separate", "fused"})
      .type_name("HOW")
      .show_default();
  add_repeatable(parser, "--state", options.states,
                 "make the output OUT of one inference the input IN of the next: run() keeps it in "
                 "a State instead of an argument")
      .check(check_state)
      .type_name("OUT=IN");
  add_initial_state_option(parser, options);
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

void group_options(const Parser& parser) {
  parser.group("The model", {"--dim", "--input-shape", "--constant", "--cut", "--state",
                             "--initial-state", "--quantize-input", "--external-data", "--limit"});
  parser.group("Speed and size", {"--optimize", "--arena-limit", "--flash-limit", "--threads",
                                  "--split-rows", "--unroll", "--tuning"});
  parser.group("Arithmetic", {"--qdq", "--float-products", "--requantize", "--strict-integer"});
  parser.group("Files", {"--single-file", "--weights", "--weights-section", "--package",
                         "--library", "--evidence", "--keep", "--report"});
  parser.group("What is accepted", {"--max-lsb", "--tolerance", "--no-worse-than"});
}

void add_file_options(const Parser& parser, ModelOptions& options) {
  add_constant_option(parser, options);
  add_initial_state_option(parser, options);
  add_external_data_option(parser, options);
  add_tuning_option(parser, options);
}

void add_schedule_options(const Parser& parser, ModelOptions& options) {
  add_repeatable(parser, "--unroll", options.unrolling,
                 "how far the loop over K in every tile is unrolled: auto (a measured rule), full "
                 "or N groups of 4 bytes; LAYER=... for one step of report.json")
      .check(check_unroll)
      .type_name("[LAYER=]HOW");
  add_tuning_option(parser, options);
}

}  // namespace etch::cli
