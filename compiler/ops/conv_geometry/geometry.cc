// Resolution of convolution attributes; see geometry.h. Attributes are untrusted: every sum and
// product that they enter is checked.
#include "compiler/ops/conv_geometry/geometry.h"

#include <algorithm>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"

namespace etch {

namespace {

using Sizes = std::vector<std::int64_t>;

enum class AutoPad { kNotSet, kValid, kSameUpper, kSameLower };

// The attributes as the file has them, with defaults where they are absent.
struct Attributes {
  std::optional<Sizes> kernel_shape, strides, dilations, pads, output_padding, output_shape;
  std::int64_t group = 1;
  AutoPad auto_pad = AutoPad::kNotSet;
};

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

Attributes read_attributes(ResolveContext& context, ConvDirection direction) {
  Attributes out;
  out.kernel_shape = context.ints_attr("kernel_shape");
  out.strides = context.ints_attr("strides");
  out.dilations = context.ints_attr("dilations");
  out.pads = context.ints_attr("pads");
  out.group = context.int_attr("group", 1);
  out.auto_pad = read_auto_pad(context);
  if (direction == ConvDirection::kTransposed) {
    out.output_padding = context.ints_attr("output_padding");
    out.output_shape = context.ints_attr("output_shape");
  }
  return out;
}

// `list`, or `count` times `fallback`; reports a wrong length and entries outside [least, most].
Sizes checked_list(ResolveContext& context, const char* name, const std::optional<Sizes>& list,
                   std::size_t count, std::int64_t fallback, std::int64_t least) {
  if (!list) return Sizes(count, fallback);
  if (list->size() != count) {
    context.attr_error(name, cat("must have ", count, " entries, got ", list->size()));
    return Sizes(count, fallback);
  }
  for (const std::int64_t entry : *list) {
    if (entry >= least) continue;
    context.attr_error(name, cat("must be >= ", least, ", got ", entry));
    return Sizes(count, fallback);
  }
  return *list;
}

// x and w seen without regard to layout and direction.
struct Operands {
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  Sizes in;
  std::int64_t w_outer = 0;  // forward M, transposed C
  std::int64_t w_inner = 0;  // forward C/group, transposed M/group
  Sizes kernel;
};

std::optional<Operands> read_operands(ResolveContext& context, ConvLayout layout,
                                      ConvInputs inputs) {
  const Shape& x = context.shape(inputs.x);
  const Shape& w = context.shape(inputs.w);
  if (x.size() < 3 || x.size() != w.size()) {
    context.error(DiagKind::kShape, cat("x and w must have the same rank of at least 3, got ",
                                        to_string(x), " and ", to_string(w)));
    return std::nullopt;
  }
  if (x.size() > 5) {
    context.error(DiagKind::kUnsupported,
                  cat("more than 3 spatial dimensions are not supported, got x ", to_string(x)));
    return std::nullopt;
  }
  if (std::find(w.begin(), w.end(), 0) != w.end()) {
    context.error(DiagKind::kShape, cat("w must not be empty, got ", to_string(w)));
    return std::nullopt;
  }
  const bool last = layout == ConvLayout::kChannelsLast;
  const auto spatial = x.begin() + (last ? 1 : 2);
  const auto rank = static_cast<std::ptrdiff_t>(x.size()) - 2;
  return Operands{x[0], last ? x.back() : x[1],  {spatial, spatial + rank}, w[0],
                  w[1], {w.begin() + 2, w.end()}};
}

void check_kernel_shape(ResolveContext& context, const Attributes& attributes,
                        const Sizes& kernel) {
  if (attributes.kernel_shape && *attributes.kernel_shape != kernel) {
    context.attr_error("kernel_shape", cat("must equal the weights' ", to_string(kernel), ", got ",
                                           to_string(*attributes.kernel_shape)));
  }
}

// Fills the channel counts and checks how they divide into groups.
bool set_channels(ResolveContext& context, const Attributes& attributes, const Operands& operands,
                  ConvGeometry& geometry) {
  const std::int64_t group = attributes.group;
  const bool forward = geometry.direction == ConvDirection::kForward;
  if (group < 1 || group > std::max(operands.w_outer, operands.channels)) {
    context.attr_error("group",
                       cat("must be >= 1 and at most the number of channels, got ", group));
    return false;
  }
  const auto times_group = checked_mul(operands.w_inner, group);
  const std::int64_t expected = forward ? times_group.value_or(-1) : operands.w_outer;
  if (expected != operands.channels || !times_group) {
    context.error(DiagKind::kShape, cat("x has ", operands.channels, " channels, the weights with ",
                                        group, " groups take ", expected));
    return false;
  }
  if (operands.w_outer % group != 0) {
    context.attr_error("group", cat("must divide the ", operands.w_outer,
                                    forward ? " output" : " input", " channels, got ", group));
    return false;
  }
  geometry.batch = operands.batch;
  geometry.in_channels = operands.channels;
  geometry.out_channels = forward ? operands.w_outer : *times_group;
  geometry.group = group;
  return true;
}

// `pads` as 2 * rank numbers. Together with an automatic mode it contradicts; ONNX tools write
// all-zero pads beside VALID, which says the same twice.
Sizes checked_pads(ResolveContext& context, const Attributes& attributes, std::size_t rank,
                   ConvDirection direction) {
  Sizes pads = checked_list(context, "pads", attributes.pads, 2 * rank, 0, 0);
  if (!attributes.pads || attributes.auto_pad == AutoPad::kNotSet) return pads;
  const bool zero = std::all_of(pads.begin(), pads.end(), [](std::int64_t p) { return p == 0; });
  const bool harmless = zero && attributes.auto_pad == AutoPad::kValid;
  if (harmless && direction == ConvDirection::kForward) {
    context.warning(DiagKind::kAttr, "attribute 'pads' is redundant beside auto_pad VALID");
  } else {
    context.attr_error("auto_pad", "must be NOTSET when pads is given");
  }
  return pads;
}

// No result that is within the limits needs more padding, and offsets made of it still fit.
constexpr std::int64_t kMostPadding = std::int64_t{1} << 28;
// A stride or a dilation beyond all padded positions: which one makes no difference, as long as it
// stays so.
constexpr std::int64_t kBeyond = std::int64_t{1} << 30;

bool check_pad_sizes(ResolveContext& context, const Sizes& pads) {
  const bool good =
      std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad <= kMostPadding; });
  if (!good) context.attr_error("pads", "are out of range");
  return good;
}

