// `etch check`: does the generated code compute what the test data beside the model says?
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/json.h"
#include "compiler/cli/options.h"
#include "compiler/host/colour.h"
#include "compiler/host/compare.h"
#include "compiler/host/compile_file.h"
#include "compiler/host/data_set.h"
#include "compiler/host/network.h"
#include "compiler/host/sample_folders.h"
#include "compiler/program/sized_step.h"
#include "compiler/program/state.h"
#include "compiler/targets/targets.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// What may differ.
struct Allowance {
  std::int64_t max_lsb = 0;
  double tolerance = 0;
  std::string no_worse_than;  // a folder in each data set; empty: no such allowance
};

struct CheckOptions : ModelOptions {
  std::vector<std::string> data;
  Allowance allowance;
  std::string keep;
  bool json = false;
};

struct Sample {
  fs::path folder;
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
  std::vector<Tensor> others;  // of --no-worse-than, where there are any
};

// What became of one output of a data set.
struct Judgement {
  std::string variant;  // of x86-64-multi; otherwise empty
  std::string data_set;
  std::size_t output = 0;
  std::optional<Difference> difference;  // null: of another type or shape than expected
  std::string words;                     // "exact" and so on
  bool accepted = false;                 // exact, or as far away as is allowed

  bool exact() const { return difference && difference->different == 0; }
};

struct Count {
  std::vector<Judgement> judgements;
  // The tolerance, of those that are tried, with which all would be accepted; more than the last
  // one where none would do.
  double needed_tolerance = 0;

  auto exact() const { return std::ranges::count_if(judgements, &Judgement::exact); }
  // Nothing compared is nothing passed.
  bool pass() const {
    return !judgements.empty() && std::ranges::all_of(judgements, &Judgement::accepted);
  }
};

// Tolerances that rounding in another order explains: small enough to be worth naming.
constexpr double kTolerances[] = {1e-6, 1e-5, 1e-4, 1e-3};

double tolerance_for(const Difference& difference) {
  const auto* const found = std::ranges::find_if(
      kTolerances, [&](double tolerance) { return difference.within_tolerance(tolerance); });
  return found == std::end(kTolerances) ? 1 : *found;
}

std::optional<SampleFolders> data_folders(const CheckOptions& options, Reporter& reporter) {
  if (options.data.empty()) return SampleFolders{find_data_sets(options.model), nullptr};
  return sample_folders(options, options.data, SampleParts::kInputsAndOutputs, reporter);
}

std::optional<std::vector<Sample>> read_samples(const CheckOptions& options,
                                                const std::vector<fs::path>& folders,
                                                const Program& program, Reporter& reporter) {
  if (folders.empty()) {
    reporter.io_error(options.model,
                      "no test_data_set_* beside the model: name one with --data, or record one "
                      "with `etch record MODEL --inputs random` of the Python package");
  }
  std::vector<Sample> samples;
  for (const fs::path& folder : folders) {
    auto inputs = read_inputs(folder, program, reporter);
    const std::int64_t size = inputs ? size_of_sample(program, *inputs).value_or(0) : 0;
    const std::vector<Port> outputs = outputs_at(program, size);
    auto expected = inputs ? read_tensors(folder, "output", outputs, reporter)
                           : std::optional<std::vector<Tensor>>();
    if (!expected) return std::nullopt;
    const fs::path other = folder / options.allowance.no_worse_than;
    std::error_code error;
    std::vector<Tensor> others;
    if (!options.allowance.no_worse_than.empty() && fs::is_directory(other, error)) {
      others = read_tensors(other, "output", outputs, reporter).value_or(std::vector<Tensor>());
    }
    samples.push_back({folder, std::move(*inputs), std::move(*expected), std::move(others)});
  }
  if (reporter.failed()) return std::nullopt;
  return samples;
}

// Why a difference is accepted; null if it is not.
const char* excuse_for(const Difference& difference, const Allowance& allowance,
                       const Tensor* other, const Tensor& expected) {
  if (difference.different == 0) return "";
  if (difference.within(allowance.max_lsb)) return " (within --max-lsb)";
  if (difference.within_tolerance(allowance.tolerance)) return " (within --tolerance)";
  const bool comparable =
      other != nullptr && other->dtype() == expected.dtype() && other->shape() == expected.shape();
  if (comparable && difference.no_worse_than(compare(*other, expected))) {
    return " (within --no-worse-than)";
  }
  return nullptr;
}

