// report.json: everything about a generated network, for scripts; see report.h.
#include "compiler/emit/report/report.h"

#include <nlohmann/json.hpp>

#include "compiler/emit/code/parts.h"
#include "compiler/emit/report/verdict.h"
#include "compiler/program/arena.h"
#include "compiler/program/state.h"
#include "compiler/schedule/memory.h"

namespace etch {
namespace {

using Json = nlohmann::ordered_json;

// `parameter`: what run() calls it, where that is known.
Json port_json(const Port& port, const std::string& parameter) {
  Json out;
  out["identifier"] = port.identifier;
  if (!parameter.empty()) out["parameter"] = parameter;
  out["name"] = port.name;
  out["dtype"] = name_of(port.dtype);
  out["shape"] = port.shape;
  if (port.quantized) {
    out["scale"] = port.scale;
    out["zero_point"] = port.zero_point;
  }
  return out;
}

// Of the parameters from `first` on.
Json ports_json(const ReportData& data, const std::vector<Port>& ports, std::size_t first) {
  Json out = Json::array();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::size_t at = first + i;
    out.push_back(port_json(ports[i], at < data.parameters.size() ? data.parameters[at] : ""));
    if (at < data.shapes.size() && !data.shapes[at].empty()) out.back()["shapes"] = data.shapes[at];
  }
  return out;
}

Json buffer_json(const Buffer& buffer) {
  Json out;
  out["label"] = buffer.label;
  out["home"] = name_of(buffer.home);
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

Json rungs_json(const RungCounts& counts) {
  Json out;
  for (int i = 0; i < kRungs; ++i) {
    const Rung rung = static_cast<Rung>(i);
    out[std::string(name_of(rung))] = counts.of(rung);
  }
  out["exceptional_accumulators"] = counts.exceptions;
  return out;
}

Json tensor_json(const QuantizedTensor& tensor) {
  return {{"role", tensor.role},
          {"dtype", name_of(tensor.dtype)},
          {"constant", tensor.is_constant},
          {"scales", tensor.channels},
          {"scale", {tensor.least_scale, tensor.median_scale, tensor.greatest_scale}},
          {"zero_point", {tensor.least_zero_point, tensor.greatest_zero_point}}};
}

void add_time(Json& out, const std::optional<MeasuredTime>& time) {
  if (!time) return;
  out["median_us"] = time->median_us;
  out["min_us"] = time->least_us;
}

Json tiles_json(const TileReport& tiles) {
  return {{"rows", tiles.rows},         {"cols", tiles.cols},
          {"channels", tiles.channels}, {"outer", tiles.outer},
          {"k_groups", tiles.groups},   {"unrolled_groups", tiles.unrolled},
          {"tuned", tiles.tuned},       {"tuning_key", tiles.tuning_key}};
}

Json layer_json(const LayerReport& layer) {
  Json out;
  out["name"] = layer.name;
  out["kind"] = layer.kind;
  out["origin"] = layer.origin;
  out["node"] = layer.node;
  out["summary"] = layer.summary;
  out["facts"] = layer.facts;
  if (!layer.schedule.empty()) out["schedule"] = layer.schedule;
  if (layer.tiles) out["tiles"] = tiles_json(*layer.tiles);
  out["input_shapes"] = layer.input_shapes;
  out["output_shape"] = layer.output_shape;
  out["macs"] = layer.macs;
  if (layer.float_macs > 0) out["float_macs"] = layer.float_macs;
  if (layer.weight_bits > 0) out["weight_bits"] = layer.weight_bits;
  if (layer.has_floats) out["has_floats"] = true;
  out["constant_bytes"] = layer.constant_bytes;
  for (const SharedConstants& shared : layer.shared_constants)
    out["shared_constants"].push_back({{"owner", shared.owner}, {"bytes", shared.bytes}});
  out["statements"] = layer.statements;
  if (layer.accumulators) {
    out["accumulators"] = {layer.accumulators->low, layer.accumulators->high};
  }
  if (layer.products.terms > 0) {
    out["products"] = {{"added_at_once", layer.products.terms},
                       {"least", layer.products.low},
                       {"most", layer.products.high}};
  }
  if (layer.rungs) out["requantization"] = rungs_json(*layer.rungs);
  if (!layer.tensors.empty()) {
    out["quantization"] = Json::array();
    for (const QuantizedTensor& tensor : layer.tensors) {
      out["quantization"].push_back(tensor_json(tensor));
    }
  }
  add_time(out, layer.time);
  if (layer.code_bytes) out["code_bytes"] = *layer.code_bytes;
  return out;
}

Json fusions_json(const std::vector<FusionRecord>& records) {
  Json out{{"fused", Json::array()}, {"missed", Json::array()}};
  for (const FusionRecord& record : records) {
    const bool missed = record.outcome == FusionRecord::Outcome::kMissed;
    Json each{{"node", record.node},
              {"op_type", record.op_type},
              {"name", record.name},
              {missed ? "why" : "what", record.what}};
    if (!record.option.empty()) each["option"] = record.option;
    out[missed ? "missed" : "fused"].push_back(std::move(each));
  }
  return out;
}

Json option_json(const BudgetOption& option) {
  return {{"way", option.what},
          {"arena_bytes", option.arena_bytes},
          {"flash_bytes", option.flash_bytes},
          {"macs", option.macs},
          {"chosen", option.chosen}};
}

template <class Item, class Describe>
Json array_of(const std::vector<Item>& items, Describe describe) {
  Json out = Json::array();
  for (const Item& item : items) out.push_back(describe(item));
  return out;
}

}  // namespace

std::string report_json(const ReportData& data) {
  Json out;
  out["generator"] = "etch";
  out["version"] = ETCH_VERSION;
  out["output_format"] = kOutputFormat;
  out["name"] = data.name;
  out["target"] = data.target;
  out["model_sha256"] = data.model_sha256;
  if (!data.command_line.empty()) out["command_line"] = data.command_line;
  out["producer"] = data.producer;
  out["verdict"] = verdict(data);
  out["macs"] = data.macs;
  out["float_macs"] = data.float_macs;
  if (data.pruning.removed > 0) {
    out["pruned"] = {{"channels", data.pruning.removed},
                     {"of_channels", data.pruning.of},
                     {"macs", data.pruning.macs_removed},
                     {"of_macs", data.pruning.macs}};
  }
  out["flash_bytes"] = data.flash_bytes;
  if (data.code_bytes) out["code_bytes"] = *data.code_bytes;
  add_time(out, data.time);
  out["requantize"] = data.float_requantization ? "float" : "integer";
  if (!data.float_requantization) out["requantization"] = rungs_json(data.rungs);
  out["arena"] = {{"bytes", data.arena_bytes},
                  {"most_live_bytes", data.most_live_bytes},
                  {"saved_in_place", data.saved_in_place},
                  {"alignment", data.arena_alignment},
                  {"slack", kArenaSlack}};
  if (data.state_bytes > 0) {
    out["state"] = {{"bytes", data.state_bytes}, {"alignment", kStateAlignment}};
    if (!data.initial_states.empty()) out["state"]["initial"] = data.initial_states;
  }
  if (data.sizes) {
    out["sizes"] = {{"symbol", data.sizes->symbol},
                    {"parameter", data.sizes->parameter},
                    {"least", data.sizes->least},
                    {"most", data.sizes->most},
                    {"functions", data.sizes->functions}};
  }
  if (!data.budget.empty()) out["budget"] = array_of(data.budget, option_json);
  out["inputs"] = ports_json(data, data.inputs, 0);
  out["outputs"] = ports_json(data, data.outputs, data.inputs.size());
  out["steps"] = array_of(data.layers, layer_json);
  out["buffers"] = array_of(data.buffers, buffer_json);
  out["fusions"] = fusions_json(data.fusions);
  out["files"] = data.files;
  return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace etch