// kernel, stride, dilation and the explicit pads of every axis; `out` is still to be found.
bool set_axes(ResolveContext& context, const Attributes& attributes, const Operands& operands,
              ConvGeometry& geometry) {
  const std::size_t rank = operands.in.size();
  const Sizes strides = checked_list(context, "strides", attributes.strides, rank, 1, 1);
  const Sizes dilations = checked_list(context, "dilations", attributes.dilations, rank, 1, 1);
  const Sizes pads = checked_pads(context, attributes, rank, geometry.direction);
  check_kernel_shape(context, attributes, operands.kernel);
  if (!check_pad_sizes(context, pads)) return false;
  for (std::size_t a = 0; a < rank; ++a) {
    const std::int64_t kernel = operands.kernel[a];
    const std::int64_t dilation = kernel == 1 ? std::min(dilations[a], kBeyond) : dilations[a];
    const bool may_be_beyond = geometry.direction == ConvDirection::kForward || operands.in[a] == 1;
    const std::int64_t stride = may_be_beyond ? std::min(strides[a], kBeyond) : strides[a];
    geometry.axes.push_back({operands.in[a], kernel, stride, dilation, pads[a], pads[a + rank], 1});
  }
  return !context.failed();
}

// Input positions that the kernel spans: (kernel - 1) * dilation + 1.
std::optional<std::int64_t> extent_of(ResolveContext& context, const ConvAxis& axis) {
  const auto reach = checked_mul(axis.kernel - 1, axis.dilation);
  const auto extent = reach ? checked_add(*reach, 1) : std::nullopt;
  if (!extent) context.attr_error("dilations", cat("is out of range, got ", axis.dilation));
  return extent;
}

