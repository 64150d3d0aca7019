// Building of products of two matrices of 16-bit values; see word_matrices.h.
#include "compiler/kernels/products/word_matrices.h"

#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/products/packed_product.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/rows/word_sums.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(WordMatricesStep);

namespace {

// The operand at `i`, with its rows one after the other.
Input rows_of(Lowering& lowering, StepArguments& arguments, const Node& node, int i,
              const char* name) {
  if (lowering.is_constant(node, i)) return arguments.input(i, name);
  const View& view = lowering.view(node, i);
  const Order order = row_major(view.rank());
  if (is_contiguous(view, order)) return arguments.input(i, name);
  return arguments.memory(lowering.contiguous(node, i, order), name);
}

}  // namespace

void add_word_matrices(Lowering& lowering, const Node& node, int a, int b,
                       const MatMulGeometry& geometry, const rt::WordProduct& factors) {
  if (refuse_empty(lowering, node)) return;
  const MatMulGeometry& g = geometry;
  auto step = std::make_unique<WordMatricesStep>();
  step->kind = "matmul";
  step->summary = cat("product of two matrices of 16 bits, ", g.rows, " x ", g.depth, " by ",
                      g.depth, " x ", g.cols);
  step->macs = element_count(g.batch) * g.rows * g.depth * g.cols;
  step->facts.emplace_back("equal to the real numbers that the operators mean");
  StepArguments arguments(lowering, node, *step);
  const Input left = rows_of(lowering, arguments, node, a, "a");
  const Input right = rows_of(lowering, arguments, node, b, "b");
  const View y = lowering.new_dense_output(node, 0, row_major(static_cast<int>(g.output.size())));
  WordMatricesPlan plan;
  plan.is_unsigned = y.dtype == DType::kU16;
  plan.factors = factors;
  plan.shape = {static_cast<std::int32_t>(g.rows),
                static_cast<std::int32_t>(g.depth),
                static_cast<std::int32_t>(g.cols),
                g.depth,
                g.cols,
                g.cols};
  plan.a = left.argument;
  plan.b = right.argument;
  plan.y = arguments.output("y", y);
  const std::vector<std::int64_t> a_batch = batch_steps(left.view, g.batch);
  const std::vector<std::int64_t> b_batch = batch_steps(right.view, g.batch);
  std::int64_t y_step = element_count(g.batch) * g.rows * g.cols;
  plan.matrices.n = 1;
  for (std::size_t d = 0; d < g.batch.size(); ++d) {
    if (g.batch[d] == 0) continue;
    y_step /= g.batch[d];
    if (g.batch[d] == 1) continue;
    plan.matrices.axes.push_back(
        {static_cast<int>(g.batch[d]), {a_batch[d], b_batch[d], y_step, 0}});
  }
  step->plan = std::move(plan);
  const Step& made = *step;
  arguments.add(std::move(step));
  certify(made, [&] { return pair_certificate(factors, g.depth, y.dtype); });
}

}  // namespace etch
