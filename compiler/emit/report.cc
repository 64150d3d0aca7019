// report.json: everything about a generated network, for people and scripts; see parts.h.
#include <nlohmann/json.hpp>

#include "compiler/base/text.h"
#include "compiler/emit/parts.h"
#include "compiler/schedule/memory.h"
#include "compiler/stage/recorder.h"
#include "compiler/steps/requantization.h"

namespace etch {
namespace {

using Json = nlohmann::ordered_json;

Json port_report(const Port& port) {
  Json out;
  out["identifier"] = port.identifier;
  out["name"] = printable(port.name);
  out["dtype"] = name_of(port.dtype);
  out["shape"] = port.shape;
  if (port.quantized) {
    out["scale"] = port.scale;
    out["zero_point"] = port.zero_point;
  }
  return out;
}

std::string_view home_name(Home home) {
  if (home == Home::kArena) return "arena";
  return home == Home::kInput ? "input" : "output";
}

Json buffer_report(const Buffer& buffer) {
  Json out;
  out["label"] = printable(buffer.label);
  out["home"] = home_name(buffer.home);
  if (buffer.home == Home::kArena) {
    out["offset"] = buffer.arena_offset;
  } else {
    out["port"] = buffer.port;
  }
  out["bytes"] = buffer.bytes;
  out["first_step"] = buffer.first_step;
  out["last_step"] = buffer.last_step;
  return out;
}

Json rung_report(const RungCounts& counts) {
  Json out;
  for (int i = 0; i < kRungs; ++i) {
    const Rung rung = static_cast<Rung>(i);
    out[std::string(name_of(rung))] = counts.of(rung);
  }
  out["exceptional_accumulators"] = counts.exceptions;
  return out;
}

Json step_report(const Program& program, const Step& step) {
  Recorder recorder(step);
  recorder.set_isa(program.isa);
  step.run(recorder);
  std::int64_t bytes = 0;
  for (const ConstantArray& constant : step.constants) {
    bytes += static_cast<std::int64_t>(constant.bytes.size());
  }
  Json out;
  out["name"] = step.name;
  out["kind"] = step.kind;
  out["origin"] = step.origin;
  out["node"] = step.node;
  out["summary"] = step.summary;
  out["facts"] = step.facts;
  out["output_shape"] = step.output_shape;
  out["macs"] = step.macs;
  out["constant_bytes"] = bytes;
  out["statements"] = recorder.statements();
  if (step.products.terms > 0) {
    out["products"] = {{"added_at_once", step.products.terms},
                       {"least", step.products.low},
                       {"most", step.products.high}};
  }
  if (!step.requantized.empty()) out["requantization"] = rung_report(count_rungs(step));
  return out;
}

}  // namespace

std::string report(const EmitContext& context, const std::vector<OutputFile>& files) {
  const Program& program = context.program;
  Json out;
  out["generator"] = "etch";
  out["version"] = ETCH_VERSION;
  out["output_format"] = kOutputFormat;
  out["name"] = context.options.name;
  out["target"] = program.isa.name;
  out["model_sha256"] = program.model_sha256;
  out["macs"] = program.macs;
  out["flash_bytes"] = constant_bytes(program);
  out["requantize"] = program.isa.float_requantization ? "float" : "integer";
  if (!program.isa.float_requantization) out["requantization"] = rung_report(count_rungs(program));
  out["arena"] = {{"bytes", program.arena_bytes},
                  {"lower_bound", program.arena_lower_bound},
                  {"alignment", kArenaAlignment},
                  {"slack", kArenaSlack}};
  out["inputs"] = Json::array();
  out["outputs"] = Json::array();
  out["steps"] = Json::array();
  out["buffers"] = Json::array();
  out["files"] = Json::array({"report.json"});
  for (const Port& port : program.inputs) out["inputs"].push_back(port_report(port));
  for (const Port& port : program.outputs) out["outputs"].push_back(port_report(port));
  for (const auto& step : program.steps) out["steps"].push_back(step_report(program, *step));
  for (const Buffer& buffer : program.buffers) out["buffers"].push_back(buffer_report(buffer));
  for (const OutputFile& file : files) out["files"].push_back(file.path);
  return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace etch