// Judges output `i` of a sample.
void judge(const std::string& variant, const Sample& sample, std::size_t i, const Port& port,
           const Tensor& actual, const Allowance& allowance, Count& count) {
  const Tensor& expected = sample.expected[i];
  Judgement& judgement = count.judgements.emplace_back();
  judgement.variant = variant;
  judgement.data_set = one_line(sample.folder.filename().string());
  judgement.output = i;
  if (!fits(expected, port)) {
    count.needed_tolerance = 1;
    judgement.words = cat("is ", type_and_shape(actual.dtype(), actual.shape()), ", expected ",
                          type_and_shape(expected.dtype(), expected.shape()));
    return;
  }
  const Difference difference = compare(actual, expected);
  const bool has_other =
      i < sample.others.size() && has_tensor(sample.folder / allowance.no_worse_than, "output", i);
  const Tensor* const other = has_other ? &sample.others[i] : nullptr;
  const char* const excuse = excuse_for(difference, allowance, other, expected);
  if (excuse == nullptr) {
    count.needed_tolerance = std::max(count.needed_tolerance, tolerance_for(difference));
  }
  judgement.difference = difference;
  judgement.accepted = excuse != nullptr;
  judgement.words = cat(to_string(difference), excuse == nullptr ? "" : excuse);
}

void print_judgements(const Count& count) {
  for (const Judgement& each : count.judgements) {
    print_line(cat(each.variant, each.variant.empty() ? "" : " ", each.data_set, " output_",
                   each.output, ": ", each.words));
  }
}

// "1e-05"
std::string tolerance_text(double tolerance) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", tolerance);
  return text;
}

// "1.24 s"
std::string duration(double seconds) {
  const auto hundredths = static_cast<std::int64_t>(seconds * 100);
  return cat(hundredths / 100, hundredths % 100 < 10 ? ".0" : ".", hundredths % 100, " s");
}

// ", board mps2-an386", for firmware.
std::string board_note(std::string_view target) {
  const Machine* const machine = machine_of(target);
  return machine == nullptr || machine->board.empty() ? "" : cat(", board ", machine->board);
}

// How long things took, and on what.
struct Circumstances {
  std::size_t data_sets = 0;
  double compile_seconds = 0;
};

void print_verdict(const Count& count, const Circumstances& circumstances, const Network& network) {
  const bool pass = count.pass();
  if (!pass && count.needed_tolerance <= kTolerances[std::size(kTolerances) - 1]) {
    print_line(cat("floats that are summed in another order differ: --tolerance ",
                   tolerance_text(count.needed_tolerance), " would accept all of this"));
  }
  const std::size_t data_sets = circumstances.data_sets;
  print_line(cat("etch check: ", verdict_word(pass), " on ", network.program().isa.name, ": ",
                 count.exact(), " of ", count.judgements.size(), " outputs exact, ", data_sets,
                 data_sets == 1 ? " data set" : " data sets",
                 state_of(network.program()).empty() ? "" : " in a row", "; generated in ",
                 duration(circumstances.compile_seconds + network.emit_seconds()), ", built in ",
                 duration(network.build_seconds()), board_note(network.program().isa.name)));
}

using Inputs = std::vector<std::vector<Tensor>>;

// Runs all samples and judges their outputs; `variant` begins every line.
void run_once(const Network& network, const std::vector<Sample>& samples, const Inputs& inputs,
              const std::string& variant, const Allowance& allowance, Count& count,
              Reporter& reporter) {
  const std::optional<Inputs> outputs = network.run_in_order(inputs, reporter);
  if (!outputs) return;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const std::vector<Port> ports =
        outputs_at(network.program(), size_of_sample(network.program(), inputs[s]).value_or(0));
    for (std::size_t i = 0; i < samples[s].expected.size(); ++i) {
      const Port& port = ports[i];
      if (is_state(port) && !has_tensor(samples[s].folder, "output", i)) continue;
      judge(variant, samples[s], i, port, (*outputs)[s][i], allowance, count);
    }
  }
}

// The network; of several variants the one that it chooses, and then each that this CPU has.
Count run_all(Network& network, const std::vector<Sample>& samples, const Inputs& inputs,
              const Allowance& allowance, Reporter& reporter) {
  Count count;
  const std::vector<Program>& variants = network.program().variants;
  run_once(network, samples, inputs, variants.empty() ? "" : "chosen", allowance, count, reporter);
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const bool emulated = machine_of(network.program().isa.name) != nullptr;
    if (!emulated && !target_runs_here(variants[v].isa.name)) continue;
    network.choose(v);
    run_once(network, samples, inputs, std::string(variants[v].isa.name), allowance, count,
             reporter);
  }
  return count;
}

// What images use of their stack. The harness's own frame, with the arguments of networks that have
// many, is not run()'s.
std::int64_t used_by_run(const Network::Stack& stack) {
  const bool known = stack.bound && stack.bound_of_call;
  return stack.used - (known ? std::max<std::int64_t>(0, *stack.bound_of_call - *stack.bound) : 0);
}

void judge_stack(const Network& network, bool print, Reporter& reporter) {
  const std::optional<Network::Stack> stack = network.stack();
  if (!stack) return;
  if (print) {
    print_line(cat("stack: ", used_by_run(*stack), " bytes used; ",
                   stack->bound ? cat("no call of run() uses more than ", *stack->bound)
                                : std::string("no bound is known")));
  }
  if (stack->bound_of_call && stack->used > *stack->bound_of_call) {
    reporter.internal_error(cat("the network used ", stack->used, " bytes of stack, of ",
                                *stack->bound_of_call, " by its call graph"));
  }
}

