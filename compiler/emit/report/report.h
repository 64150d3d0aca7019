// The report on a generated network: gathered once, written twice, as report.json for scripts and
// as report.html for people. `etch bench` adds times between the two.
//
// Everything that comes from the model (names of nodes and ports, the producer) is made printable
// when it is gathered; report.html escapes it besides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/program/requantize/form.h"
#include "compiler/program/step.h"

namespace etch {

struct MeasuredTime {
  double median_us = 0;
  double least_us = 0;
};

// The tiles of the region with the most pixels.
struct TileReport {
  int rows = 1, cols = 1, channels = 1;
  int groups = 0;          // of 4 bytes, that K has
  int unrolled = 0;        // of them, in an iteration of the innermost loop; all: no loop
  const char* outer = "";  // "pixels" or "channels"
  bool tuned = false;      // chosen by a tuning file
  std::string tuning_key;  // what the file calls the layer
};

// Arrays that a layer reads and an earlier one, `owner`, is counted with.
struct SharedConstants {
  std::string owner;
  std::int64_t bytes = 0;
};

// One step of the generated code.
struct LayerReport {
  std::string name;     // of the step's function
  std::string kind;     // "conv"
  std::string origin;   // "QLinearConv 'conv1'"
  int node = -1;        // position of the origin in the file
  std::string summary;  // what it computes
  std::vector<std::string> facts;
  std::string schedule;             // tiles and unrolling; empty where there is no choice
  std::optional<TileReport> tiles;  // of matrix kernels
  std::vector<Shape> input_shapes;
  Shape output_shape;
  std::int64_t macs = 0;
  std::int64_t float_macs = 0;      // of macs
  int weight_bits = 0;              // of weights or tables that stay packed; 0: none do
  bool has_floats = false;          // reads or writes a float tensor, not only single numbers
  std::int64_t constant_bytes = 0;  // of arrays that no earlier layer has
  std::vector<SharedConstants> shared_constants;  // by the first use of each owner
  std::int64_t statements = 0;                    // of the function
  std::vector<int> reads, writes;  // indices into ReportData::buffers, of different ones
  std::optional<AccumulatorBounds> accumulators;
  ProductSums products;                  // of packed weights
  std::optional<RungCounts> rungs;       // only where requantization does without floats
  std::vector<QuantizedTensor> tensors;  // of the node, at its last step
  std::optional<MeasuredTime> time;
  std::optional<std::int64_t> code_bytes;
};

// Of programs for several sizes, whose layers and buffers are those of the greatest.
struct SizesReport {
  std::string symbol, parameter;  // in the model, and of run()
  std::int64_t least = 0, most = 0;
  std::int64_t functions = 0;  // of steps, for all sizes
};

struct ReportData {
  std::string name;
  std::string target, target_title;
  std::string model_sha256;
  std::string command_line;  // that makes the folder again; empty: not known
  std::string producer;
  std::string
      options;  // that made it, as the command line spells them; those with a default are left out
  bool float_requantization = true;
  bool may_fuse = false;  // fused products of floats would be instructions, and nobody asked
  std::int64_t macs = 0;
  std::int64_t float_macs = 0;   // of macs
  std::int64_t flash_bytes = 0;  // weights and tables
  std::int64_t arena_alignment = 0;
  std::int64_t state_bytes = 0;  // 0: it has none
  // Inputs that reset() sets to other values than zeros.
  std::vector<std::string> initial_states;
  std::optional<SizesReport> sizes;
  std::int64_t arena_bytes = 0;  // with the slack after the last buffer
  std::int64_t most_live_bytes = 0;
  std::int64_t saved_in_place = 0;
  RungCounts rungs;
  std::vector<Port> inputs, outputs;
  std::vector<std::string> parameters;     // of run(): inputs, then outputs
  std::vector<std::vector<Shape>> shapes;  // of these ports, by size; none of those with one shape
  std::vector<LayerReport> layers;
  std::vector<Buffer> buffers;
  PrunedChannels pruning;
  std::vector<FusionRecord> fusions;
  std::vector<BudgetOption> budget;
  std::vector<std::string> files;
  std::optional<MeasuredTime> time;
  std::optional<std::int64_t> code_bytes;
};

// `files` are the paths beside report.json and report.html.
ReportData gather_report(const Program& program, const EmitOptions& options,
                         const std::vector<std::string>& files);

// "980 of 2,736 channels change no result: 45 % of the multiplications left out".
std::string describe(const PrunedChannels& pruned);

// ", all in float", ", 1,234 of them in float" or nothing.
std::string share_of_floats(std::int64_t macs, std::int64_t float_macs);
// Whether integers are multiplied or the quantization of a tensor is known.
bool has_quantization(const ReportData& data);

std::string report_json(const ReportData& data);
// One page that loads nothing: styles, script and pictures are inside of it.
std::string report_html(const ReportData& data);

}  // namespace etch
