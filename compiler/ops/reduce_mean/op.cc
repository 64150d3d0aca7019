// Resolves ReduceMean, ReduceMax, ReduceMin, ReduceSum and ReduceProd; see op.h.
#include "compiler/ops/reduce_mean/op.h"

#include <algorithm>
#include <numeric>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> reduce_mean_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
Reduction params_for(const Shape& from, const std::vector<std::int64_t>& axes, bool keep) {
  const std::vector<std::int64_t> dense = dense_strides(from);
  Reduction params;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool goes = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i));
    params.goes.push_back(goes);
    if (from[i] > 1) params.in_order = !goes;
    (goes ? params.reduced : params.kept).push_back(from[i]);
    (goes ? params.reduced_view : params.kept_view).strides.push_back(dense[i]);
    if (!goes || keep) params.shape.push_back(goes ? 1 : from[i]);
  }
  return params;
}

Reduction::Kind kind_of(const std::string& type) {
  if (type == "ReduceMax") return Reduction::Kind::kMax;
  if (type == "ReduceMin") return Reduction::Kind::kMin;
  if (type == "ReduceProd") return Reduction::Kind::kProduct;
  return type == "ReduceSum" ? Reduction::Kind::kSum : Reduction::Kind::kMean;
}

// The message has all types of a model that serve. Other floats are float32 here, bool is uint8,
// and means of int32 and int64 never come here: passes/compositions/reductions.cc has them.
bool check_type(ResolveContext& context, Reduction::Kind kind) {
  using Kind = Reduction::Kind;
  const DType type = context.dtype(0);
  const bool of_bytes = kind == Kind::kMax || kind == Kind::kMin;
  if (type == DType::kF32) return true;
  if (kind != Kind::kMean && (type == DType::kS32 || type == DType::kS64)) return true;
  if (of_bytes && (type == DType::kU8 || type == DType::kS8)) return true;
  context.input_error(DiagKind::kType, 0, "data",
                      cat("must be float32, float16, bfloat16, float64, int32, int64",
                          of_bytes ? ", uint8, int8, bool" : "", ", got ", name_of(type)));
  return false;
}

void resolve_reduce_mean(ResolveContext& context) {
  const Reduction::Kind kind = kind_of(context.node().op_type);
  if (!check_type(context, kind)) return;
  const Shape& from = context.shape(0);
  const std::int64_t since_input = kind == Reduction::Kind::kSum ? 13 : 18;
  const auto given = ints_argument(context, 1, "axes", since_input);
  const bool keep = context.int_attr("keepdims", 1) != 0;
  const bool noop =
      context.opset() >= since_input && context.int_attr("noop_with_empty_axes", 0) != 0;
  if (!given) return;
  std::vector<std::int64_t> chosen = given->value_or(std::vector<std::int64_t>{});
  if (chosen.empty() && !noop) {
    chosen.resize(from.size());
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  const auto axes = normal_axes(context, chosen, rank_of(from));
  if (!axes) return;
  Reduction params = params_for(from, *axes, keep);
  params.kind = kind;
  if (kind == Reduction::Kind::kMean && element_count(params.reduced) == 0) {
    context.error(DiagKind::kShape, "the mean of no elements is not defined");
    return;
  }
  context.set_output(0, context.dtype(0), params.shape);
  context.set_params(std::move(params));
}

constexpr OpName kReduceMeanNames[] = {{kOnnx, "ReduceMean", 1},
                                       {kOnnx, "ReduceMax", 1},
                                       {kOnnx, "ReduceMin", 1},
                                       {kOnnx, "ReduceSum", 1},
                                       {kOnnx, "ReduceProd", 1}};
}  // namespace

void lower_reduction(Lowering& lowering, const Node& node);

extern const OpDef kOp_reduce_mean = {.folder = "reduce_mean",
                                      .names = kReduceMeanNames,
                                      .arity = {.min_inputs = 1, .max_inputs = 2},
                                      .resolve = resolve_reduce_mean,
                                      .reference = reduce_mean_reference,
                                      .lower = lower_reduction};

}  // namespace etch
