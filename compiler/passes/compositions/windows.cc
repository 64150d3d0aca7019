// Operators over windows of places:
//   LpPool      Conv of |x|^p with ones, one channel each; then the root
//   MaxPool     with Indices: the position of the first largest element of each window, in the
//   whole
//               input, by Gather of the windows' elements and ArgMax; the values by MaxPool
//   MaxUnpool   ScatterRows into zeros
//   Col2Im      ScatterRows with add into zeros; elements on the padding go to a place of their own
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/indices.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

// The geometry of windows along the places of a tensor.
struct Windows {
  Shape size;  // of the input
  Ints kernel, stride, dilation, pads;
  Shape count;  // of windows
};

std::int64_t places(const Shape& shape) { return element_count(shape); }

// Padding that auto_pad asks for along one axis, before and after.
std::pair<std::int64_t, std::int64_t> auto_pads(const std::string& how, std::int64_t size,
                                                std::int64_t extent, std::int64_t stride) {
  const std::int64_t count = (size + stride - 1) / stride;
  const std::int64_t all = std::max<std::int64_t>(0, (count - 1) * stride + extent - size);
  const std::int64_t less = all / 2, more = all - less;
  return how == "SAME_UPPER" ? std::pair(less, more) : std::pair(more, less);
}

constexpr std::int64_t kMostNumbers = 4'000'000;  // numbers in a table

// False after a report when there are too many elements.
bool may_list(Parts& parts, Shape shape, const Shape& more) {
  shape.insert(shape.end(), more.begin(), more.end());
  if (has_at_most(shape, kMostNumbers)) return true;
  parts.fail(DiagKind::kLimit, cat("the windows have more than ", kMostNumbers, " elements"));
  return false;
}

bool is_size(std::int64_t each) { return each > 0 && each < 65536; }
bool is_padding(std::int64_t each) { return each >= 0 && each < 65536; }

// Reads the attributes of a pool over the axes from 2 on; nothing after a report.
std::optional<Windows> windows_of(Parts& parts) {
  const Shape shape = parts.shape(0);
  Windows w;
  w.kernel = parts.take<Ints>("kernel_shape", {});
  const std::size_t axes = w.kernel.size();
  w.stride = parts.take<Ints>("strides", Ints(axes, 1));
  w.dilation = parts.take<Ints>("dilations", Ints(axes, 1));
  const bool has_pads = parts.has("pads");
  w.pads = parts.take<Ints>("pads", Ints(2 * axes, 0));
  const auto how = parts.take<std::string>("auto_pad", "NOTSET");
  const bool ceils = parts.take<std::int64_t>("ceil_mode", 0) != 0;
  const bool fits =
      axes > 0 && shape.size() == axes + 2 && w.stride.size() == axes &&
      w.dilation.size() == axes && w.pads.size() == 2 * axes &&
      std::ranges::all_of(w.kernel, is_size) && std::ranges::all_of(w.stride, is_size) &&
      std::ranges::all_of(w.dilation, is_size) && std::ranges::all_of(w.pads, is_padding);
  if (!fits || element_count(shape) == 0) {
    parts.fail(DiagKind::kAttr, cat("kernel_shape, strides, dilations and pads must be those of ",
                                    shape.size(), " - 2 axes"));
    return std::nullopt;
  }
  w.size.assign(shape.begin() + 2, shape.end());
  for (std::size_t d = 0; d < axes; ++d) {
    const std::int64_t extent = w.dilation[d] * (w.kernel[d] - 1) + 1;
    if (!has_pads && how.starts_with("SAME"))
      std::tie(w.pads[d], w.pads[d + axes]) = auto_pads(how, w.size[d], extent, w.stride[d]);
    const std::int64_t room = w.size[d] + w.pads[d] + w.pads[d + axes] - extent;
    if (room < 0) {
      parts.fail(DiagKind::kShape, "a window is larger than the padded input");
      return std::nullopt;
    }
    std::int64_t count = room / w.stride[d] + 1;
    // One more that begins inside of the input or of the padding before it.
    if (ceils && room % w.stride[d] != 0 && count * w.stride[d] < w.size[d] + w.pads[d]) ++count;
    w.count.push_back(count);
  }
  return w;
}

