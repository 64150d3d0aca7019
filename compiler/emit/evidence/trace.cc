// From nodes to steps to lines and symbols; see parts.h.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/literals.h"
#include "compiler/emit/evidence/json_stream.h"
#include "compiler/emit/evidence/parts.h"
#include "compiler/program/arena.h"
#include "compiler/stage/audit.h"
#include "compiler/stage/recorder.h"

namespace etch {

namespace {

// Where a function of a step is defined.
struct Place {
  std::string file;
  std::int64_t first = 0, last = 0;  // lines
};

// The name in "void NAME(", which begins the definition of a step's function; empty: no such line.
std::string defined_name(std::string_view line) {
  constexpr std::string_view kVoid = "void ";
  if (!line.starts_with(kVoid)) return {};
  const std::size_t end = line.find('(');
  if (end == std::string_view::npos || line.back() == ';') return {};
  return std::string(line.substr(kVoid.size(), end - kVoid.size()));
}

void add_places(const OutputFile& file, std::map<std::string, Place>& places) {
  std::int64_t number = 0;
  std::string open;  // the function that the line is in
  for (std::size_t at = 0; at < file.content.size();) {
    const std::size_t end = std::min(file.content.find('\n', at), file.content.size());
    const std::string_view line = std::string_view(file.content).substr(at, end - at);
    ++number;
    at = end + 1;
    if (line == "}" && !open.empty()) {
      places[std::exchange(open, {})].last = number;
    } else if (std::string name = line.empty() ? "" : defined_name(line); !name.empty()) {
      open = name;
      places.try_emplace(std::move(name), Place{file.path, number, number});
    }
  }
}

std::map<std::string, Place> places_of(const EvidenceContext& context) {
  std::map<std::string, Place> places;
  for (const OutputFile& file : context.files) {
    const bool is_source = file.path.ends_with(".cc") || file.path.ends_with(".cpp");
    const bool is_ours = file.target.empty() || file.target == context.program.isa.name;
    if (is_source && is_ours && !file.as_is) add_places(file, places);
  }
  return places;
}

// As compilers of the Itanium ABI begin the symbol: parameters follow those of functions.
std::string symbol_of(const EvidenceContext& context, const std::string& name) {
  return cat("_ZN", context.name.size(), context.name, "5steps", name.size(), name, "E");
}

void add_fusions(JsonStream& json, const Program& program) {
  json.array("fusions", [&] {
    for (const FusionRecord& record : program.fusions.records()) {
      if (record.outcome != FusionRecord::Outcome::kFused) continue;
      json.object({}, [&] {
        json.member("node", record.node);
        json.member("op_type", record.op_type);
        json.member("name", record.name);
        json.member("what", record.what);
      });
    }
  });
}

void add_quantization(JsonStream& json, const Program& program) {
  json.array("quantization", [&] {
    for (const QuantizedTensor& tensor : program.quantization) {
      json.object({}, [&] {
        json.member("node", tensor.node);
        json.member("role", tensor.role);
        json.member("dtype", name_of(tensor.dtype));
        json.flag("constant", tensor.is_constant);
        json.member("scales", tensor.channels);
        json.list("scale", std::vector<std::string>{bits_of(tensor.least_scale),
                                                    bits_of(tensor.greatest_scale)});
        json.list("zero_point",
                  std::vector<std::int64_t>{tensor.least_zero_point, tensor.greatest_zero_point});
      });
    }
  });
}

void add_constants(JsonStream& json, const EvidenceContext& context, const Step& step) {
  const std::int64_t alignment = constant_alignment(context.program);
  json.array("constants", [&] {
    for (const ConstantArray& constant : step.constants) {
      const std::string& owner = constant.owner.empty() ? step.called() : constant.owner;
      json.object({}, [&] {
        json.member("suffix", constant.suffix);
        json.member("owner", owner);
        json.member("element", name_of(constant.element));
        json.member("bytes", static_cast<std::int64_t>(constant.bytes.size()));
        json.member("flash", flash_bytes(constant, alignment));
        json.member("sha256", sha256_hex({reinterpret_cast<const char*>(constant.bytes.data()),
                                          constant.bytes.size()}));
        json.member("symbol", symbol_of(context, cat(owner, "_", constant.suffix)));
      });
    }
  });
}

// Verbs and external functions, and how often each runs.
void add_uses(JsonStream& json, const Program& program, const Step& step) {
  const AuditResult audited = audit(step, program.isa, extents_of(program, step));
  json.flag("uses_floats", audited.uses_floats);
  json.object("executions", [&] {
    for (const auto& [verb, times] : audited.executions) json.member(verb, times);
  });
  Recorder recorder(step);
  recorder.set_isa(program.isa);
  step.run(recorder);
  std::vector<std::string> headers;
  for (const std::string_view header : recorder.headers()) headers.emplace_back(header);
  json.list("headers", headers);
  json.array("assembly", [&] {
    for (const AssemblyFunction& function : step.assembly) {
      json.object({}, [&] {
        json.member("name", function.name);
        json.member("stack", function.stack);
        json.member("condition", function.condition);
      });
    }
  });
}

void add_bounds(JsonStream& json, const Step& step) {
  if (step.accumulators) {
    json.list("accumulators",
              std::vector<std::int64_t>{step.accumulators->low, step.accumulators->high});
  }
  if (step.products.terms == 0) return;
  json.object("products", [&] {
    json.member("terms", step.products.terms);
    json.list("sums", std::vector<std::int64_t>{step.products.low, step.products.high});
  });
}

// Which of the file's channels are left of a convolution.
void add_kept(JsonStream& json, const EvidenceContext& context, const Step& step) {
  if (context.kept == nullptr || step.macs == 0) return;  // copies and halos of the node
  const auto kept = context.kept->find(step.node);
  if (kept == context.kept->end()) return;
  json.object("kept", [&] {
    json.list("inputs", kept->second.inputs);
    json.list("outputs", kept->second.outputs);
  });
}

void add_step(JsonStream& json, const EvidenceContext& context, const Step& step,
              const std::map<std::string, Place>& places) {
  json.member("name", step.name);
  json.member("kind", step.kind);
  json.member("node", step.node);
  json.member("op_type", step.op_type);
  json.member("node_name", printable(step.node_name));
  json.member("summary", step.summary);
  json.list("facts", step.facts);
  json.list("output_shape", step.output_shape);
  json.member("macs", step.macs);
  json.member("float_macs", step.float_macs);
  json.member("function", step.called());
  json.member("symbol", symbol_of(context, step.called()));
  if (const auto place = places.find(step.called()); place != places.end()) {
    json.object("code", [&] {
      json.member("file", place->second.file);
      json.list("lines", std::vector<std::int64_t>{place->second.first, place->second.last});
    });
  }
  add_kept(json, context, step);
  add_bounds(json, step);
  add_constants(json, context, step);
  add_uses(json, context.program, step);
}

}  // namespace

std::string trace_part(const EvidenceContext& context) {
  const Program& program = context.program;
  const std::map<std::string, Place> places = places_of(context);
  JsonStream json;
  json.member("target", program.isa.name);
  json.member("macs", program.macs);
  json.object("pruned", [&] {
    json.member("channels", program.pruning.removed);
    json.member("of", program.pruning.of);
  });
  add_fusions(json, program);
  add_quantization(json, program);
  json.array("regions", [&] {
    for (const Region& region : program.regions) {
      json.object({}, [&] {
        json.list("steps", std::vector<std::int64_t>{region.first, region.last});
        json.member("trips", region.trips);
        json.flag("branch", region.is_branch);
      });
    }
  });
  json.array("steps", [&] {
    for (const auto& step : program.steps)
      json.object({}, [&] { add_step(json, context, *step, places); });
  });
  return json.finish();
}

}  // namespace etch
