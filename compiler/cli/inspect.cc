// `etch inspect`: what is in a model, and everything that keeps it from being compiled.
#include <algorithm>
#include <map>
#include <memory>

#include "compiler/base/text.h"
#include "compiler/cli/columns.h"
#include "compiler/cli/graph_listing.h"
#include "compiler/cli/json.h"
#include "compiler/cli/options.h"
#include "compiler/cli/profile.h"
#include "compiler/cli/quantization.h"
#include "compiler/compile.h"
#include "compiler/emit/report/report.h"
#include "compiler/emit/report/verdict.h"
#include "compiler/import/file.h"
#include "compiler/import/model_functions.h"
#include "compiler/passes/resolve.h"
#include "compiler/text/names.h"

namespace etch::cli {
namespace {

struct InspectOptions : ModelOptions {
  bool json = false;
  bool before = false;  // list these graphs; JSON has both if neither is asked for
  bool after = false;
  bool graph = false;   // list both
  std::string profile;  // whose rules to check; empty: none

  bool shows_before() const { return graph || before || (json && !after); }
  bool shows_after() const { return graph || after || (json && !before); }
};

// Everything found out about one model. Parts are missing if the model is broken before them.
struct Findings {
  std::optional<Graph> graph;    // as it is in the file
  std::optional<Graph> typed;    // the same with types and shapes, as far as they can be known
  std::unique_ptr<Graph> after;  // after the passes
  std::unique_ptr<Program> program;
  std::vector<std::string> functions;
  Sink sink;

  std::vector<ProfileFinding> profile() const {
    return sonnx_findings({*graph, functions, sink, program.get()});
  }
};

Findings examine(const InspectOptions& options, const CompileOptions& compile_options) {
  Findings found;
  const std::optional<std::string> bytes =
      read_model_file(options.model, compile_options.import.limits, found.sink);
  if (!bytes) return found;
  Sink repeated;  // compile() reports the same again
  found.graph = import_model(*bytes, compile_options.import, repeated);
  if (found.graph) {
    found.typed = found.graph;
    resolve(*found.typed, repeated);
    found.after = load_graph(*bytes, compile_options, repeated);
  }
  found.program = compile(*bytes, compile_options, found.sink);
  if (!options.profile.empty()) {
    found.functions = model_functions(*bytes, compile_options.import.limits);
  }
  return found;
}

Json describe_value(const Value& value) {
  Json out{{"name", printable(value.name)}, {"dtype", nullptr}, {"shape", nullptr}};
  if (value.dtype) out["dtype"] = name_of(*value.dtype);
  if (value.shape) out["shape"] = *value.shape;
  return out;
}

Json describe_values(const Graph& graph, const std::vector<ValueId>& ids) {
  Json out = Json::array();
  for (const ValueId id : ids) out.push_back(describe_value(graph.value(id)));
  return out;
}

// How the program sees its inputs or outputs: also with their quantization.
Json describe_ports(const std::vector<Port>& ports) {
  Json out = Json::array();
  for (const Port& port : ports) {
    Json one{{"name", printable(port.name)}, {"dtype", name_of(port.dtype)}, {"shape", port.shape}};
    if (port.quantized) {
      one["scale"] = port.scale;
      one["zero_point"] = port.zero_point;
    }
    out.push_back(std::move(one));
  }
  return out;
}

Json describe_nodes(const std::vector<ListedNode>& nodes) {
  Json out = Json::array();
  for (const ListedNode& node : nodes) {
    out.push_back({{"node", node.index},
                   {"op_type", node.op_type},
                   {"name", node.name},
                   {"output", node.output},
                   {"reads", node.reads},
                   {"constants", node.constants}});
  }
  return out;
}

Json describe_fusions(const FusionLog& fusions) {
  Json out = Json::array();
  for (const FusionRecord& record : fusions.records()) {
    out.push_back({{"node", record.node},
                   {"op_type", record.op_type},
                   {"name", record.name},
                   {"fused", record.outcome == FusionRecord::Outcome::kFused},
                   {"what", record.what}});
  }
  return out;
}

Json operators_of(const Graph& graph) {
  std::map<std::string, int> histogram;
  for (const Node& node : graph.nodes) {
    const std::string domain = node.domain.empty() ? "" : cat(node.domain, ".");
    ++histogram[printable(domain + node.op_type)];
  }
  return Json(histogram);
}

Json diagnostics_of(const Sink& sink) {
  constexpr const char* kSeverities[] = {"error", "warning", "note"};
  Json out = Json::array();
  for (const Diagnostic& diagnostic : sink.sorted()) {
    out.push_back({{"severity", kSeverities[static_cast<int>(diagnostic.severity)]},
                   {"code", code_of(diagnostic.kind)},
                   {"location", diagnostic.location},
                   {"message", diagnostic.message}});
  }
  return out;
}

Json describe_profile(const std::vector<ProfileFinding>& findings, const std::string& name) {
  Json broken = Json::array();
  for (const ProfileFinding& each : findings) {
    broken.push_back({{"rule", each.rule}, {"where", each.where}, {"what", each.what}});
  }
  return {{"name", name}, {"conforms", findings.empty()}, {"findings", std::move(broken)}};
}

Json report_of(const Findings& found, const InspectOptions& options) {
  Json out{{"model", options.model}, {"supported", found.program != nullptr}};
  if (found.graph) {
    const Graph& graph = *found.graph;
    const Graph& typed = found.after ? *found.after : graph;
    out["producer"] = printable(graph.producer);
    out["ir_version"] = graph.ir_version;
    out["opsets"] = Json::object();  // empty where the file imports no domain of its nodes
    for (const auto& [domain, version] : graph.opsets) {
      const bool used =
          std::any_of(graph.nodes.begin(), graph.nodes.end(),
                      [&name = domain](const Node& node) { return node.domain == name; });
      if (!used) continue;
      out["opsets"][domain.empty() ? "ai.onnx" : printable(domain)] = version;
    }
    out["inputs"] = found.program ? describe_ports(found.program->inputs)
                                  : describe_values(typed, typed.inputs);
    out["outputs"] = found.program ? describe_ports(found.program->outputs)
                                   : describe_values(typed, typed.outputs);
    out["nodes"] = graph.nodes.size();
    out["operators"] = operators_of(graph);
    if (found.after) out["operators_after"] = operators_of(*found.after);
    const Quantization quantization = quantization_of(graph);
    out["quantization"] = {{"formats", quantization.formats},
                           {"activations", quantization.activations},
                           {"weights", quantization.weights}};
  }
  if (found.program) {
    out["macs"] = found.program->macs;
    out["float_macs"] = found.program->float_macs;
    out["arena_bytes"] = found.program->arena_bytes;
  } else {
    out["macs"] = nullptr;
  }
  out["diagnostics"] = diagnostics_of(found.sink);
  if (found.graph && !options.profile.empty()) {
    out["profile"] = describe_profile(found.profile(), options.profile);
  }
  if (found.graph && options.shows_before()) {
    out["graph"]["before"] = describe_nodes(list_nodes(*found.graph, *found.typed));
  }
  if (found.after && options.shows_after()) {
    out["graph"]["after"] = describe_nodes(list_nodes(*found.after, *found.after));
  }
  if (found.after) out["fusions"] = describe_fusions(found.after->fusions);
  return out;
}

void print_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) print_line(line);
}