// Splits `total` so that the odd one is at the end (SAME_UPPER) or in front (all others).
void distribute(std::int64_t total, AutoPad auto_pad, ConvAxis& axis) {
  const std::int64_t half = total / 2;
  axis.pad_begin = auto_pad == AutoPad::kSameUpper ? half : total - half;
  axis.pad_end = total - axis.pad_begin;
}

bool is_same(AutoPad auto_pad) {
  return auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower;
}

// docs/spec/shapes.md sections 4.1 and 4.2: explicit pads and output size of one axis of a forward
// convolution.
void finish_forward_axis(ResolveContext& context, AutoPad auto_pad, ConvAxis& axis) {
  const auto extent = extent_of(context, axis);
  if (!extent) return;
  if (is_same(auto_pad)) {
    const std::int64_t rest = axis.in % axis.stride;
    const std::int64_t step = rest == 0 ? axis.stride : rest;
    distribute(std::max<std::int64_t>(0, *extent - step), auto_pad, axis);
    axis.out = axis.in / axis.stride + (rest == 0 ? 0 : 1);
  } else {
    const auto pads = checked_add(axis.pad_begin, axis.pad_end);
    const auto padded = pads ? checked_add(axis.in, *pads) : std::nullopt;
    if (!padded) return context.attr_error("pads", "are out of range");
    axis.out = *padded < *extent ? 0 : (*padded - *extent) / axis.stride + 1;
  }
  if (axis.out < 1) {
    context.error(DiagKind::kShape,
                  cat("the kernel spans ", *extent, " positions, more than the input's ", axis.in,
                      " with pads ", axis.pad_begin, " and ", axis.pad_end));
  }
}

// docs/spec/shapes.md section 4.3: output size before any cropping, stride * (in - 1) +
// output_padding + extent.
std::optional<std::int64_t> full_size(ResolveContext& context, const ConvAxis& axis,
                                      std::int64_t output_padding) {
  const auto extent = extent_of(context, axis);
  if (!extent) return std::nullopt;
  const auto stretched = checked_mul(axis.stride, axis.in - 1);
  const auto with_kernel = stretched ? checked_add(*stretched, *extent) : std::nullopt;
  const auto full = with_kernel ? checked_add(*with_kernel, output_padding) : std::nullopt;
  if (full && *full <= kBeyond) return full;
  context.attr_error("strides", "make the output size overflow");
  return std::nullopt;
}

// Crops `full` to the size that output_shape or SAME asks for. A request beyond the full size
// is filled with bias only, and has to stay within one stride of it.
void crop_to(ResolveContext& context, std::int64_t full, std::int64_t request, AutoPad auto_pad,
             ConvAxis& axis) {
  distribute(std::max<std::int64_t>(0, full - request), auto_pad, axis);
  axis.out = request;
  if (request - full >= axis.stride) {
    context.attr_error("output_shape", cat("must be less than ", full, " + stride ", axis.stride,
                                           ", got ", request));
  }
}

struct TransposedRequest {
  AutoPad auto_pad = AutoPad::kNotSet;
  std::int64_t output_padding = 0;
  std::optional<std::int64_t> out;  // from output_shape
};

