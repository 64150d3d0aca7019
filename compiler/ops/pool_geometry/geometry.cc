// Resolution of pooling attributes; see geometry.h.
#include "compiler/ops/pool_geometry/geometry.h"

#include <algorithm>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"

namespace etch {

namespace {
using Sizes = std::vector<std::int64_t>;
enum class AutoPad { kNotSet, kValid, kSameUpper, kSameLower };

// Larger numbers have no sensible use, and sums and products of them still fit.
constexpr std::int64_t kMostPerAxis = std::int64_t{1} << 28;
constexpr std::int64_t kMostOfSmallAxes = 64;  // positions of a window, however small the input

AutoPad read_auto_pad(ResolveContext& context) {
  const std::string text = context.string_attr("auto_pad", "NOTSET");
  if (text == "VALID") return AutoPad::kValid;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  if (text != "NOTSET") {
    context.attr_error("auto_pad", cat("must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, got '",
                                       printable(text), "'"));
  }
  return AutoPad::kNotSet;
}

// The attribute as `count` numbers in [least, kMostPerAxis]; absent: `least` everywhere.
Sizes read_list(ResolveContext& context, const char* name, std::size_t count, std::int64_t least) {
  Sizes fallback(count, least);
  const auto list = context.ints_attr(name);
  if (!list) return fallback;
  if (list->size() != count) {
    context.attr_error(name, cat("must have ", count, " entries, got ", list->size()));
    return fallback;
  }
  for (const std::int64_t entry : *list) {
    if (entry >= least && entry <= kMostPerAxis) continue;
    context.attr_error(name, cat("must be in [", least, ", ", kMostPerAxis, "], got ", entry));
    return fallback;
  }
  return *list;
}

void check_pads(ResolveContext& context, const Sizes& pads, const Sizes& kernel, AutoPad mode) {
  const bool zero = std::all_of(pads.begin(), pads.end(), [](auto pad) { return pad == 0; });
  if (mode != AutoPad::kNotSet && context.has_attr("pads")) {
    if (mode != AutoPad::kValid || !zero) {
      context.attr_error("pads", "must not be given beside auto_pad");
    } else {
      context.warning(DiagKind::kAttr, "attribute 'pads' is redundant beside auto_pad VALID");
    }
  }
  for (std::size_t i = 0; i < pads.size(); ++i) {
    const std::int64_t size = kernel[i % kernel.size()];
    if (pads[i] < size) continue;
    context.attr_error("pads", cat("must be smaller than the kernel's ", size, ", got ", pads[i]));
    return;
  }
}

void set_same_pads(ConvAxis& axis, AutoPad mode) {
  const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
  axis.out = ceil_div(axis.in, axis.stride);
  const std::int64_t total =
      std::max<std::int64_t>(0, (axis.out - 1) * axis.stride + extent - axis.in);
  axis.pad_begin = mode == AutoPad::kSameUpper ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

void set_out(ConvAxis& axis, bool ceil_mode) {
  const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
  const std::int64_t room = axis.in + axis.pad_begin + axis.pad_end - extent;
  if (room < 0) {
    axis.out = 0;
    return;
  }
  axis.out = (ceil_mode ? ceil_div(room, axis.stride) : room / axis.stride) + 1;
  if (ceil_mode && (axis.out - 1) * axis.stride >= axis.in + axis.pad_begin) --axis.out;
}

bool check_rank(ResolveContext& context) {
  const std::size_t rank = context.shape(0).size();
  if (rank >= 3 && rank <= 5) return true;
  context.error(rank < 3 ? DiagKind::kShape : DiagKind::kUnsupported,
                cat("x must have 1 to 3 spatial dimensions, got ", to_string(context.shape(0))));
  return false;
}
}  // namespace

std::optional<PoolGeometry> resolve_pool_geometry(ResolveContext& context, ConvLayout layout,
                                                  PoolFeatures features) {
  if (!check_rank(context)) return std::nullopt;
  const Shape& x = context.shape(0);
  const std::size_t rank = x.size() - 2;
  if (!context.has_attr("kernel_shape")) {
    context.attr_error("kernel_shape", "is missing");
    return std::nullopt;
  }
  const Sizes kernel = read_list(context, "kernel_shape", rank, 1);
  const Sizes strides = read_list(context, "strides", rank, 1);
  const Sizes pads = read_list(context, "pads", 2 * rank, 0);
  const Sizes dilations =
      features.dilations ? read_list(context, "dilations", rank, 1) : Sizes(rank, 1);
  const bool ceil_mode = features.ceil_mode && context.int_attr("ceil_mode", 0) != 0;
  const AutoPad mode = read_auto_pad(context);
  check_pads(context, pads, kernel, mode);
  if (context.failed()) return std::nullopt;

  const bool last = layout == ConvLayout::kChannelsLast;
  PoolGeometry geometry{layout, x[0], last ? x.back() : x[1], {}};
  for (std::size_t i = 0; i < rank; ++i) {
    ConvAxis axis{x[i + (last ? 1 : 2)], kernel[i], strides[i], dilations[i], pads[i],
                  pads[i + rank],        1};
    // Windows that are mostly padding only cost time; no network has them.
    if (const std::int64_t most = std::max(kMostOfSmallAxes, 2 * axis.in); axis.kernel > most) {
      context.error(DiagKind::kLimit, cat("the window has ", axis.kernel, " positions on spatial ",
                                          "axis ", i, " of ", to_string(x), ", at most ", most));
      return std::nullopt;
    }
    if (mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower) {
      set_same_pads(axis, mode);
    } else {
      set_out(axis, ceil_mode);
    }
    if (axis.out < 1) {
      context.error(DiagKind::kShape,
                    cat("the window does not fit spatial axis ", i, " of ", to_string(x)));
      return std::nullopt;
    }
    geometry.axes.push_back(axis);
  }
  return geometry;
}

}  // namespace etch