std::string joined_counts(const Json& counts) {
  std::string out;
  for (const auto& [name, count] : counts.items()) {
    out += cat(out.empty() ? "" : ", ", name, " x", count.get<int>());
  }
  return out.empty() ? "none" : out;
}

void print_values(std::string_view heading, const Json& values) {
  for (const Json& value : values) {
    const auto or_unknown = [](const Json& part) {
      return part.is_null() ? "?" : part.is_string() ? part.get<std::string>() : part.dump();
    };
    const std::string quantized =
        value.contains("scale")
            ? cat(", scale ", value["scale"].dump(), ", zero point ", value["zero_point"].dump())
            : "";
    print_line(cat(heading, value["name"].get<std::string>(), "  ", or_unknown(value["dtype"]), ' ',
                   or_unknown(value["shape"]), quantized));
  }
}

// Nodes per operator, in the file and after the passes.
void print_operators(const Json& report) {
  const bool resolved = report.contains("operators_after");
  std::map<std::string, std::pair<int, int>> counts;
  for (const auto& [name, count] : report["operators"].items()) counts[name].first = count;
  if (resolved) {
    for (const auto& [name, count] : report["operators_after"].items()) counts[name].second = count;
    print_line("  before   after");
  }
  for (const auto& [name, count] : counts) {
    const auto shown = [](int number) { return number == 0 ? std::string("-") : cat(number); };
    const std::string after = resolved ? right_aligned(shown(count.second), 8) : "";
    print_line(cat(right_aligned(shown(count.first), 8), after, "  ", name));
  }
}

void print_graphs(const Findings& found, const InspectOptions& options) {
  if (found.graph && options.shows_before()) {
    print_line("graph before the passes");
    print_lines(table_of(list_nodes(*found.graph, *found.typed)));
  }
  if (found.after && options.shows_after()) {
    print_line("graph after the passes");
    print_lines(table_of(list_nodes(*found.after, *found.after)));
  }
}