// For each window and each place in it, in order, the place in the input; -1 on the padding.
Ints places_of(const Windows& w) {
  const std::int64_t windows = places(w.count), inside = places(w.kernel);
  Ints out;
  out.reserve(static_cast<std::size_t>(windows * inside));
  for (std::int64_t i = 0; i < windows; ++i) {
    for (std::int64_t k = 0; k < inside; ++k) {
      std::int64_t at = 0, step = 1, window = i, place = k;
      for (std::size_t d = w.size.size(); d-- > 0;) {
        const std::int64_t from =
            window % w.count[d] * w.stride[d] + place % w.kernel[d] * w.dilation[d] - w.pads[d];
        if (from < 0 || from >= w.size[d]) at = std::numeric_limits<std::int64_t>::min() / 2;
        at += from * step;
        step *= w.size[d];
        window /= w.count[d];
        place /= w.kernel[d];
      }
      out.push_back(at < 0 ? -1 : at);
    }
  }
  return out;
}

void lp_pool(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  const auto p = parts.take<std::int64_t>("p", 2);
  if (p < 1) parts.fail(DiagKind::kAttr, cat("p: must be at least 1, got ", p));
  const auto w = windows_of(parts);
  if (parts.failed() || !w) return;
  const std::size_t axes = w->size.size();
  Ints pads = w->pads;
  for (std::size_t d = 0; d < axes; ++d) {  // what ceil_mode adds
    const std::int64_t extent = w->dilation[d] * (w->kernel[d] - 1) + 1;
    const std::int64_t end = (w->count[d] - 1) * w->stride[d] + extent;
    pads[d + axes] = std::max<std::int64_t>(pads[d + axes], end - w->size[d] - pads[d]);
  }
  const std::int64_t channels = parts.shape(0)[1];
  if (!may_list(parts, {channels}, w->kernel)) return;
  Shape shape{channels, 1};
  shape.insert(shape.end(), w->kernel.begin(), w->kernel.end());
  const auto count = static_cast<std::size_t>(element_count(shape));
  const ValueId ones = parts.constant(Tensor::of<float>(shape, std::vector<float>(count, 1.0F)));
  const ValueId x = parts.input(0);
  ValueId powers = p == 2 ? parts.add("Mul", {x, x}) : parts.add("Abs", {x});
  if (p > 2) powers = parts.add("Pow", {powers, parts.scalar(static_cast<float>(p))});
  const ValueId sums = parts.add(
      "Conv", {powers, ones},
      {{"group", channels}, {"strides", w->stride}, {"dilations", w->dilation}, {"pads", pads}});
  if (p == 2) parts.add("Sqrt", {sums});
  if (p > 2) parts.add("Pow", {sums, parts.scalar(1.0F / static_cast<float>(p))});
}

bool has_indices(const Graph&, const Node& node) {
  return node.outputs.size() == 2 && node.outputs[1] != kNoValue;
}

// A place counted with the first axis fastest.
Ints column_major(const Ints& places, const Shape& size) {
  Ints out;
  for (std::int64_t place : places) {
    std::int64_t at = 0, step = element_count(size);
    for (std::size_t d = size.size(); d-- > 0;) {
      step /= size[d];
      at += place % size[d] * step;
      place /= size[d];
    }
    out.push_back(at);
  }
  return out;
}

// The elements of all windows of each image, [images, windows, places in a window]: `at` says where
// in the image they are, its size stands for padding.
ValueId window_elements(Parts& parts, std::int64_t images, std::int64_t size, Shape shape,
                        const Ints& at) {
  // An element after each image that loses against all others, for the padding.
  const float least = -std::numeric_limits<float>::infinity();
  const ValueId last = parts.constant(
      Tensor::of<float>({images, 1}, std::vector<float>(static_cast<std::size_t>(images), least)));
  const ValueId padded = parts.add("Concat", {parts.reshape(parts.input(0), {images, size}), last},
                                   {{"axis", std::int64_t{1}}});
  return parts.add("Gather", {padded, parts.ints(std::move(shape), at)},
                   {{"axis", std::int64_t{1}}});
}

