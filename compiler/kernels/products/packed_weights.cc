// Building of products with packed weights; see packed_weights.h.
#include "compiler/kernels/products/packed_weights.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/products/packed_weights.h"

namespace etch {

namespace {

class PackedWeightsStep : public StagedStep<PackedWeightsStep> {
 public:
  PackedWeightsPlan plan;
  int weight_bits() const override { return plan.bits; }
  template <class S>
  void kernel(S& s) const {
    packed_weights_kernel(s, plan);
  }
};

class PackedIntegersStep : public StagedStep<PackedIntegersStep> {
 public:
  PackedIntegersPlan plan;
  int weight_bits() const override { return plan.bits; }
  template <class S>
  void kernel(S& s) const {
    packed_integers_kernel(s, plan);
  }
};

}  // namespace

ETCH_INSTANTIATE_STEP(PackedWeightsStep);
ETCH_INSTANTIATE_STEP(PackedIntegersStep);

namespace {

std::int32_t narrow(std::int64_t n) { return static_cast<std::int32_t>(n); }

// How much is widened at once: what the first cache has room for, or without vectors 2 kB.
void choose_panels(rt::PackedProduct& shape, const PackedWeights& w, bool vectors) {
  const std::int64_t room = vectors ? 4096 : 512;  // floats
  constexpr std::int64_t kPart = 64, kLeast = 16;
  const std::int64_t part = std::min(std::min(w.block, w.depth), vectors ? kPart : kPart / 2);
  shape.part = narrow(part);
  shape.panel = narrow(std::clamp<std::int64_t>(room / part / kLeast * kLeast, kLeast, rt::kPanel));
}

// How constants are in memory: panels of columns, in each its blocks of the depth.
struct Panels {
  std::int64_t depth, cols, block, width;
  bool filled;  // the last one is as wide as the others
  std::int64_t blocks() const { return (depth - 1) / block + 1; }
  std::int64_t columns() const { return filled ? (cols + width - 1) / width * width : cols; }
};

// Calls each(first column, width, block) for the blocks of all panels, in their order in memory.
template <class Each>
void for_each_block(const Panels& p, Each each) {
  for (std::int64_t first = 0; first < p.cols; first += p.width) {
    const std::int64_t width = p.filled ? p.width : std::min(p.width, p.cols - first);
    for (std::int64_t i = 0; i < p.blocks(); ++i) each(first, width, i);
  }
}

// The values k + i * apart of a column, i < 8 / bits, the first in the low bits; 0 from `end` on.
std::uint8_t packed_byte(const PackedWeights& w, std::int64_t n, std::int64_t k, std::int64_t apart,
                         std::int64_t end) {
  int byte = 0;
  for (std::int64_t i = 0; i < 8 / w.bits && n < w.cols; ++i) {
    const std::int64_t at = k + i * apart;
    if (at < end) byte |= w.value_at(n, at) << (i * w.bits);
  }
  return static_cast<std::uint8_t>(byte);
}

Tensor in_panels(const PackedWeights& w, const Panels& panels) {
  const std::int64_t per_byte = 8 / w.bits;
  Tensor out(DType::kU8, {external::packed_bytes(panels.depth, panels.block, w.bits) * w.cols});
  auto to = out.as<std::uint8_t>().begin();
  for_each_block(panels, [&](std::int64_t first, std::int64_t width, std::int64_t block) {
    const std::int64_t begin = block * panels.block;
    const std::int64_t end = std::min(begin + panels.block, panels.depth);
    for (std::int64_t k = begin; k < end; k += per_byte)
      for (std::int64_t n = first; n < first + width; ++n) *to++ = packed_byte(w, n, k, 1, end);
  });
  ETCH_CHECK(to == out.as<std::uint8_t>().end());
  return out;
}

Tensor in_words(const PackedWeights& w, const Panels& panels) {
  const std::int64_t words = rt::words_of_depth(narrow(panels.depth), narrow(panels.block), w.bits);
  Tensor out(DType::kU8, {4 * words * panels.columns()});
  auto to = out.as<std::uint8_t>().begin();
  for_each_block(panels, [&](std::int64_t first, std::int64_t width, std::int64_t block) {
    const std::int64_t begin = block * panels.block;
    const std::int64_t end = std::min(begin + panels.block, panels.depth);
    for (std::int64_t k = begin; k < end; k += rt::values_of_word(w.bits))
      for (std::int64_t n = first; n < first + width; ++n)
        for (std::int64_t j = 0; j < 4; ++j) *to++ = packed_byte(w, n, k + j, 4, end);
  });
  ETCH_CHECK(to == out.as<std::uint8_t>().end());
  return out;
}

template <class T, class At>
Tensor per_block(const PackedWeights& w, const Panels& panels, DType type, At at) {
  Tensor out(type, {panels.blocks() * panels.columns()});
  auto to = out.as<T>().begin();
  for_each_block(panels, [&](std::int64_t first, std::int64_t width, std::int64_t block) {
    for (std::int64_t n = first; n < first + width; ++n)
      *to++ = n < w.cols ? static_cast<T>(at(n, block)) : T{0};
  });
  return out;
}

Tensor zero_points(const PackedWeights& w, const Panels& panels) {
  if (w.one_zero)
    return Tensor::of<std::uint8_t>({1}, {static_cast<std::uint8_t>(w.zero_at(0, 0))});
  if (w.float_zeros) return per_block<float>(w, panels, DType::kF32, w.zero_at);
  return per_block<std::uint8_t>(w, panels, DType::kU8, w.zero_at);
}

template <class Made>
void describe(Made& step, const PackedWeights& w, FloatSteps steps) {
  step.kind = "matmul";
  step.summary = cat("float matrix product, ", w.rows, " x ", w.depth, " by ", w.depth, " x ",
                     w.cols, ", weights of ", w.bits, " bits in blocks of ", w.block,
                     w.quantizes_a ? ", rows quantized in blocks" : "");
  step.macs = step.float_macs = w.rows * w.depth * w.cols;
  step.facts.emplace_back(w.quantizes_a ? "sums of a block exact, of blocks in ascending order"
                                        : cat("sums in order of the depth, ", how_rounded(steps)));
  step.plan.bits = w.bits;
  auto& shape = step.plan.shape;
  shape.rows = narrow(w.rows);
  shape.depth = narrow(w.depth);
  shape.cols = narrow(w.cols);
  shape.block = narrow(std::min(w.block, w.depth));
  shape.zero_step = w.one_zero ? 0 : 1;
}

// The arguments that both kinds have: constants, bias and y.
template <class Plan>
void add_arguments(const Node& node, StepArguments& arguments, Plan& plan, const PackedWeights& w,
                   const Panels& panels, int bias) {
  constexpr const char* kPanels = "panels of columns";
  plan.a = arguments.parameter(0, "a").argument;
  plan.w =
      arguments.data(w.quantizes_a ? in_words(w, panels) : in_panels(w, panels), "weights", kPanels)
          .argument;
  plan.scales =
      arguments.data(per_block<float>(w, panels, DType::kF32, w.scale_at), "scales", kPanels)
          .argument;
  plan.zeros = arguments.data(zero_points(w, panels), "zeros", kPanels).argument;
  const auto at = static_cast<std::size_t>(bias);
  const bool biased = at < node.inputs.size() && node.inputs[at] != kNoValue;
  plan.bias =
      biased
          ? arguments.parameter(bias, "bias").argument
          : arguments.data(Tensor::of<float>({1}, {-0.0F}), "nothing", "-0, which changes no sum")
                .argument;
  plan.shape.bias_step = biased ? 1 : 0;
}

int add_y(Lowering& lowering, const Node& node, StepArguments& arguments) {
  const int rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  return arguments.output("y", lowering.new_dense_output(node, 0, row_major(rank)));
}

void add_product_of_floats(Lowering& lowering, const Node& node, const PackedWeights& w, int bias) {
  auto step = std::make_unique<PackedWeightsStep>();
  describe(*step, w, lowering.float_steps());
  step->plan.steps = lowering.float_steps();
  PackedWeightsPlan& plan = step->plan;
  rt::PackedProduct& shape = plan.shape;
  plan.float_zeros = w.float_zeros;
  choose_panels(shape, w, lowering.isa().lanes > 1);
  StepArguments arguments(lowering, node, *step);
  add_arguments(node, arguments, plan, w,
                {shape.depth, shape.cols, shape.block, shape.panel, false}, bias);
  const std::int64_t width = std::min<std::int64_t>(shape.panel, shape.cols);
  plan.widened = arguments.scratch("widened", lowering.scratch(DType::kF32, shape.part * width));
  plan.y = add_y(lowering, node, arguments);
  arguments.add(std::move(step));
}

void add_product_of_integers(Lowering& lowering, const Node& node, const PackedWeights& w,
                             int bias) {
  auto step = std::make_unique<PackedIntegersStep>();
  describe(*step, w, lowering.float_steps());
  PackedIntegersPlan& plan = step->plan;
  rt::PackedIntegers& shape = plan.shape;
  const int lanes = lowering.isa().lanes;
  plan.columns = lanes >= 16 ? 16 : (lanes >= 8 ? 8 : (lanes >= 4 ? 4 : 1));
  StepArguments arguments(lowering, node, *step);
  add_arguments(node, arguments, plan, w,
                {shape.depth, shape.cols, shape.block, plan.columns, true}, bias);
  const std::int64_t blocks = w.rows * rt::blocks_of(shape.depth, shape.block);
  const std::int64_t values =
      w.rows * rt::values_of_word(w.bits) * rt::words_of_depth(shape.depth, shape.block, w.bits);
  const View quantized = lowering.scratch(DType::kS8, values);
  if (lowering.isa().assembly == Assembly::kMve) lowering.align(quantized, 4);
  plan.quantized = arguments.scratch("quantized", quantized);
  plan.a_sums = arguments.scratch("a_sums", lowering.scratch(DType::kS32, blocks));
  plan.a_scales = arguments.scratch("a_scales", lowering.scratch(DType::kF32, blocks));
  plan.y = add_y(lowering, node, arguments);
  arguments.add(std::move(step));
}

}  // namespace

void add_packed_product(Lowering& lowering, const Node& node, const PackedWeights& w, int bias) {
  if (w.rows == 0) return lowering.unsupported(node, "a product without rows cannot be compiled");
  if (w.quantizes_a) return add_product_of_integers(lowering, node, w, bias);
  add_product_of_floats(lowering, node, w, bias);
}

}  // namespace etch
