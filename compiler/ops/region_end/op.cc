// Resolves the end of a Loop, Scan or If; see op.h.
#include "compiler/ops/region_end/op.h"

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
using Ints = std::vector<std::int64_t>;

// That carried value or result k, input `i`, is of the same kind as before, input `previous`.
bool stays_equal(ResolveContext& context, const RegionEnd& params, int k, int previous, int i) {
  const auto differ = [&](DiagKind kind, const std::string& from, const std::string& to) {
    context.error(kind, params.is_branch
                            ? cat("result ", k, " is ", from, " in one branch, ", to,
                                  " in the other: which one is taken depends on run time")
                            : cat("carried value ", k, " is ", from, ", the body makes ", to,
                                  " of it: it cannot change"));
    return false;
  };
  if (context.dtype(previous) != context.dtype(i)) {
    return differ(DiagKind::kType, std::string(name_of(context.dtype(previous))),
                  std::string(name_of(context.dtype(i))));
  }
  if (context.shape(previous) == context.shape(i)) return true;
  return differ(DiagKind::kShape, to_string(context.shape(previous)), to_string(context.shape(i)));
}

bool check_condition(ResolveContext& context) {
  if (!context.has_input(1)) return true;
  if (context.dtype(1) != DType::kBool) {
    context.error(DiagKind::kType,
                  cat("the body's condition must be a bool, is ", name_of(context.dtype(1))));
    return false;
  }
  if (element_count(context.shape(1)) == 1) return true;
  context.error(DiagKind::kShape, cat("the body's condition must have one element, has shape ",
                                      to_string(context.shape(1))));
  return false;
}

// Output `out`: the slices that input `i` is in each trip.
bool add_slices(ResolveContext& context, RegionEnd& params, int i, int out, std::int64_t axis,
                bool reversed) {
  Shape shape = context.shape(i);
  const auto rank = static_cast<std::int64_t>(shape.size()) + 1;
  if (axis < -rank || axis >= rank) {
    context.attr_error("scan_output_axes",
                       cat("must be in [", -rank, ", ", rank - 1, "], got ", axis));
    return false;
  }
  if (params.conditional) {
    context.error(DiagKind::kUnsupported,
                  cat("the size of output ", out, ", one slice for each trip, must be known, but ",
                      "how many trips there are depends on a condition at run time"));
    return false;
  }
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  shape.insert(shape.begin() + at, params.trips);
  context.set_output(out, context.dtype(i), shape);
  params.slices.push_back({static_cast<std::size_t>(at), reversed});
  return !context.failed();
}

void resolve_region_end(ResolveContext& context) {
  RegionEnd params;
  params.carried = context.int_attr("carried", 0);
  params.previous = context.int_attr("previous", 0);
  params.trips = context.int_attr("trips", 1);
  params.conditional = context.int_attr("conditional", 0) != 0;
  params.is_branch = context.has_attr("when");
  params.when = context.int_attr("when", 1) != 0;
  const Ints axes = context.ints_attr("axes").value_or(Ints{});
  const Ints directions = context.ints_attr("directions").value_or(Ints{});
  if (!check_condition(context)) return;
  const int carried = static_cast<int>(params.carried);
  const int first = 2 + static_cast<int>(params.previous);
  const bool is_skipped = !params.is_branch && params.trips == 0;
  for (int k = 0; k < carried; ++k) {
    if (is_skipped) {  // whatever the body would make of it
      context.set_output(k, context.dtype(2 + k), context.shape(2 + k));
      continue;
    }
    if (params.previous > 0 && !stays_equal(context, params, k, 2 + k, first + k)) return;
    context.set_output(k, context.dtype(first + k), context.shape(first + k));
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int i = carried + static_cast<int>(k);
    if (!add_slices(context, params, first + i, i, axes[k], directions[k] != 0)) return;
  }
  context.set_params(std::move(params));
}

constexpr OpName kRegionEndNames[] = {
    {kEtch, "LoopEnd", 1}, {kEtch, "ScanEnd", 1}, {kEtch, "IfEnd", 1}};
constexpr int kMostEndValues = 1 << 20;
}  // namespace

bool is_region_end(const Node& node) {
  return node.op != nullptr && node.op->folder == "region_end";
}

std::size_t end_of_region(const Graph& graph, std::size_t begin) {
  const ValueId token = graph.nodes[begin].outputs[0];
  for (std::size_t i = begin + 1; i < graph.nodes.size(); ++i) {
    if (is_region_end(graph.nodes[i]) && graph.nodes[i].inputs[0] == token) return i;
  }
  ETCH_CHECK(false && "every region has an end");
}

void lower_region_end(Lowering& lowering, const Node& node);

extern const OpDef kOp_region_end = {.folder = "region_end",
                                     .names = kRegionEndNames,
                                     .arity = {.min_inputs = 1,
                                               .max_inputs = kMostEndValues,
                                               .min_outputs = 0,
                                               .max_outputs = kMostEndValues},
                                     .resolve = resolve_region_end,
                                     .lower = lower_region_end};

}  // namespace etch
