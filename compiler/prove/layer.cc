// Layers by their operators' definitions; see layer.h.
#include "compiler/prove/layer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <typeinfo>
#include <utility>

#include "compiler/ops/qgemm/op.h"
#include "compiler/ops/qlinear_conv/op.h"
#include "compiler/ops/qlinear_conv_add/op.h"
#include "compiler/ops/qlinear_matmul/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

constexpr int kMatrix = 3, kConvBias = 8, kGemmBias = 6;

const Tensor* constant_of(const Graph& graph, const Node& node, int input) {
  const auto i = static_cast<std::size_t>(input);
  if (i >= node.inputs.size() || node.inputs[i] == kNoValue) return nullptr;
  return graph.value(node.inputs[i]).constant.get();
}

bool has_input(const Node& node, int input) {
  const auto i = static_cast<std::size_t>(input);
  return i < node.inputs.size() && node.inputs[i] != kNoValue;
}

int flip_of(const Graph& graph, ValueId id) {
  return graph.value(id).dtype == DType::kS8 ? 128 : 0;
}

// w is [M, C/group, k...], transposed [C, M/group, k...].
std::vector<int> conv_weights(const ConvGeometry& g, const Tensor& w, const Quantization& q,
                              std::int64_t taps) {
  std::vector<int> out;
  const bool transposed = g.direction == ConvDirection::kTransposed;
  for (std::int64_t c = 0; c < g.in_channels; ++c) {
    const std::int64_t first = c / g.in_per_group() * g.out_per_group();
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t m = 0; m < g.out_per_group(); ++m) {
        const std::int64_t row = transposed ? c * g.out_per_group() + m
                                            : (first + m) * g.in_per_group() + c % g.in_per_group();
        out.push_back(static_cast<int>(w.integer(row * taps + tap)) - q.zero_point_at(first + m));
      }
    }
  }
  return out;
}

// fl(fl(x_scale * w_scale) / y_scale)
std::vector<float> factors(const ConvGeometry& g, const Quantization& x, const Quantization& w,
                           const Quantization& y) {
  std::vector<float> out;
  for (std::int64_t m = 0; m < g.out_channels; ++m) {
    const float product = x.scale_at(0) * w.scale_at(m);
    out.push_back(product / y.scale_at(0));
  }
  return out;
}

std::optional<Layer> conv_layer(const Graph& graph, const Node& node,
                                const QLinearConvParams& params, std::string& why) {
  const Tensor* const w = constant_of(graph, node, 3);
  const Tensor* const bias = constant_of(graph, node, kConvBias);
  if (w == nullptr || !params.x || !params.w || !params.y ||
      (bias == nullptr && has_input(node, kConvBias))) {
    why = "weights or scales are known at run time only";
    return std::nullopt;
  }
  Layer layer;
  layer.geometry = params.geometry;
  layer.weights = conv_weights(params.geometry, *w, *params.w, layer.taps());
  for (std::int64_t m = 0; m < params.geometry.out_channels; ++m)
    layer.bias.push_back(bias == nullptr ? 0 : static_cast<std::int32_t>(bias->integer(m)));
  layer.scale = factors(params.geometry, *params.x, *params.w, *params.y);
  layer.x_flip = flip_of(graph, node.inputs[0]);
  layer.x_zero_point = params.x->zero_point_at(0) + layer.x_flip;
  layer.y_flip = flip_of(graph, node.outputs[0]);
  layer.y_type = *graph.value(node.inputs[7]).dtype;
  layer.y_zero_point = params.y->zero_point_at(0);
  layer.low = params.low;
  layer.high = params.high;
  layer.weight_tensor = w;
  return layer;
}

void add_residual(const QLinearConvAdd& params, Layer& layer) {
  LayerResidual residual;
  const ScalarQuantization own{params.conv.y->scale_at(0), params.conv.y->zero_point_at(0)};
  residual.sum.dtype = params.dtype;
  residual.sum.a = params.residual_is_a ? params.residual : own;
  residual.sum.b = params.residual_is_a ? own : params.residual;
  residual.sum.c = params.sum;
  residual.is_a = params.residual_is_a;
  residual.low = params.low;
  residual.high = params.high;
  layer.residual = residual;
}

