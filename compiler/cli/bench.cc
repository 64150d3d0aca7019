// `etch bench`: how long the network and each of its layers takes, and how big it is.
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/data_set.h"
#include "compiler/cli/model_name.h"
#include "compiler/cli/network.h"
#include "compiler/cli/object_size.h"
#include "compiler/cli/options.h"
#include "compiler/emit/names.h"
#include "compiler/emit/numbers.h"
#include "compiler/emit/parts.h"
#include "compiler/emit/report.h"
#include "compiler/import/file.h"
#include "compiler/import/tensor_proto.h"

namespace etch::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BenchOptions : ModelOptions {
  bool json = false;
  double seconds = 2;
  std::string report;  // file to write; empty: none
};

using Times = std::map<std::string, MeasuredTime>;

// What harness.h prints: "NAME MEDIAN MINIMUM" per line.
Times parse_times(const std::string& text) {
  Times all;
  std::istringstream lines(text);
  lines.imbue(std::locale::classic());
  std::string name;
  MeasuredTime time;
  while (lines >> name >> time.median_us >> time.least_us) all[name] = time;
  return all;
}

// A stand-in where there is no test data: any bytes for integers, values in [0, 1) for float32.
Tensor made_up(const Port& port) {
  Tensor tensor(port.dtype, port.shape);
  std::uint32_t state = 1;
  const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 24; };
  if (port.dtype == DType::kF32) {
    for (float& value : tensor.as<float>()) value = static_cast<float>(next()) / 256.0F;
  } else if (is_8bit(port.dtype)) {
    for (std::byte& byte : tensor.mutable_bytes()) byte = static_cast<std::byte>(next());
  }
  return tensor;
}

// The first data set beside the model if it fits, otherwise made-up values: time does not depend
// on them.
std::vector<Tensor> sample_for(const BenchOptions& options, const Program& program) {
  const std::vector<std::filesystem::path> folders = find_data_sets(options.model);
  std::vector<Tensor> sample;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Port& port = program.inputs[i];
    Sink ignored;
    std::optional<Tensor> tensor;
    if (!folders.empty()) {
      tensor = read_tensor_file((folders.front() / cat("input_", i, ".pb")).string(), ignored);
    }
    sample.push_back(tensor && fits(*tensor, port) ? std::move(*tensor) : made_up(port));
  }
  return sample;
}

std::int64_t weight_bytes(const Step& step) {
  std::size_t bytes = 0;
  for (const ConstantArray& constant : step.constants) bytes += constant.bytes.size();
  return static_cast<std::int64_t>(bytes);
}

// Sizes of the objects that a user's program would have, too.
struct ObjectSizes {
  std::vector<ObjectSize> all;
  std::vector<ObjectSize> measured;  // of the variant whose steps are measured; mostly all
};

ObjectSizes object_sizes(const Network& network) {
  const Program& program = network.program();
  const std::string variant =
      program.variants.empty() ? "" : variant_name("network", variant_for_this_cpu(program).isa);
  ObjectSizes sizes;
  for (const std::filesystem::path& path : network.objects()) {
    const std::string name = path.filename().string();
    if (name == "main.cc.o" || name.find("_profile.cc.o") != std::string::npos) continue;
    Sink ignored;
    const std::optional<std::string> bytes =
        read_file(path.string(), std::size_t{1} << 30, "", ignored);
    if (!bytes) continue;
    sizes.all.push_back(size_of_object(*bytes));
    const bool belongs = name.compare(0, variant.size(), variant) == 0;
    if (belongs) sizes.measured.push_back(sizes.all.back());
  }
  return sizes;
}

std::int64_t code_bytes_of(const Step& step, const std::vector<ObjectSize>& objects) {
  std::int64_t code = 0;
  for (const ObjectSize& object : objects) code += bytes_of_function(object, step.name);
  return code;
}

std::int64_t code_bytes_of(const std::vector<ObjectSize>& objects) {
  std::int64_t code = 0;
  for (const ObjectSize& object : objects) code += object.code_bytes;
  return code;
}

Json layer_of(const Step& step, const Times& times, const std::vector<ObjectSize>& objects) {
  Json layer{{"name", step.name}, {"op", step.kind}, {"origin", step.origin}, {"macs", step.macs}};
  const auto found = times.find(step.name);
  if (found != times.end()) {
    layer["median_us"] = found->second.median_us;
    layer["min_us"] = found->second.least_us;
  }
  layer["weight_bytes"] = weight_bytes(step);
  const std::int64_t code = code_bytes_of(step, objects);
  if (code > 0) layer["code_bytes"] = code;
  return layer;
}

