// `etch tune`: measures which tiles are the fastest on this machine and writes them down.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/columns.h"
#include "compiler/cli/options.h"
#include "compiler/host/file_output.h"
#include "compiler/host/toolchain.h"
#include "compiler/import/file.h"
#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"
#include "compiler/text/numbers.h"
#include "compiler/tune/tuner.h"

namespace etch::cli {
namespace {

constexpr char kFirstLine[] = "# Tiles measured by `etch tune`.";

struct TuneOptions : ModelOptions {
  std::string output;
  double seconds = 60;
  std::string shard = "1/1";
};

// "2/4": the second of four shares.
std::optional<TuneShard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto of = parse_integer(text.substr(slash + 1), 1, 10'000);
  if (!of) return std::nullopt;
  const auto number = parse_integer(text.substr(0, slash), 1, *of);
  if (!number) return std::nullopt;
  return TuneShard{static_cast<int>(*number), static_cast<int>(*of)};
}

std::string percent(double of, double from) {
  return from > 0 ? cat(fixed(100 * (from - of) / from, 1), " %") : "-";
}

// Whether the file may be written: it is not there, or was written by this command.
bool may_write(const std::string& path, Reporter& reporter) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return true;
  Sink ignored;
  const auto old = read_file(path, std::size_t{1} << 24, "", ignored);
  if (old && (old->empty() || old->rfind(kFirstLine, 0) == 0)) return true;
  reporter.io_error(path, "exists and was not written by `etch tune`; it is left alone");
  return false;
}

// The file: every choice with a comment that says what it gained, sorted by target and layer.
std::string file_of(const TuneResult& result, const IsaTraits& isa) {
  std::string out = cat(kFirstLine, " `etch compile --tuning FILE` takes them.\n",
                        "# TARGET LAYER tile=ROWSxCOLUMNS channels=N outer=pixels|channels "
                        "unroll=auto|full|N\n");
  for (const auto& [key, entry] : result.tuning.entries) {
    const auto layer = std::ranges::find(result.layers, key.second, &TunedLayer::key);
    out += cat("\n# ", joined(layer->steps), ": ", fixed(layer->chosen_us, 2), " us instead of ",
               fixed(layer->usual_us, 2), " us with ", layer->usual, "\n",
               tuning_line(isa, key.second, entry.choice), "\n");
  }
  return out;
}

std::string name_of(const TunedLayer& layer) {
  const std::size_t more = layer.steps.size() - 1;
  return more == 0 ? layer.steps.front() : cat(layer.steps.front(), " +", more);
}

void print_table(const TuneResult& result, const IsaTraits& isa) {
  std::size_t name = 5, usual = 7;
  for (const TunedLayer& layer : result.layers) {
    name = std::max(name, name_of(layer).size());
    usual = std::max(usual, layer.usual.size());
  }
  print_line(cat(left_aligned("layer", name), "        us    gain  ",
                 left_aligned("default", usual), "  chosen"));
  for (const TunedLayer& layer : result.layers) {
    const bool won = layer.chosen >= 0;
    const std::string time = fixed(layer.usual_us, 2);
    const std::string gain = won ? percent(layer.chosen_us, layer.usual_us) : "-";
    print_line(cat(
        left_aligned(name_of(layer), name),
        std::string(10 - std::min<std::size_t>(9, time.size()), ' '), time,
        std::string(8 - std::min<std::size_t>(7, gain.size()), ' '), gain, "  ",
        left_aligned(layer.usual, usual), "  ",
        won ? text_of(layer.candidates[static_cast<std::size_t>(layer.chosen)], isa) : "default"));
  }
}

ExitCode tune(const TuneOptions& options, Reporter& reporter) {
  if (refuse_bounds(options, "tune", reporter)) return reporter.exit_code();
  const IsaTraits& isa = *find_target(options.target);
  if (is_multi(isa.name)) {
    reporter.usage_error(cat("tune each instruction set of ", isa.name,
                             " by itself; their files can be put together"));
    return reporter.exit_code();
  }
  if (!status_of(isa).cpu_has_it) {
    reporter.io_error(cat("target ", isa.name), "a CPU that has it is needed to measure");
    return reporter.exit_code();
  }
  const std::optional<TuneShard> shard = parse_shard(options.shard);
  if (!shard) {
    reporter.usage_error(
        cat("--shard: '", options.shard, "' is not I/N with I from 1 to N, such as 2/4"));
    return reporter.exit_code();
  }
  if (!may_write(options.output, reporter)) return reporter.exit_code();
  const std::optional<CompileOptions> compile_options = complete_options(options, reporter);
  if (!compile_options) return reporter.exit_code();
  Tuner tuner(options.model, *compile_options, options.seconds, *shard, reporter);
  if (!tuner.run()) return reporter.exit_code();
  const TuneResult& result = tuner.result();
  if (!write_file(options.output, file_of(result, isa), reporter)) return reporter.exit_code();
  if (reporter.quiet()) return reporter.exit_code();
  if (result.layers.empty()) {
    print_line("no layer has tiles to choose from");
    return reporter.exit_code();
  }
  print_table(result, isa);
  print_line(cat(result.tuning.entries.size(), " of ", result.layers.size(),
                 " kinds of layers are faster; ", result.builds, " builds, ", result.rounds,
                 " rounds"));
  if (result.usual_us > 0) {
    print_line(cat("whole network ", fixed(result.tuned_us, 2), " us instead of ",
                   fixed(result.usual_us, 2), " us: ", percent(result.tuned_us, result.usual_us)));
  }
  return reporter.exit_code();
}

}  // namespace

Command add_tune(const Parser& root) {
  const Parser parser = root.add_subcommand("tune", "Measure which tiles are the fastest here");
  auto options = std::make_shared<TuneOptions>();
  add_model_options(parser, *options);
  add_code_options(parser, *options);
  add_budget_options(parser, *options);
  parser.add_option("-o,--output", options->output, "file to write").required().type_name("FILE");
  parser.add_option("--seconds", options->seconds, "how long to build and measure, about")
      .between(0.01, 86400.0)
      .type_name("S")
      .show_default();
  parser
      .add_option(
          "--shard", options->shard,
          "measure only the I-th of N shares of the layers; the shares' files, put together, "
          "are one")
      .type_name("I/N");
  group_options(parser);
  parser.footer(
      "Tries up to six other tiles, loop orders and unrollings for every convolution and product,\n"
      "and writes those that win by more than 2 %. They change speed only, never results.\n"
      "\n"
      "Examples:\n"
      "  etch tune model.onnx -o model.tune\n"
      "  etch compile model.onnx -o model --tuning model.tune\n"
      "  etch tune model.onnx -o avx2.tune --target avx2 --seconds 300\n"
      "  etch tune model.onnx -o part2.tune --shard 2/4");
  return {parser, [options](Reporter& reporter) { return tune(*options, reporter); }};
}

}  // namespace etch::cli
