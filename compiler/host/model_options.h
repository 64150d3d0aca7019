// A model and what is asked of the compiler, in the words of the command line: what every command
// has, what `etch golden` records, and their syntax. compiler/cli/options.h describes them to the
// parser.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/host/reporter.h"
#include "compiler/options.h"

namespace etch::cli {

// The model and how to read it: arguments of every command but `targets`.
struct ModelOptions {
  std::string model;
  std::string target = "native";
  std::vector<std::string> dims;             // "SYM=N" or "SYM<=N", checked while parsing
  std::vector<std::string> input_shapes;     // "NAME=1,3,224,224", checked while parsing
  std::vector<std::string> constants;        // "NAME=N,..." or "NAME=FILE.pb", checked too
  std::vector<std::string> cuts;             // names of tensors
  std::vector<std::string> quantize_inputs;  // "NAME=SCALED,-1,1", checked while parsing
  std::vector<std::string> states;           // "OUT=IN", checked while parsing
  std::vector<std::string> initial_states;   // "IN=FILE.pb", checked while parsing
  std::string requantize = "auto";
  std::string qdq = "integer";
  std::string float_products = "separate";
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

  // All but what is in files; see read_tuning_file(), read_constants(), read_initial_states().
  CompileOptions compile_options() const;
};

// "49152", "48k" or "1M" (of 1024), at least 1. Null if malformed.
std::optional<std::int64_t> parse_bytes(std::string_view text);

// The tensors of --constant by input; null after an I/O error.
std::optional<std::map<std::string, Tensor>> read_constants(const ModelOptions& options,
                                                            Reporter& reporter);

// The tensors of --initial-state by input; null after an I/O error, or a usage error if one is
// given twice.
std::optional<std::map<std::string, Tensor>> read_initial_states(const ModelOptions& options,
                                                                 Reporter& reporter);

// Null and usage errors, one for each wrong line, or an I/O error.
std::optional<Tuning> read_tuning_file(const std::string& path, Reporter& reporter);

// compile_options() with what those three read; null after an error.
std::optional<CompileOptions> complete_options(const ModelOptions& options, Reporter& reporter);

// Sets one limit from "nodes=5000"; false if malformed or out of range.
bool set_limit(const std::string& text, Limits& limits);

// "full" -> ("", full), "conv_3=8" -> ("conv_3", 8); the last '=' separates. Null if malformed.
std::optional<std::pair<std::string, Unrolling>> parse_unroll(const std::string& text);

// "NAME=FILE" -> ("NAME", "FILE"), "x=1,2" -> ("x", "1,2"); the first '=' separates. Null if either
// is empty.
std::optional<std::pair<std::string, std::string>> parse_constant(const std::string& text);

// "16000", "1,3,224" as float64 of rank 0 or 1, which the importer makes what the input is declared
// as; null for what is no list of numbers.
std::optional<Tensor> parse_numbers(std::string_view text);

// Whether each integer in a list of numbers is one of float64: 2^53 + 1 is none.
bool exact_numbers(std::string_view text);

// "SYM=8" -> ("SYM", 8), "x=1,3" -> ("x", {1, 3}); the last '=' separates. Null if malformed or if
// a size is negative.
std::optional<std::pair<std::string, std::int64_t>> parse_dim(const std::string& text);

// "seq<=128", "8<=seq<=128": more than one size from 1 on. Null if malformed.
std::optional<SizeRange> parse_bound(const std::string& text);

std::optional<std::pair<std::string, Shape>> parse_shape(const std::string& text);

// "x=MIN_FIRST,-1,1,qint8", the type optional; the last '=' separates. Null if malformed. Modes and
// types are spelled as TensorFlow does.
std::optional<QuantizeInput> parse_quantize_input(const std::string& text);

}  // namespace etch::cli