// Rows of `depth` inputs each; everything of the layer but weights, bias and factors.
Layer matrix_layer(const Graph& graph, const Node& node, std::array<std::int64_t, 3> sizes,
                   const Quantization& x, const Quantization& y, const ResultLimits& limits) {
  Layer layer;
  const auto [row_count, depth, cols] = sizes;
  layer.geometry.in_channels = depth;
  layer.geometry.out_channels = cols;
  ConvAxis rows;
  rows.in = rows.out = row_count;
  layer.geometry.axes = {rows};
  layer.x_flip = flip_of(graph, node.inputs[0]);
  layer.x_zero_point = x.zero_point_at(0) + layer.x_flip;
  layer.y_flip = flip_of(graph, node.outputs[0]);
  layer.y_type = *graph.value(node.outputs[0]).dtype;
  layer.y_zero_point = y.zero_point_at(0);
  layer.low = limits.low;
  layer.high = limits.high;
  layer.weight_tensor = constant_of(graph, node, kMatrix);
  return layer;
}

std::optional<Layer> gemm_layer(const Graph& graph, const Node& node, const QGemmParams& params,
                                std::string& why) {
  const Tensor* const b = constant_of(graph, node, kMatrix);
  const Tensor* const bias = constant_of(graph, node, kGemmBias);
  if (b == nullptr || !params.a || !params.b || !params.y || params.geometry.transposed_a ||
      (bias == nullptr && has_input(node, kGemmBias))) {
    why = "a matrix product of another form";
    return std::nullopt;
  }
  const GemmGeometry& g = params.geometry;
  Layer layer =
      matrix_layer(graph, node, {g.rows, g.depth, g.cols}, *params.a, *params.y, params.limits);
  for (std::int64_t k = 0; k < g.depth; ++k) {
    for (std::int64_t n = 0; n < g.cols; ++n)
      layer.weights.push_back(
          static_cast<int>(b->integer(static_cast<std::int64_t>(g.b_index(k, n)))) -
          params.b->zero_point_at(n));
  }
  for (std::int64_t n = 0; n < g.cols; ++n) {
    const std::int64_t c =
        bias == nullptr ? 0 : bias->integer(static_cast<std::int64_t>(g.c_index(0, n)));
    layer.bias.push_back(static_cast<std::int32_t>(c));
    const float alpha_a = params.alpha * params.a->scale_at(0);
    const float product = alpha_a * params.b->scale_at(n);
    layer.scale.push_back(product / params.y->scale_at(0));
  }
  return layer;
}

// One matrix b for all matrices of a, whose rows are one after the other.
std::optional<Layer> matmul_layer(const Graph& graph, const Node& node,
                                  const QLinearMatMulParams& params, std::string& why) {
  const Tensor* const b = constant_of(graph, node, kMatrix);
  const MatMulGeometry& g = params.geometry;
  if (b == nullptr || !params.a || !params.b || !params.y || element_count(g.b_batch) != 1) {
    why = b == nullptr ? "both operands of its products are known at run time only"
                       : "a matrix product of another form";
    return std::nullopt;
  }
  const std::int64_t rows = element_count(g.batch) * g.rows;
  Layer layer =
      matrix_layer(graph, node, {rows, g.depth, g.cols}, *params.a, *params.y, params.limits);
  for (std::int64_t i = 0; i < g.depth * g.cols; ++i)
    layer.weights.push_back(static_cast<int>(b->integer(i)) - params.b->zero_point_at(i % g.cols));
  layer.bias.assign(static_cast<std::size_t>(g.cols), 0);
  layer.scale = factors(layer.geometry, *params.a, *params.b, *params.y);
  return layer;
}

std::int64_t product(const ConvGeometry& geometry, std::int64_t ConvAxis::*member) {
  std::int64_t out = 1;
  for (const ConvAxis& axis : geometry.axes) out *= axis.*member;
  return out;
}

// Of the operators that layer_of() knows; null where it is known at run time only.
Quantization* weight_quantization(Node& node) {
  const auto address = [](std::optional<Quantization>& q) { return q ? &*q : nullptr; };
  if (auto* const conv = std::any_cast<QLinearConvParams>(&node.params)) return address(conv->w);
  if (auto* const sum = std::any_cast<QLinearConvAdd>(&node.params)) return address(sum->conv.w);
  if (auto* const gemm = std::any_cast<QGemmParams>(&node.params)) return address(gemm->b);
  if (auto* const matmul = std::any_cast<QLinearMatMulParams>(&node.params))
    return address(matmul->b);
  return nullptr;
}

