// Building of products with packed weights; see packed_weights.h.
#include "compiler/kernels/products/packed_weights.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/lower/arguments.h"
#include "compiler/program/packed_weights.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/products/packed_weights.h"

namespace etch {

namespace {

class PackedWeightsStep : public StagedStep<PackedWeightsStep>, public PacksWeights {
 public:
  PackedWeightsPlan plan;
  int weight_bits() const override { return plan.bits; }
  template <class S>
  void kernel(S& s) const {
    packed_weights_kernel(s, plan);
  }
};

}  // namespace

ETCH_INSTANTIATE_STEP(PackedWeightsStep);

namespace {

std::int32_t narrow(std::int64_t n) { return static_cast<std::int32_t>(n); }

// How much is widened at once: what the first cache has room for, or without vectors 2 kB.
void choose_panels(rt::PackedProduct& shape, const PackedWeights& w, bool vectors) {
  const std::int64_t room = vectors ? 4096 : 512;  // floats
  constexpr std::int64_t kPart = 64, kLeast = 16;
  const std::int64_t block = std::min(w.block, w.depth);
  // Sums of integers take a block at once, those of floats any part of it.
  const std::int64_t part = w.quantizes_a ? block : std::min(block, vectors ? kPart : kPart / 2);
  shape.part = narrow(part);
  shape.panel = narrow(std::clamp<std::int64_t>(room / part / kLeast * kLeast, kLeast, rt::kPanel));
}

// Calls each(first column, width, block) for the blocks of all panels, in their order in memory.
template <class Each>
void for_each_block(const rt::PackedProduct& shape, Each each) {
  for (std::int64_t first = 0; first < shape.cols; first += shape.panel) {
    const std::int64_t width = std::min<std::int64_t>(shape.panel, shape.cols - first);
    for (std::int64_t i = 0; i < rt::blocks_of(shape.depth, shape.block); ++i)
      each(first, width, i);
  }
}

Tensor in_panels(const PackedWeights& w, const rt::PackedProduct& shape) {
  const std::int64_t per_byte = 8 / w.bits;
  Tensor out(DType::kU8,
             {external::packed_bytes(shape.depth, shape.block, w.bits) * std::int64_t{shape.cols}});
  auto to = out.as<std::uint8_t>().begin();
  for_each_block(shape, [&](std::int64_t first, std::int64_t width, std::int64_t block) {
    const std::int64_t begin = block * shape.block;
    const std::int64_t end = std::min<std::int64_t>(begin + shape.block, shape.depth);
    for (std::int64_t k = begin; k < end; k += per_byte) {
      for (std::int64_t n = first; n < first + width; ++n) {
        int byte = 0;
        for (std::int64_t i = 0; i < per_byte && k + i < end; ++i)
          byte |= w.value_at(n, k + i) << (i * w.bits);
        *to++ = static_cast<std::uint8_t>(byte);
      }
    }
  });
  ETCH_CHECK(to == out.as<std::uint8_t>().end());
  return out;
}

template <class T, class At>
Tensor per_block(const rt::PackedProduct& shape, DType type, At at) {
  Tensor out(type, {std::int64_t{rt::blocks_of(shape.depth, shape.block)} * shape.cols});
  auto to = out.as<T>().begin();
  for_each_block(shape, [&](std::int64_t first, std::int64_t width, std::int64_t block) {
    for (std::int64_t n = first; n < first + width; ++n) *to++ = static_cast<T>(at(n, block));
  });
  return out;
}

Tensor zero_points(const PackedWeights& w, const rt::PackedProduct& shape) {
  if (w.one_zero)
    return Tensor::of<std::uint8_t>({1}, {static_cast<std::uint8_t>(w.zero_at(0, 0))});
  if (w.float_zeros) return per_block<float>(shape, DType::kF32, w.zero_at);
  return per_block<std::uint8_t>(shape, DType::kU8, w.zero_at);
}

std::unique_ptr<PackedWeightsStep> make_step(const PackedWeights& w, bool vectors) {
  auto step = std::make_unique<PackedWeightsStep>();
  step->kind = "matmul";
  step->summary = cat("float matrix product, ", w.rows, " x ", w.depth, " by ", w.depth, " x ",
                      w.cols, ", weights of ", w.bits, " bits in blocks of ", w.block,
                      w.quantizes_a ? ", rows quantized in blocks" : "");
  step->macs = step->float_macs = w.rows * w.depth * w.cols;
  step->facts.emplace_back(w.quantizes_a ? "sums of a block exact, of blocks in ascending order"
                                         : "sums in order of the depth, each step rounded");
  PackedWeightsPlan& plan = step->plan;
  plan.bits = w.bits;
  plan.quantizes_a = w.quantizes_a;
  plan.float_zeros = w.float_zeros;
  rt::PackedProduct& shape = plan.shape;
  shape.rows = narrow(w.rows);
  shape.depth = narrow(w.depth);
  shape.cols = narrow(w.cols);
  shape.block = narrow(std::min(w.block, w.depth));
  choose_panels(shape, w, vectors);
  shape.zero_step = w.one_zero ? 0 : 1;
  return step;
}

}  // namespace

void add_packed_product(Lowering& lowering, const Node& node, const PackedWeights& w, int bias) {
  if (w.rows == 0) return lowering.unsupported(node, "a product without rows cannot be compiled");
  auto step = make_step(w, lowering.isa().lanes > 1);
  PackedWeightsPlan& plan = step->plan;
  rt::PackedProduct& shape = plan.shape;
  StepArguments arguments(lowering, node, *step);
  plan.a = arguments.parameter(0, "a").argument;
  constexpr const char* kPanels = "panels of columns, see etch_packed_weights.h";
  plan.w = arguments.data(in_panels(w, shape), "weights", kPanels).argument;
  plan.scales =
      arguments.data(per_block<float>(shape, DType::kF32, w.scale_at), "scales", kPanels).argument;
  plan.zeros = arguments.data(zero_points(w, shape), "zeros", kPanels).argument;
  const auto at = static_cast<std::size_t>(bias);
  const bool biased = at < node.inputs.size() && node.inputs[at] != kNoValue;
  plan.bias =
      biased
          ? arguments.parameter(bias, "bias").argument
          : arguments.data(Tensor::of<float>({1}, {-0.0F}), "nothing", "-0, which changes no sum")
                .argument;
  shape.bias_step = biased ? 1 : 0;
  const std::int64_t width = std::min<std::int64_t>(shape.panel, shape.cols);
  plan.widened = arguments.scratch("widened", lowering.scratch(DType::kF32, shape.part * width));
  if (w.quantizes_a) {
    const std::int64_t blocks = rt::blocks_of(shape.depth, shape.block);
    plan.quantized =
        arguments.scratch("quantized", lowering.scratch(DType::kF32, w.rows * w.depth));
    plan.a_scales = arguments.scratch("a_scales", lowering.scratch(DType::kF32, w.rows * blocks));
  }
  const int rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  plan.y = arguments.output("y", lowering.new_dense_output(node, 0, row_major(rank)));
  arguments.add(std::move(step));
}

}  // namespace etch