// The first numbers of n runs of `step`.
Ints starts_of(std::int64_t n, std::int64_t step) {
  Ints out = count_up(static_cast<std::size_t>(n));
  for (std::int64_t& each : out) each *= step;
  return out;
}

void max_pool_indices(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  Attributes attributes = parts.attributes();  // MaxPool takes them again
  attributes.erase("storage_order");
  const bool by_columns = parts.take<std::int64_t>("storage_order", 0) != 0;
  const auto w = windows_of(parts);
  if (!w || !may_list(parts, w->count, w->kernel)) return;
  const Shape shape = parts.shape(0);
  const std::int64_t images = shape[0] * shape[1], size = places(w->size);
  const std::int64_t windows = places(w->count), inside = places(w->kernel);
  if (parts.output(0) != kNoValue)
    parts.give(0, parts.add("MaxPool", {parts.input(0)}, attributes));
  Ints at = places_of(*w);
  std::ranges::replace(at, -1, size);
  const ValueId elements = window_elements(parts, images, size, {windows, inside}, at);
  const ValueId best =
      parts.add("ArgMax", {elements}, {{"axis", std::int64_t{2}}, {"keepdims", std::int64_t{0}}});
  const ValueId starts = parts.ints({1, windows}, starts_of(windows, inside));
  const ValueId which = parts.add("Add", {best, starts});
  std::ranges::replace(at, size, 0);
  const ValueId table = parts.ints(by_columns ? column_major(at, w->size) : at);
  const ValueId place = parts.add("Gather", {table, which}, {{"axis", std::int64_t{0}}});
  const ValueId before = parts.ints({images, 1}, starts_of(images, size));
  Shape result{shape[0], shape[1]};
  result.insert(result.end(), w->count.begin(), w->count.end());
  parts.give(1, parts.reshape(parts.add("Add", {place, before}), result));
}

// Indices that count in a tensor of shape `from`, so that they count in one of shape `to`.
ValueId recounted(Parts& parts, ValueId at, const Shape& from, const Shape& to) {
  ValueId moved = kNoValue;
  std::int64_t step = 1;
  for (std::size_t d = from.size(); d-- > 0; step *= to[d]) {
    const ValueId size = parts.number(DType::kS64, from[d]);
    const ValueId digit = parts.add("Mod", {at, size});
    const ValueId term = parts.add("Mul", {digit, parts.number(DType::kS64, step)});
    moved = moved == kNoValue ? term : parts.add("Add", {moved, term});
    at = parts.add("Div", {at, size});
  }
  return moved;
}

void max_unpool(Parts& parts) {
  if (!parts.needs(1) || !parts.has_type(0, {DType::kF32}) || !parts.has_type(1, {DType::kS64}))
    return;
  const Shape shape = parts.shape(0);
  const Ints kernel = parts.take<Ints>("kernel_shape", {});
  const Ints stride = parts.take<Ints>("strides", Ints(kernel.size(), 1));
  const Ints pads = parts.take<Ints>("pads", Ints(2 * kernel.size(), 0));
  const std::size_t axes = kernel.size();
  if (axes == 0 || shape.size() != axes + 2 || stride.size() != axes || pads.size() != 2 * axes ||
      parts.shape(1) != shape || element_count(shape) == 0 ||
      !std::ranges::all_of(kernel, is_size) || !std::ranges::all_of(stride, is_size) ||
      !std::ranges::all_of(pads, is_padding)) {
    parts.fail(DiagKind::kShape, "indices must have the shape of X, and the attributes its axes");
    return;
  }
  Shape dense = shape;
  for (std::size_t d = 0; d < axes; ++d)
    dense[d + 2] = (shape[d + 2] - 1) * stride[d] + kernel[d] - pads[d] - pads[d + axes];
  Shape result = dense;
  if (parts.input(2) != kNoValue && !parts.read(2, "output_shape", result)) return;
  const auto too_small = [](std::int64_t each) { return each < 1 || each > 65536; };
  if (result.size() != shape.size() || std::ranges::any_of(result, too_small) ||
      std::ranges::any_of(dense, too_small) || !has_at_most(result, kMostNumbers)) {
    parts.fail(DiagKind::kShape, "the output has no such shape");
    return;
  }
  // The indices count in a tensor of the shape without output_shape, as MaxPool had it.
  ValueId at = parts.reshape(parts.input(1), {element_count(shape)});
  if (result != dense) at = recounted(parts, at, dense, result);
  const ValueId zeros = parts.constant(Tensor(DType::kF32, {element_count(result), 1}));
  const ValueId x = parts.reshape(parts.input(0), {element_count(shape), 1});
  parts.reshape(scattered(parts, DType::kF32, zeros, at, x, "none"), result);
}