// The same operators' quantization of inputs and results.
std::pair<Quantization*, const Quantization*> input_and_result(Node& node) {
  const auto both = [](std::optional<Quantization>& x, std::optional<Quantization>& y) {
    return x && y ? std::pair<Quantization*, const Quantization*>(&*x, &*y)
                  : std::pair<Quantization*, const Quantization*>();
  };
  if (auto* const conv = std::any_cast<QLinearConvParams>(&node.params))
    return both(conv->x, conv->y);
  if (auto* const sum = std::any_cast<QLinearConvAdd>(&node.params))
    return both(sum->conv.x, sum->conv.y);
  if (auto* const gemm = std::any_cast<QGemmParams>(&node.params)) return both(gemm->a, gemm->y);
  if (auto* const matmul = std::any_cast<QLinearMatMulParams>(&node.params))
    return both(matmul->a, matmul->y);
  return {};
}

// The same operators' bias; -1 for all others, whose inputs mean something else.
int bias_input(const Node& node) {
  const std::type_info& params = node.params.type();
  if (params == typeid(QLinearConvParams) || params == typeid(QLinearConvAdd)) return kConvBias;
  return params == typeid(QGemmParams) ? kGemmBias : -1;
}

// The constant bias; zeros for a convolution that has none, as its step stores sums of zero points
// where biases are. Nothing where it is known at run time only.
std::optional<Tensor> bias_of(const Graph& graph, const Node& node, int input) {
  if (const Tensor* const bias = constant_of(graph, node, input)) return *bias;
  if (input != kConvBias || has_input(node, input)) return std::nullopt;
  const auto* const conv = std::any_cast<QLinearConvParams>(&node.params);
  const auto* const sum = std::any_cast<QLinearConvAdd>(&node.params);
  const ConvGeometry& geometry = conv != nullptr ? conv->geometry : sum->conv.geometry;
  return Tensor(DType::kS32, Shape{geometry.out_channels});
}

}  // namespace

std::int64_t Layer::taps() const { return product(geometry, &ConvAxis::kernel); }
std::int64_t Layer::inputs() const { return product(geometry, &ConvAxis::in); }
std::int64_t Layer::positions() const { return product(geometry, &ConvAxis::out); }

int Layer::result(std::int32_t accumulator, float factor, int residual_byte) const {
  const std::int32_t y =
      std::clamp(requantize(accumulator, factor, y_zero_point, y_type), low, high);
  if (!residual) return y + y_flip;
  const QLinearBinaryFunction sum(residual->sum);
  const std::int32_t other = residual_byte - y_flip;
  const std::int32_t both = residual->is_a ? sum(other, y) : sum(y, other);
  return std::clamp(both, residual->low, residual->high) + y_flip;
}

std::optional<Layer> layer_of(const Graph& graph, const Node& node, std::string& why) {
  if (const auto* const conv = std::any_cast<QLinearConvParams>(&node.params))
    return conv_layer(graph, node, *conv, why);
  if (const auto* const gemm = std::any_cast<QGemmParams>(&node.params))
    return gemm_layer(graph, node, *gemm, why);
  if (const auto* const matmul = std::any_cast<QLinearMatMulParams>(&node.params))
    return matmul_layer(graph, node, *matmul, why);
  if (const auto* const sum = std::any_cast<QLinearConvAdd>(&node.params)) {
    std::optional<Layer> layer = conv_layer(graph, node, sum->conv, why);
    if (layer) add_residual(*sum, *layer);
    return layer;
  }
  const std::string& op = node.op_type;
  why = op.ends_with("16")        ? "its results have 16 bits"
        : op.ends_with("Integer") ? "its results are the sums, of 32 bits"
                                  : "no integer layer with constant weights";
  return std::nullopt;
}

Layer sums_layer(const ConvGeometry& geometry, const Tensor& w,
                 const std::vector<int>& w_zero_point) {
  Layer layer;
  layer.geometry = geometry;
  Quantization q;
  q.zero_point = w_zero_point;
  q.scale.assign(w_zero_point.size(), 1);
  layer.weights = conv_weights(geometry, w, q, layer.taps());
  layer.weight_tensor = &w;
  return layer;
}

std::int32_t bias_tag(std::int64_t channel, std::int64_t channels) {
  return static_cast<std::int32_t>(channel + channels / 16 + 1);
}

