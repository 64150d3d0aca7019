// Resolves the beginning of a Loop, Scan or If; see op.h.
#include "compiler/ops/region_begin/op.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
bool check_single(ResolveContext& context, int i, const char* role, DType type) {
  if (!context.has_input(i)) return true;
  if (!check_dtype(context, i, role, {type})) return false;
  if (element_count(context.shape(i)) == 1) return true;
  context.input_error(DiagKind::kShape, i, role,
                      cat("must have one element, has shape ", to_string(context.shape(i))));
  return false;
}

// How many slices the inputs of a Scan from `first` on have; -1 after an error, or without any.
std::int64_t slices_of(ResolveContext& context, int first, const std::vector<std::int64_t>& axes) {
  std::int64_t slices = -1;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int i = first + static_cast<int>(k);
    const auto rank = static_cast<std::int64_t>(context.shape(i).size());
    if (axes[k] < -rank || axes[k] >= rank) {
      context.attr_error("scan_input_axes",
                         cat("must be in [", -rank, ", ", rank - 1, "], got ", axes[k]));
      return -1;
    }
    const std::int64_t size =
        context.shape(i)[static_cast<std::size_t>(axes[k] < 0 ? axes[k] + rank : axes[k])];
    if (slices >= 0 && slices != size) {
      context.input_error(DiagKind::kShape, i, "scan input",
                          cat("has ", size, " slices, those before have ", slices));
      return -1;
    }
    slices = size;
  }
  return slices;
}

void resolve_region_begin(ResolveContext& context) {
  RegionBegin params;
  params.carried = context.int_attr("carried", 0);
  params.guarded = context.int_attr("guarded", 0);
  context.ignore_attr("when");
  const std::int64_t rank = context.int_attr("trip_rank", 0);
  const auto axes = context.ints_attr("axes").value_or(std::vector<std::int64_t>{});
  if (!check_single(context, 0, "trip count", DType::kS64)) return;
  if (!check_single(context, 1, "condition", DType::kBool)) return;
  for (int i = 2; i < context.input_count(); ++i) {
    if (context.has_input(i)) continue;
    context.error(DiagKind::kGraph, cat("input ", i, " is required, but omitted"));
    return;
  }
  const int names = static_cast<int>(params.carried + params.guarded);
  params.slices = slices_of(context, 2 + names, axes);
  if (context.failed()) return;
  context.set_output(0, DType::kS64, Shape(static_cast<std::size_t>(rank), 1));
  for (int k = 0; k < names; ++k)
    context.set_output(1 + k, context.dtype(2 + k), context.shape(2 + k));
  context.set_params(params);
}

constexpr OpName kRegionBeginNames[] = {{kEtch, "Loop", 1}, {kEtch, "Scan", 1}, {kEtch, "If", 1}};
constexpr int kMostBeginValues = 1 << 20;
}  // namespace

bool is_region_begin(const Node& node) {
  return node.op != nullptr && node.op->folder == "region_begin";
}

bool has_regions(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), is_region_begin);
}

void lower_region_begin(Lowering& lowering, const Node& node);

extern const OpDef kOp_region_begin = {
    .folder = "region_begin",
    .names = kRegionBeginNames,
    .arity = {.min_inputs = 0, .max_inputs = kMostBeginValues, .max_outputs = kMostBeginValues},
    .resolve = resolve_region_begin,
    .lower = lower_region_begin};

}  // namespace etch
