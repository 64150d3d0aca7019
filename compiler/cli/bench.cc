// `etch bench`: how long the network and each of its layers takes, or in an emulator how many
// instructions, and how big it is.
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/columns.h"
#include "compiler/cli/json.h"
#include "compiler/cli/model_name.h"
#include "compiler/cli/options.h"
#include "compiler/compile.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/report/report.h"
#include "compiler/emit/report/verdict.h"
#include "compiler/host/compile_file.h"
#include "compiler/host/cycle_model.h"
#include "compiler/host/data_set.h"
#include "compiler/host/file_output.h"
#include "compiler/host/input_counts.h"
#include "compiler/host/measure.h"
#include "compiler/host/network.h"
#include "compiler/program/sized_step.h"
#include "compiler/targets/aliases.h"
#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch::cli {
namespace {

struct BenchOptions : ModelOptions {
  bool json = false;
  bool cycles = false;  // modelled, besides the instructions
  double seconds = 2;
  std::int64_t inputs = 0;  // that instructions are counted for; 0: times, of one input
  std::string report;       // file to write; empty: none
};

using Counts = std::map<std::string, std::int64_t>;  // executed instructions, or cycles

// Of "network" and of each step, by name: on this machine times, in an emulator instructions.
struct Measurements {
  Times times;
  Counts instructions;
  Counts cycles;             // modelled; empty without --cycles
  std::int64_t unknown = 0;  // of the network's instructions, those that the model lacks
};

std::int64_t weight_bytes(const Step& step) {
  std::size_t bytes = 0;
  for (const ConstantArray& constant : step.constants) bytes += constant.bytes.size();
  return static_cast<std::int64_t>(bytes);
}

// Adds what was measured of `name`; row["macs"] is there.
void add_measurements(Json& row, const std::string& name, const Measurements& measured) {
  if (const auto found = measured.times.find(name); found != measured.times.end()) {
    row["median_us"] = found->second.median_us;
    row["min_us"] = found->second.least_us;
  }
  if (const auto found = measured.instructions.find(name); found != measured.instructions.end()) {
    row["instructions"] = found->second;
    const auto macs = row["macs"].get<double>();
    if (macs > 0) row["instructions_per_mac"] = static_cast<double>(found->second) / macs;
  }
  if (const auto found = measured.cycles.find(name); found != measured.cycles.end()) {
    row["modelled_cycles"] = found->second;
    const auto macs = row["macs"].get<double>();
    if (macs > 0) row["modelled_cycles_per_mac"] = static_cast<double>(found->second) / macs;
  }
}

Json layer_of(const Step& step, const Measurements& measured,
              const std::vector<ObjectSize>& objects) {
  Json layer{{"name", step.name}, {"op", step.kind}, {"origin", step.origin}, {"macs", step.macs}};
  add_measurements(layer, step.name, measured);
  layer["weight_bytes"] = weight_bytes(step);
  const std::int64_t code = code_bytes_of(step, objects);
  if (code > 0) layer["code_bytes"] = code;
  return layer;
}

Json report_of(const Network& network, const Measurements& measured, const ObjectSizes& objects) {
  const Program& program = network.program();
  Json layers = Json::array();
  for (const auto& step : variant_for_this_cpu(program).steps) {
    if (!runs_at_greatest(*step)) continue;
    layers.push_back(layer_of(*step, measured, objects.measured));
  }
  Json report{{"target", program.isa.name}, {"threads", program.shares}, {"macs", program.macs}};
  const Machine* const machine = machine_of(program.isa.name);
  if (machine != nullptr && !machine->board.empty()) report["board"] = machine->board;
  add_measurements(report, "network", measured);
  if (!measured.cycles.empty()) {
    const PipelineModel& model = *pipeline_model(program.isa.name);
    report["cycle_model"] = {{"core", model.core},
                             {"llvm_cpu", model.cpu},
                             {"jump_cycles", model.jump_cycles},
                             {"unknown_instructions", measured.unknown}};
  }
  report["arena_bytes"] = program.arena_bytes;
  report["weight_bytes"] = constant_bytes(program);
  report["code_bytes"] = code_bytes_of(objects.all);
  report["layers"] = std::move(layers);
  return report;
}

// Numbers of a row, "-" for what is not there.
std::string integer_of(const Json& row, const char* key) {
  return row.contains(key) ? with_thousands(row[key].get<std::int64_t>()) : "-";
}
std::string real_of(const Json& row, const char* key) {
  return row.contains(key) ? fixed(row[key].get<double>(), 2) : "-";
}

void print_row(const Json& row, const std::string& name) {
  const double median = row.contains("median_us") ? row["median_us"].get<double>() : 0;
  const double gmacs = median > 0 ? row["macs"].get<double>() / median / 1e3 : 0;
  print_line(cat(right_aligned(real_of(row, "median_us"), 12),
                 right_aligned(real_of(row, "min_us"), 12),
                 right_aligned(integer_of(row, "macs"), 16),
                 right_aligned(row.contains("median_us") ? fixed(gmacs, 1) : "-", 8),
                 right_aligned(integer_of(row, "code_bytes"), 10), "  ", name));
}

void print_counted_row(const Json& row, const std::string& name) {
  print_line(cat(right_aligned(integer_of(row, "instructions"), 14),
                 right_aligned(integer_of(row, "macs"), 16),
                 right_aligned(real_of(row, "instructions_per_mac"), 11),
                 right_aligned(integer_of(row, "code_bytes"), 10), "  ", name));
}

void print_modelled_row(const Json& row, const std::string& name) {
  print_line(cat(right_aligned(integer_of(row, "instructions"), 14),
                 right_aligned(integer_of(row, "modelled_cycles"), 14),
                 right_aligned(integer_of(row, "macs"), 16),
                 right_aligned(real_of(row, "instructions_per_mac"), 11),
                 right_aligned(real_of(row, "modelled_cycles_per_mac"), 12),
                 right_aligned(integer_of(row, "code_bytes"), 10), "  ", name));
}

// What the columns of modelled cycles are.
void print_model(const Json& model) {
  print_line(cat("Cycles are a model: llvm-mca's ", model["llvm_cpu"].get<std::string>(), " for ",
                 model["core"].get<std::string>(), ", block by block",
                 "; no waiting for memory, no wrong prediction (docs/firmware.md)"));
  const auto unknown = model["unknown_instructions"].get<std::int64_t>();
  if (unknown > 0)
    print_line(
        cat(with_thousands(unknown), " executed instructions are unknown to it, a cycle each"));
}

void print_report(const Json& report) {
  const int threads = report["threads"].get<int>();
  const bool counted = report.contains("instructions");
  const bool modelled = report.contains("cycle_model");
  const auto print = modelled ? print_modelled_row : counted ? print_counted_row : print_row;
  const std::string board =
      report.contains("board") ? cat(" on the board ", report["board"].get<std::string>()) : "";
  print_line(cat("target ", report["target"].get<std::string>(), board, ", ",
                 threads == 1 ? "one thread" : cat(threads, " threads"), "; arena ",
                 with_thousands(report["arena_bytes"].get<std::int64_t>()), " bytes, weights ",
                 with_thousands(report["weight_bytes"].get<std::int64_t>()), " bytes"));
  print_line(
      modelled
          ? "  instructions        cycles            MACs   insn/MAC  cycles/MAC      code  layer"
      : counted ? "  instructions            MACs  insn/MAC      code  layer"
                : "   median us      min us            MACs  GMAC/s      code  layer");
  for (const Json& layer : report["layers"]) {
    print(layer, cat(layer["name"].get<std::string>(), "  ", layer["origin"].get<std::string>()));
  }
  print(report, "whole network");
  if (modelled) print_model(report["cycle_model"]);
}

// The report of `etch compile`, with times and sizes of code.
ReportData measured_report(const BenchOptions& options, const Program& program, const Times& times,
                           const ObjectSizes& objects) {
  EmitOptions emit_options;
  emit_options.name = name_from_path(options.model);
  ReportData data = gather_report(program, emit_options, {});
  data.files.clear();  // there is no folder
  if (const auto found = times.find("network"); found != times.end()) data.time = found->second;
  data.code_bytes = code_bytes_of(objects.all);
  auto layer = data.layers.begin();
  for (const auto& step : program.steps) {
    if (!runs_at_greatest(*step)) continue;
    if (const auto found = times.find(step->name); found != times.end())
      layer->time = found->second;
    layer->code_bytes = code_bytes_of(*step, objects.measured);
    ++layer;
  }
  return data;
}

// Of the network and of each step, as Network::count() has them.
Counts named(const Network& network, const std::vector<std::int64_t>& counts) {
  Counts out{{"network", counts.front()}};
  for (std::size_t i = 0; i < network.program().steps.size(); ++i)
    out[network.program().steps[i]->name] = counts[i + 1];
  return out;
}

// Null after an error.
std::optional<Measurements> measure(const Network& network, const std::vector<Tensor>& sample,
                                    const BenchOptions& options, Reporter& reporter) {
  Measurements measured;
  if (options.cycles) {
    const PipelineModel& model = *pipeline_model(network.program().isa.name);
    const auto counts = network.count_cycles(sample, model, reporter);
    if (!counts) return std::nullopt;
    measured.instructions = named(network, counts->instructions);
    measured.cycles = named(network, counts->modelled.cycles);
    measured.unknown = counts->modelled.unknown.front();
    return measured;
  }
  if (!network.counts()) {
    const std::optional<std::string> output = network.bench(sample, options.seconds, reporter);
    if (!output) return std::nullopt;
    measured.times = parse_times(*output);
    return measured;
  }
  const auto counts = network.count({sample}, reporter);
  if (!counts) return std::nullopt;
  measured.instructions = named(network, counts->front());
  return measured;
}

// Before anything is compiled: whether --cycles can be had.
bool can_have_cycles(const BenchOptions& options, Reporter& reporter) {
  if (!options.cycles) return true;
  if (pipeline_model(without_alias(options.target)) != nullptr) return can_model_cycles(reporter);
  reporter.usage_error(cat("--cycles: there is no model of a pipeline for ", options.target,
                           "; there are models for ", modelled_targets()));
  return false;
}

void print_ranges(const std::vector<CountRange>& ranges, const BenchOptions& options) {
  Json report;
  std::int64_t different = 0;
  for (const CountRange& each : ranges) {
    report["instructions"].push_back(
        {{"name", each.name}, {"least", each.least}, {"most", each.most}});
    if (each.least == each.most) continue;
    if (each.name != "network") ++different;
    if (!options.json)
      print_line(cat(each.name, ": from ", with_thousands(each.least), " to ",
                     with_thousands(each.most), " instructions"));
  }
  if (options.json) return print_line(report.dump(2));
  const auto steps = std::ssize(ranges) - 1;
  print_line(cat(counted(options.inputs, "input"), ": the same number of instructions for all in ",
                 steps - different, " of ", counted(steps, "step"), "; the network takes ",
                 with_thousands(ranges.front().most)));
}

ExitCode bench_inputs(const BenchOptions& options, Reporter& reporter) {
  if (refuse_bounds(options, "bench --inputs", reporter)) return reporter.exit_code();
  if (!options.report.empty() || options.cycles) {
    reporter.usage_error("--inputs counts instructions only: no --report is written, no --cycles");
    return reporter.exit_code();
  }
  const std::vector<std::filesystem::path> data = find_data_sets(options.model);
  std::unique_ptr<Program> program =
      compile_file(options, reporter, data.empty() ? std::filesystem::path() : data.front());
  if (program == nullptr) return reporter.exit_code();
  if (!program->variants.empty() || program->shares > 1) {
    reporter.usage_error("--inputs needs one target and one thread");
    return reporter.exit_code();
  }
  const std::unique_ptr<Network> network = Network::build_to_count(std::move(program), reporter);
  if (network == nullptr) return reporter.exit_code();
  if (!network->can_count()) {
    reporter.usage_error(
        cat("--inputs: instructions are counted in QEMU and, on x86-64 with Linux, "
            "of this CPU; not for ",
            network->program().isa.name));
    return reporter.exit_code();
  }
  network->limit_time(options.time_limit);
  const auto ranges = count_inputs(*network, options.inputs, reporter);
  if (ranges) print_ranges(*ranges, options);
  return reporter.exit_code();
}

// What emulators count is of one instruction set.
bool counts_several(const BenchOptions& options, Reporter& reporter) {
  const std::string_view target = find_target(options.target)->name;
  if (!is_multi(target) || machine_of(target) == nullptr) return false;
  std::string names;
  for (const IsaTraits* const isa : multi_target(target)->variants)
    names += cat(names.empty() ? "" : ", ", isa->name);
  reporter.usage_error(
      cat("count each instruction set of ", target, " by itself: --target one of ", names));
  return true;
}

ExitCode bench(const BenchOptions& options, Reporter& reporter) {
  if (options.inputs > 0) return bench_inputs(options, reporter);
  if (counts_several(options, reporter) || !can_have_cycles(options, reporter))
    return reporter.exit_code();
  const std::vector<std::filesystem::path> data = find_data_sets(options.model);
  std::unique_ptr<Program> program =
      compile_file(options, reporter, data.empty() ? std::filesystem::path() : data.front());
  if (program == nullptr) return reporter.exit_code();
  const std::vector<Tensor> sample = sample_for(options.model, *program);
  const std::unique_ptr<Network> network =
      Network::build(std::move(program), Timing::kSteps, {}, reporter);
  if (network == nullptr) return reporter.exit_code();
  network->limit_time(options.time_limit);
  const std::optional<Measurements> measured = measure(*network, sample, options, reporter);
  if (!measured) return reporter.exit_code();
  const ObjectSizes objects = object_sizes(*network);
  const Json report = report_of(*network, *measured, objects);
  const ReportData whole =
      measured_report(options, variant_for_this_cpu(network->program()), measured->times, objects);
  if (options.json) {
    print_json(report);
  } else {
    print_report(report);
    for (const std::string& sentence : verdict(whole)) print_line(sentence);
  }
  if (!options.report.empty()) {
    const bool json = std::filesystem::path(options.report).extension() == ".json";
    write_file(options.report, json ? report_json(whole) : report_html(whole), reporter);
  }
  return reporter.exit_code();
}

}  // namespace

