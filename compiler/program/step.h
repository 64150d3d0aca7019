// A step is one function of the generated code: a convolution, a pooling, a copy ... with every
// size, stride and constant resolved. It is written once as a staged kernel
// (templates/kernels) and runs under three stages: Native computes, Recorder prints C++, Audit
// counts and proves addresses. A Program is the list of steps plus the memory they use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/float_steps.h"
#include "compiler/ir/fusion_log.h"
#include "compiler/ir/pruned_channels.h"
#include "compiler/ir/tensor.h"
#include "compiler/program/region.h"
#include "compiler/program/requantize/form.h"
#include "templates/isa/traits.h"

namespace etch {

class Recorder;
class NativeStage;
class Audit;
class SizedStep;     // sized_step.h
class TunableTiles;  // tunable.h

enum class Access { kRead, kWrite, kReadWrite };

// A pointer parameter of a step's function: where it points and what it points to.
struct Operand {
  std::string name;         // parameter name: "x", "y", "a"
  int buffer = -1;          // index into Program::buffers
  std::int64_t offset = 0;  // bytes from the buffer's start
  DType element = DType::kU8;
  Access access = Access::kRead;
};

struct ByteRange {
  std::size_t begin = 0, end = 0;
};

// A constant array of the generated code. Its C++ name is "<step name>_<suffix>", the step being
// `owner` if that is not empty.
struct ConstantArray {
  std::string suffix;  // "weights", "bias", "scale", "table"
  DType element = DType::kU8;
  std::vector<std::byte> bytes;  // little-endian elements
  std::string comment;           // one line: layout of the data
  std::string owner = {};  // name of an earlier step that has the same array under the same suffix
  bool widened = false;    // weights of bytes that are widened to words as they are loaded
  bool sums16 = false;     // weights of bytes that are multiplied by dot_sums16
  std::vector<ByteRange> no_weights = {};  // of "weights": what else is there
};

// How far an output may run over an input that dies in this step. Placing the output so that
// output_start + distance <= input_start is safe: all that the step still has to read comes after
// what it has already written. A step that goes backwards allows the opposite: input_start +
// distance <= output_start.
struct Overlap {
  int output = 0;             // operand index
  int input = 0;              // operand index
  std::int64_t distance = 0;  // bytes; measured between the two buffers' starts
  bool backwards = false;     // the distance is from the input to the output
};

// An output channel that is requantized without floats, and how.
struct RequantizedChannel {
  RequantizeChannel channel;
  IntegerForm form;
};

// What one multiply instruction adds up from the packed weights, whatever the image holds.
struct ProductSums {
  int terms = 0;         // products that are added at once; 0: the step has no packed weights
  std::int64_t low = 0;  // the least and the greatest sum
  std::int64_t high = 0;
};

// The accumulators that can occur in a step; beyond int32 they wrap.
struct AccumulatorBounds {
  std::int64_t low = 0, high = 0;
};

// How a step's work is divided among threads that call its function at the same time, each with
// the number of its share as one more argument; see compiler/stage/work_shares.h.
struct Partition {
  int shares = 1;  // 1: the function is called once and knows nothing of shares
  int depth = 0;   // loops around those that are divided
};

// A function in assembly that a step calls, with the same in C++ for compilers and CPUs without it.
// The name is made of the parameters of the function that generates the text, so that steps of the
// same geometry share one function.
struct AssemblyFunction {
  std::string name;                // C++ identifier: equal names mean equal functions
  std::string summary;             // one comment line
  std::string condition;           // of the preprocessor: where the instructions exist
  std::vector<std::string> types;  // of the parameters: "const uint8_t*"
  std::vector<std::string> names;  // of the parameters: "x"
  std::vector<std::string> lines;  // instructions and labels, without quotes
  std::string fallback;            // a C++ statement over the parameters with the same effect
  bool calls_runtime = true;       // whether the fallback does
  int stack = 0;                   // bytes below the stack pointer at entry

  std::string parameters() const;  // "const uint8_t* x, uint8_t* y"
  bool operator==(const AssemblyFunction&) const = default;

  // Lines that are comments begin so.
  static constexpr std::string_view kComment = "// ";
  static bool is_comment(std::string_view line) { return line.substr(0, 3) == kComment; }
};

class Step {
 public:
  virtual ~Step() = default;

  std::string name;                // C++ identifier, unique: "n03_conv"
  std::string function;            // empty, or the name of an earlier step that has the same code
  std::string kind;                // "conv", "depthwise", "pool"
  std::string summary;             // one comment line: "3x3 convolution, 16 -> 32 channels ..."
  std::vector<std::string> facts;  // further comment lines: what was proved, what was fused
  int node = -1;                   // position of the origin in the file
  std::string origin;              // "Conv 'conv1'", printable, for reports only (never in code)
  std::string op_type;             // of the node; "graph output" where there is none
  std::string node_name;           // the model's text: in code only through shown_name()
  std::int64_t macs = 0;
  std::int64_t float_macs = 0;      // of macs: products of floats
  Shape output_shape;               // logical
  std::vector<Shape> input_shapes;  // logical, of the operands that are read
  std::string schedule;             // tiles and unrolling that were chosen, for reports
  std::optional<AccumulatorBounds> accumulators;  // proved, where there are any
  std::vector<Operand> operands;
  std::vector<ConstantArray> constants;
  std::vector<Overlap> overlaps;
  std::vector<RequantizedChannel> requantized;  // all output channels, or none: floats are used
  ProductSums products;
  std::vector<AssemblyFunction> assembly;  // that the kernel calls
  // Whether no iteration of the loops in the step's own function (not those in tile functions)
  // depends on another, or overwrites what another writes: a promise of the kernel.
  bool divisible = false;
  Partition partition;  // set by divide_work() for some divisible steps

