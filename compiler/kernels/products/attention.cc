// See attention.h.
#include "compiler/kernels/products/attention.h"

#include <memory>

#include "compiler/base/text.h"
#include "compiler/kernels/products/float_products.h"
#include "compiler/kernels/products/floats/pack.h"
#include "compiler/kernels/products/floats/plan.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/stage/staged_step_impl.h"
#include "templates/kernels/products/attention.h"

namespace etch {

namespace {

class AttentionStep : public StagedStep<AttentionStep> {
 public:
  AttentionPlan plan;
  template <class S>
  void kernel(S& s) const {
    attention_kernel(s, plan);
  }
};

}  // namespace

ETCH_INSTANTIATE_STEP(AttentionStep);

namespace {

std::int64_t macs_of(const MatMulGeometry& g) {
  return element_count(g.batch) * g.rows * g.depth * g.cols;
}

std::unique_ptr<AttentionStep> make_attention(const AttentionGeometry& g, FloatSteps steps) {
  auto step = std::make_unique<AttentionStep>();
  step->kind = "attention";
  step->summary =
      cat("attention of ", counted(g.scores.rows, "row"), ", ", g.scores.depth, " wide, over ",
          counted(g.scores.cols, "column"), " of ", g.mixed.cols, " values");
  step->macs = step->float_macs = macs_of(g.scores) + macs_of(g.mixed);
  step->facts.emplace_back(cat("sums in order of position, ", how_rounded(steps)));
  return step;
}

// The last two steps of what has as many dimensions as it likes.
void set_steps(ScoreChange& change, const Input& other, const MatMulGeometry& scores) {
  const std::vector<std::int64_t> steps = other.steps(scores.output);
  change.row_step = steps[steps.size() - 2];
  change.column_step = steps.back();
}

rt::PackShape panels_for(Lowering& lowering, const Node& node, int input, const MatMulGeometry& g) {
  rt::PackShape shape = pack_shape(g);
  const bool constant = lowering.is_constant(node, input);
  if (!constant) leave_rows(shape, g.rows);
  narrow_panels(shape, constant, lowering.isa());
  return shape;
}

}  // namespace

void add_attention(Lowering& lowering, const Node& node, const AttentionGeometry& g) {
  if (refuse_empty(lowering, node)) return;
  auto step = make_attention(g, lowering.float_steps());
  StepArguments arguments(lowering, node, *step);
  const rt::PackShape key_panels = panels_for(lowering, node, g.keys, g.scores);
  const rt::PackShape value_panels = panels_for(lowering, node, g.values, g.mixed);
  const Input queries = arguments.input(g.queries, "queries");
  const Input keys = packed_weights(lowering, node, g.keys, key_panels, arguments, "keys", "keys");
  const Input values =
      packed_weights(lowering, node, g.values, value_panels, arguments, "values", "values");
  // Names of constants differ.
  static constexpr const char* kNames[kMostScoreChanges] = {"change", "change_1", "change_2"};
  std::vector<ScoreChange> changes;
  for (const AttentionGeometry::Change& each : g.changes) {
    const Input other = arguments.input(each.other, kNames[changes.size()]);
    changes.push_back({each.kind, each.scores_first, other.argument});
    set_steps(changes.back(), other, g.scores);
  }
  const Input nothing =
      arguments.data(Tensor::of<float>({1}, {-0.0F}), "nothing", "-0, which changes no sum");
  const View y = lowering.new_output(node, 0, row_major(static_cast<int>(g.mixed.output.size())));
  step->plan = plan_attention(g.scores, g.mixed, queries.view, y);
  AttentionPlan& plan = step->plan;
  if (key_panels.panel != rt::kPanel) plan.scores.panel = key_panels.panel;
  if (value_panels.panel != rt::kPanel) plan.mixed.panel = value_panels.panel;
  plan.steps = lowering.float_steps();
  plan.changes = std::move(changes);
  plan.queries = queries.argument;
  plan.keys = keys.argument;
  plan.values = values.argument;
  plan.nothing = nothing.argument;
  plan.room =
      arguments.scratch("scores", lowering.scratch(DType::kF32, plan.block * g.scores.cols));
  plan.y = arguments.output("y", y);
  arguments.add(std::move(step));
}

}  // namespace etch
