// What the command line can say, apart from one command's own options. Every subcommand is one
// file with an add_...() function that describes it to the parser and returns what runs it.
#pragma once

#include <functional>
#include <string>

#include "compiler/cli/parser.h"
#include "compiler/host/exit_code.h"
#include "compiler/host/model_options.h"
#include "compiler/host/reporter.h"

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
Command add_fit(const Parser& root);
Command add_golden(const Parser& root);
Command add_inspect(const Parser& root);
Command add_targets(const Parser& root);
Command add_quantize_params(const Parser& root);
Command add_explain(const Parser& root);
Command add_prove(const Parser& root);

// What `etch prove` does with a folder, for `etch compile --prove`.
ExitCode prove_output(const std::string& folder, const ModelOptions& options, Reporter& reporter);

// Adds MODEL, --target, --dim, --input-shape, --cut, --quantize-input, --external-data and --limit.
void add_model_options(const Parser& parser, ModelOptions& options);

// Whether a size has a bound, which `what` cannot have; then a usage error says so.
bool refuse_bounds(const ModelOptions& options, const char* what, Reporter& reporter);

// Of a folder with a model.onnx this file, as ONNX's own test cases are kept; else the path itself.
std::string model_in(const std::string& path);

// What is wrong with the name of a target, with a number of bytes; empty if nothing.
std::string check_any_target(const std::string& name);
std::string check_bytes(const std::string& text);

// Adds --qdq, --float-products, --requantize, --strict-integer, --split-rows and --threads, for the
// commands that generate code.
void add_code_options(const Parser& parser, ModelOptions& options);

// Adds --optimize, --arena-limit and --flash-limit, for the same commands.
void add_budget_options(const Parser& parser, ModelOptions& options);

// Adds --time-limit, for the commands that run what they generate.
void add_time_limit(const Parser& parser, ModelOptions& options);

// Adds --constant, --initial-state, --external-data and --tuning, whose files a folder does not
// name, for a command that reads everything else in the folder.
void add_file_options(const Parser& parser, ModelOptions& options);

// Adds --unroll and --tuning, for the same commands but the one that looks for the best itself.
void add_schedule_options(const Parser& parser, ModelOptions& options);

// Puts the options that few calls need under headings of the help text, by what they are about.
void group_options(const Parser& parser);

}  // namespace etch::cli