Command add_bench(const Parser& root) {
  const Parser parser = root.add_subcommand("bench", "Time a model and each of its layers");
  auto options = std::make_shared<BenchOptions>();
  add_model_options(parser, *options);
  add_code_options(parser, *options);
  add_budget_options(parser, *options);
  add_time_limit(parser, *options);
  add_schedule_options(parser, *options);
  add_json_flag(parser, options->json);
  parser.add_flag("--cycles", options->cycles,
                  "in an emulator also model the cycles of a Cortex-M4, M7, M33, M55, A53, A76 or "
                  "C906 with llvm-mca");
  parser
      .add_option("--report", options->report,
                  "also write the report of `etch compile` with the times, as a page or, if the "
                  "name ends in .json, as JSON")
      .type_name("FILE");
  parser.add_option("--seconds", options->seconds, "how long to measure")
      .between(0.01, 3600.0)
      .type_name("S")
      .show_default();
  parser
      .add_option("--inputs", options->inputs,
                  "instead count the executed instructions of N different inputs, and name the "
                  "steps whose number depends on them")
      .between(std::int64_t{2}, std::int64_t{1000000})
      .type_name("N");
  group_options(parser);
  parser.footer(
      "On one thread unless --threads says otherwise. Half of the time goes to the whole network,\n"
      "half to its layers, which are timed one by one within runs of the whole network, less what\n"
      "reading the clock takes. On targets that are other machines, the emulator's executed\n"
      "instructions of one inference are counted instead.\n"
      "Modelled cycles know pipelines, but no memory that waits (docs/firmware.md).\n"
      "\n"
      "Example:\n"
      "  etch bench model.onnx --target avx2 --seconds 5 --report times.html");
  return {parser, [options](Reporter& reporter) { return bench(*options, reporter); }};
}

}  // namespace etch::cli