// What a reader wants to know first: whether there is code for it, what it needs, what is float.
void print_summary(const Json& report, const Findings& found) {
  const std::size_t errors = found.sink.error_count();
  print_line(errors == 0 ? std::string("compiles      yes")
                         : cat("compiles      no, ", errors, errors == 1 ? " error" : " errors"));
  if (!report["supported"].get<bool>()) return;
  const auto macs = report["macs"].get<std::int64_t>();
  print_line(cat("work          ", with_thousands(macs), " MACs",
                 share_of_floats(macs, report["float_macs"].get<std::int64_t>())));
  print_line(
      cat("arena         ", with_thousands(report["arena_bytes"].get<std::int64_t>()), " bytes"));
  for (const std::string& sentence : verdict(gather_report(*found.program, {}, {}))) {
    print_line(cat("              ", with_advice(sentence)));
  }
}

void print_profile(const Json& profile) {
  const Json& findings = profile["findings"];
  const std::string name = profile["name"].get<std::string>();
  if (findings.empty()) {
    print_line(cat("profile       conforms to ", name));
    return;
  }
  print_line(cat("profile       does not conform to ", name, ": ", findings.size(),
                 findings.size() == 1 ? " finding" : " findings"));
  for (const Json& each : findings) {
    const auto where = each["where"].get<std::string>();
    print_line(cat("  ", each["rule"].get<std::string>(), "  ", where, where.empty() ? "" : ": ",
                   each["what"].get<std::string>()));
  }
}

void print_report(const Json& report, const Findings& found, const InspectOptions& options) {
  print_summary(report, found);
  if (report.contains("operators")) {
    std::string opsets;
    for (const auto& [domain, version] : report["opsets"].items()) {
      opsets += cat(", ", domain, ' ', version.get<std::int64_t>());
    }
    const std::string producer = report["producer"].get<std::string>();
    print_line(cat("file          IR ", report["ir_version"].get<std::int64_t>(), opsets,
                   producer.empty() ? "" : ", by ", producer));
    print_values("input         ", report["inputs"]);
    print_values("output        ", report["outputs"]);
    print_line(cat("nodes         ", report["nodes"].get<std::size_t>()));
    print_operators(report);
    std::string formats;
    for (const Json& format : report["quantization"]["formats"]) {
      formats += cat(formats.empty() ? "" : ", ", format.get<std::string>());
    }
    print_line(cat("quantization  ", formats.empty() ? "none" : formats));
    print_line(cat("  activations ", joined_counts(report["quantization"]["activations"])));
    print_line(cat("  weights     ", joined_counts(report["quantization"]["weights"])));
  }
  if (found.after && options.profile.empty()) print_lines(lines_of(found.after->fusions));
  print_graphs(found, options);
  if (report.contains("profile")) print_profile(report["profile"]);
}

ExitCode inspect(const InspectOptions& options, Reporter& reporter) {
  const std::optional<CompileOptions> compile_options = complete_options(options, reporter);
  if (!compile_options) return reporter.exit_code();
  const Findings found = examine(options, *compile_options);
  reporter.diagnostics(found.sink, options.model);
  if (reporter.exit_code() == ExitCode::kIo) return ExitCode::kIo;
  const Json report = report_of(found, options);
  if (options.json) {
    print_json(report);
  } else {
    print_report(report, found, options);
  }
  const bool breaks_rules = report.contains("profile") && !report["profile"]["conforms"];
  const bool ok = reporter.exit_code() == ExitCode::kOk;
  return ok && breaks_rules ? ExitCode::kRefused : reporter.exit_code();
}

}  // namespace

Command add_inspect(const Parser& root) {
  const Parser parser = root.add_subcommand(
      "inspect", "Describe a model and everything that keeps it from being compiled");
  auto options = std::make_shared<InspectOptions>();
  add_model_options(parser, *options);
  parser.add_flag("--before", options->before, "list the graph as it is in the file");
  parser.add_flag("--after", options->after, "list the graph after the passes");
  parser.add_flag("--graph", options->graph, "list both");
  parser
      .add_option("--profile", options->profile,
                  "say which rules of this profile the model breaks (docs/spec/operators)")
      .one_of({"sonnx"});
  add_json_flag(parser, options->json);
  group_options(parser);
  parser.footer(
      "The exit code is 2 if the model cannot be compiled; the reasons, all of them, are on "
      "stderr.\n"
      "With --profile it is 2 also if the model breaks one of its rules.\n"
      "A graph is listed by node: its position in the file, the type of its first output, the "
      "nodes\n"
      "whose outputs it reads, and how many of its inputs are constants.\n"
      "\n"
      "Examples:\n"
      "  etch inspect model.onnx\n"
      "  etch inspect model.onnx --graph\n"
      "  etch inspect model.onnx --profile sonnx\n"
      "  etch inspect model.onnx --json");
  return {parser, [options](Reporter& reporter) { return inspect(*options, reporter); }};
}

}  // namespace etch::cli
