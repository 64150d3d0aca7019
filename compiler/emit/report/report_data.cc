// Gathers what both reports tell; see report.h.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/emit/code/literals.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/report/report.h"
#include "compiler/program/arena.h"
#include "compiler/program/requantization.h"
#include "compiler/program/sized_step.h"
#include "compiler/program/state.h"
#include "compiler/program/tunable.h"
#include "compiler/schedule/memory.h"
#include "compiler/stage/recorder.h"

namespace etch {

namespace {

// So that the layers' bytes add up to those of the program, an array is counted with its owner.
void add_constants(const Program& program, const Step& step, LayerReport& layer) {
  const std::int64_t alignment = constant_alignment(program);
  for (const ConstantArray& constant : step.constants) {
    const std::int64_t bytes = flash_bytes(constant, alignment);
    if (constant.owner.empty()) {
      layer.constant_bytes += bytes;
      continue;
    }
    auto& shared = layer.shared_constants;
    auto known = std::ranges::find(shared, constant.owner, &SharedConstants::owner);
    if (known == shared.end()) known = shared.insert(known, {constant.owner, 0});
    known->bytes += bytes;
  }
}

std::optional<TileReport> tiles_of(const Program& program, const Step& step) {
  if (step.tunable() == nullptr) return std::nullopt;
  const TunableTiles& tiles = *step.tunable();
  const TileSummary summary = tiles.tile_summary(program.isa);
  return TileReport{summary.rows,
                    summary.cols,
                    summary.channels,
                    summary.groups,
                    summary.unrolled_groups,
                    summary.pixels_outside ? "pixels" : "channels",
                    tiles.from_file,
                    tiles.key};
}

bool has_float_tensor(const Program& program, const Step& step) {
  return std::ranges::any_of(step.operands, [&](const Operand& operand) {
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(operand.buffer)];
    return operand.element == DType::kF32 && buffer.bytes > bytes_of(DType::kF32);
  });
}

void add_once(std::vector<int>& list, int value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

LayerReport layer_of(const Program& program, const Step& step) {
  Recorder recorder(step);
  recorder.set_isa(program.isa);
  step.run(recorder);
  LayerReport layer;
  layer.name = step.name;
  layer.kind = step.kind;
  layer.origin = step.origin;
  layer.node = step.node;
  layer.summary = step.summary;
  layer.facts = step.facts;
  layer.schedule = step.schedule;
  layer.tiles = tiles_of(program, step);
  layer.input_shapes = step.input_shapes;
  layer.output_shape = step.output_shape;
  layer.macs = step.macs;
  layer.float_macs = step.float_macs;
  layer.weight_bits = step.weight_bits();
  layer.has_floats = has_float_tensor(program, step);
  add_constants(program, step, layer);
  layer.statements = static_cast<std::int64_t>(recorder.statements());
  layer.accumulators = step.accumulators;
  layer.products = step.products;
  if (!step.requantized.empty()) layer.rungs = count_rungs(step);
  for (const Operand& operand : step.operands) {
    if (operand.access != Access::kWrite) add_once(layer.reads, operand.buffer);
    if (operand.access != Access::kRead) add_once(layer.writes, operand.buffer);
  }
  return layer;
}

// Most nodes become one step. Of several, the one with the most work shows the quantization.
void add_tensors(const std::vector<QuantizedTensor>& tensors, std::vector<LayerReport>& layers) {
  for (const QuantizedTensor& tensor : tensors) {
    LayerReport* most = nullptr;
    for (LayerReport& layer : layers) {
      if (layer.node != tensor.node) continue;
      if (most == nullptr || layer.macs > most->macs) most = &layer;
    }
    if (most != nullptr) most->tensors.push_back(tensor);
  }
}

// More of the name than printable() gives, and of all but hostile files all of it: programs that
// read the report find the model's port by it.
std::string printable_port(std::string_view name) {
  constexpr std::size_t kPiece = 15;  // characters, each of which takes up to four
  constexpr std::size_t kMost = 330;  // what a hostile name may take
  std::string out;
  for (std::size_t at = 0; at < name.size() && out.size() < kMost; at += kPiece)
    out += printable(name.substr(at, kPiece));
  return out;
}

std::vector<Port> printable_ports(std::vector<Port> ports) {
  for (Port& port : ports) port.name = printable_port(port.name);
  return ports;
}

// The shapes of the ports, inputs first, with each size; nothing of a port whose shape is always
// the same.
std::vector<std::vector<Shape>> shapes_by_size(const Program& program) {
  std::vector<std::vector<Shape>> out(program.inputs.size() + program.outputs.size());
  const SizeRange& range = bound_of(program)->range;
  for (std::int64_t size = range.least; size <= range.most; ++size) {
    std::size_t at = 0;
    for (const auto& ports : {inputs_at(program, size), outputs_at(program, size)}) {
      for (const Port& port : ports) out[at++].push_back(port.shape);
    }
  }
  for (std::vector<Shape>& shapes : out) {
    if (std::ranges::all_of(shapes, [&](const Shape& shape) { return shape == shapes[0]; }))
      shapes.clear();
  }
  return out;
}

// Leaves out the buffers that the greatest size does not use, and counts its own steps only.
void show_greatest_size(const Program& program, ReportData& data) {
  const SizeRange& range = bound_of(program)->range;
  std::set<std::string> functions;
  std::vector<int> kept_before = {0};  // each step
  for (const auto& step : program.steps) {
    functions.insert(step->called());
    kept_before.push_back(kept_before.back() + (runs_at_greatest(*step) ? 1 : 0));
  }
  data.sizes = {printable(range.symbol), size_parameter(program), range.least, range.most,
                std::ssize(functions)};
  data.shapes = shapes_by_size(program);
  std::vector<Buffer> buffers;
  std::vector<int> places;  // of the buffers that stay
  for (Buffer& buffer : data.buffers) {
    places.push_back(static_cast<int>(buffers.size()));
    if (buffer.first_step < 0) {
      buffers.push_back(buffer);
      continue;
    }
    buffer.first_step = kept_before[static_cast<std::size_t>(buffer.first_step)];
    buffer.last_step = kept_before[static_cast<std::size_t>(buffer.last_step) + 1] - 1;
    if (buffer.first_step <= buffer.last_step) buffers.push_back(buffer);
  }
  data.buffers = std::move(buffers);
  for (LayerReport& layer : data.layers) {
    for (int& buffer : layer.reads) buffer = places[static_cast<std::size_t>(buffer)];
    for (int& buffer : layer.writes) buffer = places[static_cast<std::size_t>(buffer)];
  }
}

// The best variant's layers and buffers, and what all need together.
ReportData variants_report(const Program& program, const EmitOptions& options,
                           const std::vector<std::string>& files) {
  const Program& best = program.variants.front();
  ReportData data = gather_report(best, options, files);
  data.target = program.isa.name;
  data.target_title = cat(program.isa.title, "; layers and buffers are those of ", best.isa.name);
  data.model_sha256 = program.model_sha256;
  data.options = program.options;
  data.flash_bytes = constant_bytes(program);
  data.arena_bytes = program.arena_bytes;
  data.arena_alignment = arena_alignment(program);
  data.state_bytes = state_of(program).bytes();
  data.most_live_bytes = program.most_live_bytes;
  data.saved_in_place = saved_in_place(program);
  data.budget = program.budget;
  return data;
}

}  // namespace

std::string describe(const PrunedChannels& pruned) {
  const std::int64_t percent = pruned.macs == 0 ? 0 : 100 * pruned.macs_removed / pruned.macs;
  return cat(with_thousands(pruned.removed), " of ", with_thousands(pruned.of), " ",
             plural(pruned.of, "channel"), pruned.removed == 1 ? " changes" : " change",
             " no result: ", percent == 0 ? "less than 1" : cat(percent),
             " % of the multiplications left out");
}

std::string share_of_floats(std::int64_t macs, std::int64_t float_macs) {
  if (float_macs == 0) return "";
  if (float_macs == macs) return ", all in float";
  return cat(", ", with_thousands(float_macs), " of them in float");
}

bool has_quantization(const ReportData& data) {
  const auto has_tensors = [](const LayerReport& layer) { return !layer.tensors.empty(); };
  return data.macs > data.float_macs || std::ranges::any_of(data.layers, has_tensors);
}

ReportData gather_report(const Program& program, const EmitOptions& options,
                         const std::vector<std::string>& files) {
  if (!program.variants.empty()) return variants_report(program, options, files);
  ReportData data;
  data.name = options.name;
  data.target = program.isa.name;
  data.target_title = program.isa.title;
  data.model_sha256 = program.model_sha256;
  data.producer = printable(program.producer);
  data.options = program.options;
  data.float_requantization = program.isa.float_requantization;
  // In plain C++ a fused step may take as long as two: Cortex-M4's does.
  data.may_fuse = program.isa.fused_steps && program.isa.vectorized &&
                  program.float_steps == FloatSteps::kSeparate;
  data.macs = program.macs;
  data.float_macs = program.float_macs;
  data.flash_bytes = constant_bytes(program);
  data.arena_bytes = program.arena_bytes;
  data.arena_alignment = arena_alignment(program);
  data.state_bytes = state_of(program).bytes();
  data.most_live_bytes = program.most_live_bytes;
  data.saved_in_place = saved_in_place(program);
  data.rungs = count_rungs(program);
  data.inputs = printable_ports(program.inputs);
  for (const Port& port : data.inputs) {
    if (port.initial != nullptr) data.initial_states.push_back(port.name);
  }
  data.outputs = printable_ports(program.outputs);
  data.parameters = port_parameters(program);
  for (const auto& step : program.steps) {
    if (runs_at_greatest(*step)) data.layers.push_back(layer_of(program, *step));
  }
  add_tensors(program.quantization, data.layers);
  data.buffers = program.buffers;
  for (Buffer& buffer : data.buffers) buffer.label = printable(buffer.label);
  if (bound_of(program) != nullptr) show_greatest_size(program, data);
  data.pruning = program.pruning;
  data.fusions = program.fusions.records();
  data.budget = program.budget;
  data.files = {"report.json", "report.html"};
  data.files.insert(data.files.end(), files.begin(), files.end());
  return data;
}

}  // namespace etch
