// Resolves NonMaxSuppression, or refuses it and says what to do instead; see op.h.
#include "compiler/ops/non_max_suppression/op.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> non_max_suppression_reference(const Node& node,
                                                  std::span<const Tensor* const> inputs);
void lower_non_max_suppression(Lowering& lowering, const Node& node);

namespace {

constexpr int kFiller = 5;
constexpr std::int64_t kMostRows = 1'000'000;

void refuse(ResolveContext& context) {
  const std::string boxes = printable(context.input(0).name);
  const std::string scores = printable(context.input(1).name);
  context.error(
      DiagKind::kUnsupported,
      cat("how many boxes are left is known at run time only, and shapes are not; cut the "
          "network before it (--cut '",
          boxes, "' --cut '", scores,
          "') and select boxes in your own code, or give its output a shape [N, 3] in the file: "
          "rows without a box then hold -1"));
}

// The single number of a constant input; nothing after a report.
template <class T>
std::optional<T> number(ResolveContext& context, int i, const char* role, DType type, T fallback) {
  if (!context.has_input(i)) return fallback;
  if (!check_dtype(context, i, role, {type})) return std::nullopt;
  const Tensor* tensor = context.constant(i);
  if (tensor == nullptr || tensor->size() != 1) {
    context.needs_constant(i, role, "must be one number known at compile time");
    return std::nullopt;
  }
  const T value = tensor->as<T>()[0];
  if constexpr (std::is_same_v<T, float>) {
    if (!std::isfinite(value)) {
      context.input_error(DiagKind::kTensor, i, role, "must be finite");
      return std::nullopt;
    }
  }
  return value;
}

// The number of rows that Slice keeps from the beginning; nothing after a report.
std::optional<std::int64_t> kept_rows(ResolveContext& context) {
  if (context.input_count() < 8 || !context.has_input(6) || !context.has_input(7)) {
    refuse(context);
    return std::nullopt;
  }
  const auto starts = constant_ints(context, 6, "starts");
  const auto ends = constant_ints(context, 7, "ends");
  if (!starts || !ends) return std::nullopt;
  const Shape& filler = context.shape(kFiller);
  const auto is = [&](int i, const char* role, std::int64_t value) {
    if (!context.has_input(i)) return true;
    const auto list = constant_ints(context, i, role);
    return list && *list == std::vector<std::int64_t>{value};
  };
  const bool fits = *starts == std::vector<std::int64_t>{0} && ends->size() == 1 &&
                    is(8, "axes", 0) && is(9, "steps", 1) && filler.size() == 2 && filler[1] == 3;
  if (!fits || ends->front() < 1 || ends->front() > filler[0]) {
    if (!context.failed()) refuse(context);
    return std::nullopt;
  }
  return ends->front();
}

std::optional<std::int64_t> row_count(ResolveContext& context) {
  if (context.has_attr("rows") && context.node().domain == kEtch)
    return std::clamp<std::int64_t>(context.int_attr("rows", 1), 1, kMostRows);
  if (context.has_input(kFiller)) return kept_rows(context);
  refuse(context);
  return std::nullopt;
}

bool shapes_fit(ResolveContext& context) {
  const Shape& boxes = context.shape(0);
  const Shape& scores = context.shape(1);
  const bool fits = boxes.size() == 3 && scores.size() == 3 && boxes[2] == 4 &&
                    boxes[0] == scores[0] && boxes[1] == scores[2] && element_count(scores) > 0;
  if (!fits) {
    context.error(DiagKind::kShape, cat("boxes of shape ", to_string(boxes),
                                        " do not fit scores of ", "shape ", to_string(scores)));
  }
  return fits;
}

void resolve_non_max_suppression(ResolveContext& context) {
  const auto rows = row_count(context);
  if (!rows || !shapes_fit(context)) return;
  if (!check_dtype(context, 0, "boxes", {DType::kF32}) ||
      !check_dtype(context, 1, "scores", {DType::kF32})) {
    return;
  }
  NonMaxSuppression params;
  const auto most = number<std::int64_t>(context, 2, "max_output_boxes_per_class", DType::kS64, 0);
  const auto overlap = number<float>(context, 3, "iou_threshold", DType::kF32, 0);
  const auto threshold = number<float>(context, 4, "score_threshold", DType::kF32, 0);
  if (!most || !overlap || !threshold) return;
  if (!context.has_attr("rows") && context.has_input(kFiller)) {
    if (!check_dtype(context, kFiller, "filler", {DType::kS64})) return;
    params.filler = kFiller;
  }
  params.batches = context.shape(1)[0];
  params.classes = context.shape(1)[1];
  params.boxes = context.shape(1)[2];
  params.most = std::clamp<std::int64_t>(*most, 0, params.boxes);
  params.rows = *rows;
  params.is_centred = context.int_attr("center_point_box", 0) != 0;
  params.overlap = *overlap;
  params.has_threshold = context.has_input(4);
  params.threshold = *threshold;
  context.set_output(0, DType::kS64, {*rows, 3});
  context.set_params(params);
}

constexpr OpName kNonMaxSuppressionNames[] = {{kOnnx, "NonMaxSuppression", 10},
                                              {kEtch, "FilledNonMaxSuppression", 1}};
}  // namespace

extern const OpDef kOp_non_max_suppression = {.folder = "non_max_suppression",
                                              .names = kNonMaxSuppressionNames,
                                              .arity = {.min_inputs = 2, .max_inputs = 10},
                                              .resolve = resolve_non_max_suppression,
                                              .reference = non_max_suppression_reference,
                                              .lower = lower_non_max_suppression};

}  // namespace etch