bool tag_bias(Graph& graph, Node& node) {
  if (auto* const matmul = std::any_cast<QLinearMatMulParams>(&node.params)) {
    matmul->bias.resize(static_cast<std::size_t>(matmul->geometry.cols));
    std::iota(matmul->bias.begin(), matmul->bias.end(), bias_tag(0, matmul->geometry.cols));
    return true;
  }
  const int input = bias_input(node);
  if (input < 0) return false;
  const std::optional<Tensor> bias = bias_of(graph, node, input);
  if (!bias) return false;
  Tensor tagged = *bias;
  const std::span<std::int32_t> values = tagged.as<std::int32_t>();
  for (std::size_t m = 0; m < values.size(); ++m) {
    const std::int32_t tag = bias_tag(static_cast<std::int64_t>(m), std::ssize(values));
    values[m] = wrap_to_int32(std::int64_t{values[m]} + tag);
  }
  node.inputs.resize(std::max(node.inputs.size(), static_cast<std::size_t>(input) + 1), kNoValue);
  node.inputs[static_cast<std::size_t>(input)] = graph.add_constant(std::move(tagged));
  return true;
}

void double_scale(Node& node) {
  if (Quantization* const w = weight_quantization(node)) {
    for (float& scale : w->scale) scale *= 2;
  }
}

void set_factor(Node& node, float factor) {
  Quantization* const w = weight_quantization(node);
  const auto [x, y] = input_and_result(node);
  if (w == nullptr || x == nullptr) return;
  std::ranges::fill(x->scale, 1.0F);
  std::ranges::fill(w->scale, factor * y->scale_at(0));
  if (auto* const gemm = std::any_cast<QGemmParams>(&node.params)) gemm->alpha = 1;
  if (auto* const matmul = std::any_cast<QLinearMatMulParams>(&node.params)) {
    std::ranges::fill(matmul->y->scale, 1.0F);  // so that the factor is this one
    std::ranges::fill(w->scale, factor);
  }
}

namespace {

// Through which tap input `i` of an axis reaches which output.
struct OneReach {
  std::int64_t tap = 0, output = 0;
};

std::vector<OneReach> reach_of(const ConvAxis& axis, bool transposed, std::int64_t i) {
  std::vector<OneReach> out;
  for (std::int64_t j = 0; j < axis.kernel; ++j) {
    if (transposed) {
      const std::int64_t o = i * axis.stride + j * axis.dilation - axis.pad_begin;
      if (o >= 0 && o < axis.out) out.push_back({j, o});
      continue;
    }
    const std::int64_t scaled = i + axis.pad_begin - j * axis.dilation;
    if (scaled >= 0 && scaled % axis.stride == 0 && scaled / axis.stride < axis.out)
      out.push_back({j, scaled / axis.stride});
  }
  return out;
}

}  // namespace

Reach::Reach(const Layer& layer) {
  const bool transposed = layer.geometry.direction == ConvDirection::kTransposed;
  entries_.assign(1, {{0, 0}});
  for (const ConvAxis& axis : layer.geometry.axes) {
    std::vector<std::vector<Entry>> next;
    for (const std::vector<Entry>& before : entries_) {
      for (std::int64_t i = 0; i < axis.in; ++i) {
        std::vector<Entry>& here = next.emplace_back();
        for (const Entry& entry : before) {
          for (const OneReach& one : reach_of(axis, transposed, i)) {
            here.push_back({static_cast<int>(entry.tap * axis.kernel + one.tap),
                            static_cast<int>(entry.output * axis.out + one.output)});
          }
        }
      }
    }
    entries_ = std::move(next);
    const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
    const std::int64_t strided = (extent + axis.stride - 1) / axis.stride;
    input_spacing.push_back(std::min(axis.in, transposed ? strided : extent));
    output_spacing.push_back(std::min(axis.out, transposed ? extent : strided));
  }
  back_.resize(static_cast<std::size_t>(layer.positions()));
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    for (const Entry& entry : entries_[i])
      back_[static_cast<std::size_t>(entry.output)].push_back({entry.tap, static_cast<int>(i)});
  }
}

void add_input(const Layer& layer, const Reach& reach, std::array<std::int64_t, 3> at,
               int difference, std::vector<std::int32_t>& sums) {
  const auto [n, c, position] = at;
  const ConvGeometry& g = layer.geometry;
  const std::int64_t first = c / g.in_per_group() * g.out_per_group();
  for (const Reach::Entry& entry : reach.of_input(position)) {
    const int* const w =
        &layer
             .weights[static_cast<std::size_t>((c * layer.taps() + entry.tap) * g.out_per_group())];
    std::int32_t* const sum = &sums[static_cast<std::size_t>(
        (n * layer.positions() + entry.output) * g.out_channels + first)];
    for (std::int64_t m = 0; m < g.out_per_group(); ++m) {
      sum[m] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum[m]) +
                                         static_cast<std::uint32_t>(w[m] * difference));
    }
  }
}

}  // namespace etch
