// `etch check`: does the generated code compute what the test data beside the model says?
#include <filesystem>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/compare.h"
#include "compiler/cli/data_set.h"
#include "compiler/cli/network.h"
#include "compiler/cli/options.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

struct CheckOptions : ModelOptions {
  std::vector<std::string> data;
  std::int64_t max_lsb = 0;
  std::string keep;
};

struct Sample {
  fs::path folder;
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
};

struct Count {
  int outputs = 0;
  int exact = 0;
  int accepted = 0;  // exact, or within --max-lsb
};

std::vector<fs::path> data_folders(const CheckOptions& options, Reporter& reporter) {
  if (!options.data.empty()) return {options.data.begin(), options.data.end()};
  std::vector<fs::path> found = find_data_sets(options.model);
  if (found.empty()) {
    reporter.io_error(options.model, "no test_data_set_* beside the model; name one with --data");
  }
  return found;
}

std::optional<std::vector<Sample>> read_samples(const CheckOptions& options, const Program& program,
                                                Reporter& reporter) {
  std::vector<Sample> samples;
  for (const fs::path& folder : data_folders(options, reporter)) {
    auto inputs = read_inputs(folder, program.inputs, reporter);
    auto expected = inputs ? read_tensors(folder, "output", program.outputs, reporter)
                           : std::optional<std::vector<Tensor>>();
    if (!expected) return std::nullopt;
    samples.push_back({folder, std::move(*inputs), std::move(*expected)});
  }
  if (reporter.failed()) return std::nullopt;
  return samples;
}

// Prints the line of one output.
void judge(const std::string& label, const Port& port, const Tensor& actual, const Tensor& expected,
           std::int64_t max_lsb, Count& count) {
  ++count.outputs;
  if (!fits(expected, port)) {
    print_line(cat(label, "is ", type_and_shape(actual.dtype(), actual.shape()), ", expected ",
                   type_and_shape(expected.dtype(), expected.shape())));
    return;
  }
  const Difference difference = compare(actual, expected);
  if (difference.different == 0) ++count.exact;
  if (difference.within(max_lsb)) ++count.accepted;
  print_line(cat(label, to_string(difference)));
}

// "1.24 s"
std::string duration(double seconds) {
  const auto hundredths = static_cast<std::int64_t>(seconds * 100);
  return cat(hundredths / 100, hundredths % 100 < 10 ? ".0" : ".", hundredths % 100, " s");
}

ExitCode verdict(const Count& count, std::size_t data_sets, const Network& network,
                 double compile_seconds) {
  const bool pass = count.accepted == count.outputs;
  print_line(cat("etch check: ", pass ? "PASS" : "FAIL", " on ", network.program().isa.name, ": ",
                 count.exact, " of ", count.outputs, " outputs exact, ", data_sets,
                 data_sets == 1 ? " data set" : " data sets", "; generated in ",
                 duration(compile_seconds + network.emit_seconds()), ", built in ",
                 duration(network.build_seconds())));
  return pass ? ExitCode::kOk : ExitCode::kDiffer;
}

ExitCode check(const CheckOptions& options, Reporter& reporter) {
  const Stopwatch compiling;
  std::unique_ptr<Program> program = compile_file(options, reporter);
  if (program == nullptr) return reporter.exit_code();
  const double compile_seconds = compiling.seconds();
  std::optional<std::vector<Sample>> samples = read_samples(options, *program, reporter);
  if (!samples) return reporter.exit_code();
  const std::unique_ptr<Network> network =
      Network::build(std::move(program), Timing::kNone, options.keep, reporter);
  if (network == nullptr) return reporter.exit_code();

  std::vector<std::vector<Tensor>> inputs;
  for (Sample& sample : *samples) inputs.push_back(std::move(sample.inputs));
  const auto outputs = network->run(inputs, reporter);
  if (!outputs) return reporter.exit_code();

  Count count;
  for (std::size_t s = 0; s < samples->size(); ++s) {
    const Sample& sample = (*samples)[s];
    for (std::size_t i = 0; i < sample.expected.size(); ++i) {
      const std::string label =
          cat(one_line(sample.folder.filename().string()), " output_", i, ": ");
      judge(label, network->program().outputs[i], (*outputs)[s][i], sample.expected[i],
            options.max_lsb, count);
    }
  }
  return verdict(count, samples->size(), *network, compile_seconds);
}

}  // namespace

Command add_check(CLI::App& root) {
  CLI::App* parser = root.add_subcommand(
      "check", "Generate, build and run a model and compare with its test data");
  auto options = std::make_shared<CheckOptions>();
  add_model_options(*parser, *options);
  add_code_options(*parser, *options);
  parser
      ->add_option("--data", options->data,
                   "folder with input_I.pb and output_I.pb\n"
                   "(default: every test_data_set_* beside the model)")
      ->allow_extra_args(false)
      ->type_name("DIR");
  parser
      ->add_option("--max-lsb", options->max_lsb,
                   "accept integer outputs that differ by up to K steps;\nfloats must be equal")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("K")
      ->capture_default_str();
  parser->add_option("--keep", options->keep, "build in this folder and leave it")
      ->type_name("DIR");
  parser->footer(
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