void col2im(Parts& parts) {
  Windows w;
  if (!parts.has_type(0, {DType::kF32}) || !parts.read(1, "image_shape", w.size) ||
      !parts.read(2, "block_shape", w.kernel)) {
    return;
  }
  const std::size_t axes = w.size.size();
  w.stride = parts.take<Ints>("strides", Ints(axes, 1));
  w.dilation = parts.take<Ints>("dilations", Ints(axes, 1));
  w.pads = parts.take<Ints>("pads", Ints(2 * axes, 0));
  const Shape shape = parts.shape(0);
  bool fits = axes > 0 && shape.size() == 3 && w.kernel.size() == axes && w.stride.size() == axes &&
              w.dilation.size() == axes && w.pads.size() == 2 * axes &&
              std::ranges::all_of(w.size, is_size) && std::ranges::all_of(w.kernel, is_size) &&
              std::ranges::all_of(w.stride, is_size) && std::ranges::all_of(w.dilation, is_size) &&
              std::ranges::all_of(w.pads, is_padding);
  for (std::size_t d = 0; fits && d < axes; ++d) {
    const std::int64_t room =
        w.size[d] + w.pads[d] + w.pads[d + axes] - w.dilation[d] * (w.kernel[d] - 1) - 1;
    fits = room >= 0;
    w.count.push_back(room / w.stride[d] + 1);
  }
  fits = fits && has_at_most(w.kernel, kMostNumbers) && has_at_most(w.count, kMostNumbers);
  const std::int64_t inside = fits ? places(w.kernel) : 1;
  fits = fits && shape[1] % inside == 0 && shape[2] == places(w.count) &&
         element_count(shape) > 0 && has_at_most(w.size, kMostNumbers);
  if (!fits) {
    parts.fail(DiagKind::kShape, cat("columns of shape ", to_string(shape),
                                     " do not fit the image, the block and the attributes"));
    return;
  }
  if (!may_list(parts, w.count, w.kernel)) return;
  const std::int64_t channels = shape[1] / inside, images = shape[0] * channels;
  const std::int64_t size = places(w.size);
  Ints at = places_of(w);  // by window, then by place in it
  for (std::int64_t& each : at) each = each < 0 ? size : each;
  const ValueId columns = parts.reshape(parts.input(0), {images, inside, shape[2]});
  const ValueId rows =
      parts.reshape(parts.transpose(columns, {2, 1, 0}), {shape[2] * inside, images});
  const ValueId zeros = parts.constant(Tensor(DType::kF32, {size + 1, images}));
  const ValueId sums = scattered(parts, DType::kF32, zeros, parts.ints(at), rows, "add");
  Shape result{shape[0], channels};
  result.insert(result.end(), w.size.begin(), w.size.end());
  parts.reshape(parts.transpose(parts.slice(sums, 0, 0, size), {1, 0}), result);
}

constexpr Rule kWindowRules[] = {{"LpPool", lp_pool, 1, 1, 2},
                                 {"MaxPool", max_pool_indices, 1, 2, 8, has_indices},
                                 {"MaxUnpool", max_unpool, 3, 1, 9},
                                 {"Col2Im", col2im, 3, 1, 18}};
}  // namespace

std::span<const Rule> window_rules() { return kWindowRules; }

}  // namespace etch