  // Whether the function and the constants are those of an earlier step.
  bool shares_code() const { return !function.empty(); }
  const std::string& called() const { return function.empty() ? name : function; }

  // ---- facets: what some steps can do besides; null, 0 or false: not this one ----
  virtual TunableTiles* tunable() { return nullptr; }
  const TunableTiles* tunable() const { return const_cast<Step*>(this)->tunable(); }
  virtual const SizedStep* sized() const { return nullptr; }
  // Bits of a weight that is kept as an integer and becomes a float as it is used: 2, 4 or 8.
  virtual int weight_bits() const { return 0; }
  // Makes the kernel prefetch its weights, where their order lets that pay; false: it has not.
  virtual bool prefetch_weights(const IsaTraits& /*isa*/) { return false; }

  virtual void run(Recorder& stage) const = 0;
  virtual void run(NativeStage& stage) const = 0;
  virtual void run(Audit& stage) const = 0;
};

enum class Home { kArena, kInput, kOutput };

// A piece of memory that steps use. Arena buffers share one block of memory over time.
struct Buffer {
  Home home = Home::kArena;
  int port = -1;  // which graph input or output, for kInput and kOutput
  std::int64_t bytes = 0;
  std::int64_t alignment = 1;      // at least; the memory planner adds rules of its own
  std::int64_t arena_offset = -1;  // set by the memory planner for kArena
  int first_step = -1;             // live range, inclusive, in indices of Program::steps
  int last_step = -1;
  std::string label;  // "output of n03_conv", for reports
};

// A graph input or output as the user of the generated code sees it: dense row-major data of
// the model's own type and logical shape.
struct Port {
  std::string name;        // the model's text: for reports only
  std::string identifier;  // "input0", "output0"
  int file = 0;            // of test data: I of input_I.pb, output_I.pb
  DType dtype = DType::kF32;
  Shape shape;
  bool quantized = false;  // scale and zero_point are meaningful
  float scale = 1;
  int zero_point = 0;
  std::shared_ptr<const Tensor> initial = nullptr;  // of a state, if it does not begin with zeros
};

// How one tensor of a node is quantized, for reports.
struct QuantizedTensor {
  int node = -1;     // Node::index
  std::string role;  // "x", "weights", "y"
  bool is_constant = false;
  DType dtype = DType::kU8;
  std::int64_t channels = 1;  // number of scales
  float least_scale = 0, median_scale = 0, greatest_scale = 0;
  int least_zero_point = 0, greatest_zero_point = 0;
  bool operator==(const QuantizedTensor&) const = default;
};

// One way to generate the network that was tried for a budget; see compiler/schedule/budget.h.
struct BudgetOption {
  std::string what;  // "in bands of 4 rows up to n29_conv"
  std::int64_t arena_bytes = 0;
  std::int64_t flash_bytes = 0;  // constants, and code as estimated
  std::int64_t macs = 0;         // with what is computed twice
  bool chosen = false;
};

// How much flash a network takes; code is an estimate.
struct FlashEstimate {
  std::int64_t constants = 0;
  std::int64_t code = 0;
  std::int64_t total() const { return constants + code; }
};

struct Program {
  IsaTraits isa;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Buffer> buffers;
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<Region> regions;   // of the steps; those around others first
  std::int64_t arena_bytes = 0;  // including kArenaSlack
  // The largest sum of simultaneously live buffers. The arena can be smaller: an output may be
  // placed over an input that dies in its step.
  std::int64_t most_live_bytes = 0;
  std::int64_t macs = 0;
  std::int64_t float_macs = 0;                     // of macs
  int shares = 1;                                  // threads that can work on it at once
  std::string model_sha256;                        // hex
  std::string producer;                            // the model's text: for reports only
  std::string options;                             // that made it: canonical_options()
  bool needs_floats = false;                       // of the CPU: some step computes with them
  FloatSteps float_steps = FloatSteps::kSeparate;  // of its float products
  PrunedChannels pruning;
  FusionLog fusions;
  std::vector<QuantizedTensor> quantization;  // in the order of the graph
  std::vector<BudgetOption> budget;           // from the least arena or flash to the most

  // Of a target that holds several instruction sets: the programs for each, best first. Then there
  // are no steps and buffers here, and the arena is that of the variant that needs most.
  std::vector<Program> variants;
};

// Kernels may read, never write, this many bytes after any arena buffer.
inline constexpr std::int64_t kArenaSlack = 64;

}  // namespace etch
