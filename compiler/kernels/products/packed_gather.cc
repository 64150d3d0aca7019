// Building of steps that pick rows of a packed table; see packed_weights.h.
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/kernels/products/packed_weights.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/products/packed_weights.h"

namespace etch {

namespace {

class PackedGatherStep : public StagedStep<PackedGatherStep> {
 public:
  PackedGatherPlan plan;
  int weight_bits() const override { return plan.bits; }
  template <class S>
  void kernel(S& s) const {
    packed_gather_kernel(s, plan);
  }
};

}  // namespace

ETCH_INSTANTIATE_STEP(PackedGatherStep);

namespace {

Tensor packed_table(const PackedRows& rows) {
  const std::int64_t bytes = (rows.inner * rows.bits + 7) / 8;
  Tensor out(DType::kU8, {rows.size, bytes});
  for (std::int64_t row = 0; row < rows.size; ++row) {
    for (std::int64_t k = 0; k < rows.inner; ++k) {
      const std::int64_t bit = k * rows.bits;
      out.as<std::uint8_t>()[as_index(row * bytes + bit / 8)] |=
          static_cast<std::uint8_t>(rows.value_at(row, k) << (bit % 8));
    }
  }
  return out;
}

Tensor zero_points(const PackedRows& rows) {
  if (rows.one_zero)
    return Tensor::of<std::uint8_t>({1}, {static_cast<std::uint8_t>(rows.zero_at(0, 0))});
  Tensor out(DType::kU8, {rows.size, rows.row_scales});
  auto to = out.as<std::uint8_t>().begin();
  for (std::int64_t row = 0; row < rows.size; ++row) {
    for (std::int64_t i = 0; i < rows.row_scales; ++i)
      *to++ = static_cast<std::uint8_t>(rows.zero_at(row, i));
  }
  return out;
}

}  // namespace

void add_packed_gather(Lowering& lowering, const Node& node, const PackedRows& rows) {
  const std::int64_t count = element_count(*lowering.value(node.inputs[1]).shape);
  if (count == 0) return lowering.unsupported(node, "an empty tensor cannot be compiled");
  auto step = std::make_unique<PackedGatherStep>();
  step->kind = "gather";
  step->summary = cat("pick from ", counted(rows.size, "row"), " of ", rows.inner, " values of ",
                      rows.bits, " bits");
  PackedGatherPlan& plan = step->plan;
  StepArguments arguments(lowering, node, *step);
  plan.bits = rows.bits;
  plan.wide = *lowering.value(node.inputs[1]).dtype == DType::kS64;
  plan.count = static_cast<int>(count);
  plan.indices = arguments.parameter(1, "indices").argument;
  plan.x = arguments.data(packed_table(rows), "x", "packed rows").argument;
  plan.scales = arguments.parameter(2, "scales").argument;
  plan.zeros = arguments.data(zero_points(rows), "zeros", "one per scale").argument;
  plan.table.size = static_cast<std::int32_t>(rows.size);
  plan.table.inner = static_cast<std::int32_t>(rows.inner);
  plan.table.block = static_cast<std::int32_t>(rows.block);
  plan.table.row_bytes = static_cast<std::int32_t>((rows.inner * rows.bits + 7) / 8);
  plan.table.row_scales = static_cast<std::int32_t>(rows.row_scales);
  plan.table.zero_step = rows.one_zero ? 0 : 1;
  const int rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  plan.y = arguments.output("y", lowering.new_dense_output(node, 0, row_major(rank)));
  arguments.add(std::move(step));
}

}  // namespace etch
