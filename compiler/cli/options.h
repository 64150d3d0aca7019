// What the command line can say, apart from one command's own options. Every subcommand is one
// file with an add_...() function that describes it to the parser and returns what runs it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/cli/exit_code.h"
#include "compiler/cli/parser.h"
#include "compiler/cli/reporter.h"
#include "compiler/compile.h"

namespace etch::cli {

// A subcommand: how it is spelled and what runs it.
struct Command {
  Parser parser;
  std::function<ExitCode(Reporter&)> run;
};

Command add_compile(const Parser& root);
Command add_check(const Parser& root);
Command add_run(const Parser& root);
Command add_bench(const Parser& root);
Command add_tune(const Parser& root);
Command add_golden(const Parser& root);
Command add_inspect(const Parser& root);
Command add_targets(const Parser& root);
Command add_quantize_params(const Parser& root);

// The model and how to read it: arguments of every command but `targets`.
struct ModelOptions {
  std::string model;
  std::string target = "native";
  std::vector<std::string> dims;             // "SYM=N", checked while parsing
  std::vector<std::string> input_shapes;     // "NAME=1,3,224,224", checked while parsing
  std::vector<std::string> cuts;             // names of tensors
  std::vector<std::string> quantize_inputs;  // "NAME=SCALED,-1,1", checked while parsing
  std::string requantize = "auto";
  std::string qdq = "integer";
  bool strict_integer = false;
  int threads = 1;
  double time_limit = 0;  // seconds for a program that is run; 0: the machine's own limit
  std::vector<std::string> unrolling;                   // "4", "LAYER=full", checked while parsing
  std::string tuning;                                   // file to read; empty: none
  std::int64_t split_rows_kib = kSplitRowsAbove >> 10;  // 0: never
  std::string objective = "balanced";
  std::vector<std::string> limits;       // "nodes=5000", checked while parsing
  std::string external_data;             // folder; empty: no data in other files is read
  std::string arena_limit, flash_limit;  // sizes, checked while parsing; empty: none

  // All but the tuning file; see read_tuning_file().
  CompileOptions compile_options() const;
};

// Adds MODEL, --target, --dim, --input-shape, --cut, --quantize-input, --external-data and --limit.
void add_model_options(const Parser& parser, ModelOptions& options);

// Adds --qdq, --requantize, --strict-integer, --split-rows and --threads, for the commands that
// generate code.
void add_code_options(const Parser& parser, ModelOptions& options);

// Adds --optimize, --arena-limit and --flash-limit, for the same commands.
void add_budget_options(const Parser& parser, ModelOptions& options);

// "49152", "48k" or "1M" (of 1024), at least 1. Null if malformed.
std::optional<std::int64_t> parse_bytes(std::string_view text);

// Adds --time-limit, for the commands that run what they generate.
void add_time_limit(const Parser& parser, ModelOptions& options);

// Adds --unroll and --tuning, for the same commands but the one that looks for the best itself.
void add_schedule_options(const Parser& parser, ModelOptions& options);

// Null and usage errors, one for each wrong line, or an I/O error.
std::optional<Tuning> read_tuning_file(const std::string& path, Reporter& reporter);

// Sets one limit from "nodes=5000"; false if malformed or out of range.
bool set_limit(const std::string& text, Limits& limits);

// "full" -> ("", full), "conv_3=8" -> ("conv_3", 8); the last '=' separates. Null if malformed.
std::optional<std::pair<std::string, Unrolling>> parse_unroll(const std::string& text);

// "SYM=8" -> ("SYM", 8), "x=1,3" -> ("x", {1, 3}); the last '=' separates. Null if malformed or if
// a size is less than 1.
std::optional<std::pair<std::string, std::int64_t>> parse_dim(const std::string& text);
std::optional<std::pair<std::string, Shape>> parse_shape(const std::string& text);

// "x=MIN_FIRST,-1,1,qint8", the type optional; the last '=' separates. Null if malformed. Modes and
// types are spelled as TensorFlow does.
std::optional<QuantizeInput> parse_quantize_input(const std::string& text);

// One number of float32, finite; null if it is anything else.
std::optional<float> parse_float(std::string_view text);

}  // namespace etch::cli