Json report_of(const Network& network, const Times& times, const ObjectSizes& objects) {
  const Program& program = network.program();
  Json layers = Json::array();
  for (const auto& step : variant_for_this_cpu(program).steps) {
    layers.push_back(layer_of(*step, times, objects.measured));
  }
  const MeasuredTime whole = times.at("network");
  return Json{{"target", program.isa.name},
              {"threads", program.shares},
              {"median_us", whole.median_us},
              {"min_us", whole.least_us},
              {"macs", program.macs},
              {"arena_bytes", program.arena_bytes},
              {"weight_bytes", constant_bytes(program)},
              {"code_bytes", code_bytes_of(objects.all)},
              {"layers", std::move(layers)}};
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

void print_row(const Json& row, const std::string& name) {
  const bool timed = row.contains("median_us");
  const double median = timed ? row["median_us"].get<double>() : 0;
  const double gmacs = median > 0 ? row["macs"].get<double>() / median / 1e3 : 0;
  print_line(
      cat(right(timed ? fixed(median, 2) : "-", 12),
          right(timed ? fixed(row["min_us"].get<double>(), 2) : "-", 12),
          right(with_thousands(row["macs"].get<std::int64_t>()), 16),
          right(timed ? fixed(gmacs, 1) : "-", 8),
          right(row.contains("code_bytes") ? with_thousands(row["code_bytes"].get<std::int64_t>())
                                           : "-",
                10),
          "  ", name));
}

void print_report(const Json& report) {
  const int threads = report["threads"].get<int>();
  print_line(cat("target ", report["target"].get<std::string>(), ", ",
                 threads == 1 ? "one thread" : cat(threads, " threads"), "; arena ",
                 with_thousands(report["arena_bytes"].get<std::int64_t>()), " bytes, weights ",
                 with_thousands(report["weight_bytes"].get<std::int64_t>()), " bytes"));
  print_line("   median us      min us            MACs  GMAC/s      code  layer");
  for (const Json& layer : report["layers"]) {
    print_row(layer,
              cat(layer["name"].get<std::string>(), "  ", layer["origin"].get<std::string>()));
  }
  print_row(report, "whole network");
}

// The report of `etch compile`, with times and sizes of code.
std::string report_file(const BenchOptions& options, const Program& program, const Times& times,
                        const ObjectSizes& objects) {
  EmitOptions emit_options;
  emit_options.name = name_from_path(options.model);
  ReportData data = gather_report(program, emit_options, {});
  data.files.clear();  // there is no folder
  data.time = times.at("network");
  data.code_bytes = code_bytes_of(objects.all);
  for (std::size_t i = 0; i < data.layers.size(); ++i) {
    LayerReport& layer = data.layers[i];
    if (const auto found = times.find(layer.name); found != times.end()) layer.time = found->second;
    layer.code_bytes = code_bytes_of(*program.steps[i], objects.measured);
  }
  const bool json = std::filesystem::path(options.report).extension() == ".json";
  return json ? report_json(data) : report_html(data);
}

void write_report(const std::string& path, const std::string& text, Reporter& reporter) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) reporter.io_error(path, "cannot write this file");
}

ExitCode bench(const BenchOptions& options, Reporter& reporter) {
  const std::vector<std::filesystem::path> data = find_data_sets(options.model);
  std::unique_ptr<Program> program =
      compile_file(options, reporter, data.empty() ? std::filesystem::path() : data.front());
  if (program == nullptr) return reporter.exit_code();
  const std::vector<Tensor> sample = sample_for(options, *program);
  const std::unique_ptr<Network> network =
      Network::build(std::move(program), Timing::kSteps, {}, reporter);
  if (network == nullptr) return reporter.exit_code();
  const std::optional<std::string> output = network->bench(sample, options.seconds, reporter);
  if (!output) return reporter.exit_code();
  const Times times = parse_times(*output);
  const ObjectSizes objects = object_sizes(*network);
  const Json report = report_of(*network, times, objects);
  if (options.json) {
    print_line(report.dump(2));
  } else {
    print_report(report);
  }
  if (!options.report.empty()) {
    write_report(options.report,
                 report_file(options, variant_for_this_cpu(network->program()), times, objects),
                 reporter);
  }
  return reporter.exit_code();
}

}  // namespace

Command add_bench(CLI::App& root) {
  CLI::App* parser = root.add_subcommand("bench", "Time a model and each of its layers");
  auto options = std::make_shared<BenchOptions>();
  add_model_options(*parser, *options);
  add_code_options(*parser, *options);
  parser->add_flag("--json", options->json, "print a JSON object");
  parser
      ->add_option("--report", options->report,
                   "also write the report of `etch compile` with the times, as a page or, if the "
                   "name ends in .json, as JSON")
      ->type_name("FILE");
  parser->add_option("--seconds", options->seconds, "how long to measure")
      ->check(CLI::Validator(CLI::Range(0.01, 3600.0)).description(""))
      ->type_name("S")
      ->capture_default_str();
  parser->footer(
      "On one thread unless --threads says otherwise. Half of the time goes to the whole network,\n"
      "half to its layers, which are timed one by one within runs of the whole network, less what\n"
      "reading the clock takes.\n"
      "\n"
      "Example:\n"
      "  etch bench model.onnx --target avx2 --seconds 5 --report times.html");
  return {parser, [options](Reporter& reporter) { return bench(*options, reporter); }};
}

}  // namespace etch::cli