Json json_of(const Judgement& judgement) {
  Json out{{"data_set", judgement.data_set},
           {"output", judgement.output},
           {"accepted", judgement.accepted},
           {"exact", judgement.exact()},
           {"words", judgement.words}};
  if (!judgement.variant.empty()) out["variant"] = judgement.variant;
  if (judgement.difference) {
    out["elements"] = judgement.difference->elements;
    out["different"] = judgement.difference->different;
    out["largest"] = judgement.difference->largest;
  }
  return out;
}

void print_json_verdict(const Count& count, const Circumstances& circumstances,
                        const Network& network) {
  const Program& program = network.program();
  const Machine* const machine = machine_of(program.isa.name);
  Json out{{"target", program.isa.name}};
  if (machine != nullptr && !machine->board.empty()) out["board"] = machine->board;
  out["pass"] = count.pass();
  out["exact_outputs"] = count.exact();
  out["data_sets"] = circumstances.data_sets;
  out["generate_seconds"] = circumstances.compile_seconds + network.emit_seconds();
  out["build_seconds"] = network.build_seconds();
  if (const std::optional<Network::Stack> stack = network.stack()) {
    out["stack_bytes"] = used_by_run(*stack);
    if (stack->bound) out["stack_bound_bytes"] = *stack->bound;
  }
  out["outputs"] = Json::array();
  for (const Judgement& each : count.judgements) out["outputs"].push_back(json_of(each));
  print_json(out);
}

ExitCode check(const CheckOptions& options, Reporter& reporter) {
  const Stopwatch compiling;
  const std::optional<SampleFolders> data = data_folders(options, reporter);
  if (!data) return reporter.exit_code();
  const std::vector<fs::path>& folders = data->folders;
  std::unique_ptr<Program> program =
      compile_file(options, reporter, folders.empty() ? fs::path() : folders.front());
  if (program == nullptr) return reporter.exit_code();
  const double compile_seconds = compiling.seconds();
  std::optional<std::vector<Sample>> samples = read_samples(options, folders, *program, reporter);
  if (!samples) return reporter.exit_code();
  const std::unique_ptr<Network> network =
      Network::build(std::move(program), Timing::kNone, options.keep, reporter);
  if (network == nullptr) return reporter.exit_code();
  network->limit_time(options.time_limit);

  Inputs inputs;
  for (Sample& sample : *samples) inputs.push_back(std::move(sample.inputs));
  const Circumstances circumstances{samples->size(), compile_seconds};
  const Count count = run_all(*network, *samples, inputs, options.allowance, reporter);
  if (!options.json) print_judgements(count);
  judge_stack(*network, !options.json, reporter);
  if (reporter.failed()) return reporter.exit_code();
  (options.json ? print_json_verdict : print_verdict)(count, circumstances, *network);
  return count.pass() ? ExitCode::kOk : ExitCode::kDiffer;
}

}  // namespace

Command add_check(const Parser& root) {
  const Parser parser = root.add_subcommand(
      "check", "Generate, build and run a model and compare with its test data");
  auto options = std::make_shared<CheckOptions>();
  add_model_options(parser, *options);
  add_code_options(parser, *options);
  add_budget_options(parser, *options);
  add_time_limit(parser, *options);
  add_schedule_options(parser, *options);
  parser
      .add_option("--data", options->data,
                  "folder with input_I.pb and output_I.pb, or .npy, .bin; folder of them;\n"
                  ".npz file with samples along the first axis of arrays that have the\n"
                  "names of inputs and outputs (default: every test_data_set_* beside the\n"
                  "model)")
      .one_argument()
      .type_name("DIR|FILE.npz");
  parser
      .add_option("--max-lsb", options->allowance.max_lsb,
                  "accept integer outputs that differ by up to K steps")
      .not_negative()
      .type_name("K")
      .show_default();
  parser
      .add_option("--tolerance", options->allowance.tolerance,
                  "accept float outputs that differ by up to T * max(1, |expected|)")
      .not_negative()
      .type_name("T")
      .show_default();
  parser
      .add_option("--no-worse-than", options->allowance.no_worse_than,
                  "accept outputs that differ in no more elements and by no more than\n"
                  "output_I.pb in this folder of the data set, e.g. of another runtime")
      .type_name("SUBDIR");
  parser.add_option("--keep", options->keep, "build in this folder and leave it").type_name("DIR");
  add_json_flag(parser, options->json);
  group_options(parser);
  parser.footer(
      "Prints one line per output, `exact` or `N of M differ, max K` (steps of an integer, "
      "absolute\n"
      "difference of a float), and ends with `etch check: PASS` or `etch check: FAIL` (exit code "
      "4).\n"
      "\n"
      "Examples:\n"
      "  etch check model.onnx\n"
      "  etch check model.onnx --target scalar --data recorded/first --data recorded/second");
  return {parser, [options](Reporter& reporter) { return check(*options, reporter); }};
}

}  // namespace etch::cli