// docs/spec/shapes.md section 4.3: explicit crop and output size of one axis of a transposed
// convolution.
void finish_transposed_axis(ResolveContext& context, const TransposedRequest& request,
                            ConvAxis& axis) {
  if (axis.in < 1) return context.error(DiagKind::kShape, "x must not be empty");
  if (request.output_padding >= std::max(axis.stride, axis.dilation)) {
    return context.attr_error("output_padding",
                              cat("must be less than the stride ", axis.stride, " or dilation ",
                                  axis.dilation, ", got ", request.output_padding));
  }
  const auto full = full_size(context, axis, request.output_padding);
  if (!full) return;
  if (request.out) {
    crop_to(context, *full, *request.out, request.auto_pad, axis);
  } else if (is_same(request.auto_pad)) {
    // in * stride cannot overflow: stride * (in - 1) + extent did not, except at the very top.
    const auto target = checked_mul(axis.in, axis.stride);
    crop_to(context, *full, std::min(*full, target.value_or(*full)), request.auto_pad, axis);
  } else {
    const auto pads = checked_add(axis.pad_begin, axis.pad_end);
    if (!pads) return context.attr_error("pads", "are out of range");
    axis.out = *full - *pads;
  }
  if (axis.out < 1) {
    context.error(DiagKind::kShape, cat("pads ", axis.pad_begin, " and ", axis.pad_end,
                                        " leave nothing of the ", *full, " output positions"));
  }
}

// output_shape as spatial sizes. Old files list batch and channels too.
std::optional<Sizes> requested_output(ResolveContext& context, const Attributes& attributes,
                                      const ConvGeometry& geometry) {
  if (!attributes.output_shape) return std::nullopt;
  Sizes list = *attributes.output_shape;
  const std::size_t rank = geometry.axes.size();
  if (list.size() == rank + 2 && list[0] == geometry.batch && list[1] == geometry.out_channels) {
    list.erase(list.begin(), list.begin() + 2);
  }
  return checked_list(context, "output_shape", list, rank, 1, 1);
}

void finish_transposed(ResolveContext& context, const Attributes& attributes,
                       ConvGeometry& geometry) {
  const std::size_t rank = geometry.axes.size();
  const Sizes padding =
      checked_list(context, "output_padding", attributes.output_padding, rank, 0, 0);
  const std::optional<Sizes> out = requested_output(context, attributes, geometry);
  if (context.failed()) return;
  for (std::size_t a = 0; a < rank; ++a) {
    TransposedRequest request{attributes.auto_pad, padding[a], std::nullopt};
    if (out) request.out = (*out)[a];
    finish_transposed_axis(context, request, geometry.axes[a]);
  }
}

}  // namespace

std::optional<ConvGeometry> resolve_conv_geometry(ResolveContext& context, ConvDirection direction,
                                                  ConvLayout layout, ConvInputs inputs) {
  const Attributes attributes = read_attributes(context, direction);
  const std::optional<Operands> operands = read_operands(context, layout, inputs);
  if (!operands) return std::nullopt;
  ConvGeometry geometry;
  geometry.direction = direction;
  geometry.layout = layout;
  if (!set_channels(context, attributes, *operands, geometry)) return std::nullopt;
  if (!set_axes(context, attributes, *operands, geometry)) return std::nullopt;
  if (direction == ConvDirection::kTransposed) {
    finish_transposed(context, attributes, geometry);
  } else {
    for (ConvAxis& axis : geometry.axes) finish_forward_axis(context, attributes.auto_pad, axis);
  }
  if (context.failed()) return std::nullopt;
  return geometry;
}

void check_conv_bias(ResolveContext& context, int input, DType type, std::int64_t channels) {
  if (!context.has_input(input)) return;
  if (context.dtype(input) != type) {
    context.input_error(DiagKind::kType, input, "B",
                        cat("must be ", name_of(type), ", got ", name_of(context.dtype(input))));
  }
  if (context.shape(input) != Shape{channels}) {
    context.input_error(DiagKind::kShape, input, "B",
                        cat("must be [", channels, "], got ", to_string(context.shape(input))));
  }
}

}  // namespace etch
