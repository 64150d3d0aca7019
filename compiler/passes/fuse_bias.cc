// See fuse_bias.h.
#include "compiler/passes/fuse_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qgemm/op.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

constexpr int kMostSteps = 64;  // by which a scale is tried beside that of the file
// Of a whole graph: searching one takes some 20 us, and a small file can have any number.
constexpr std::int64_t kMostColumns = 1 << 18;

// How a float becomes q = y - zero point.
struct Rounding {
  float y_scale = 1;
  int low = 0, high = 0;  // of q
};

int rounded(float v, const Rounding& y) {
  const float clamped =
      std::min(std::max(v, static_cast<float>(y.low)), static_cast<float>(y.high));
  return static_cast<int>(std::nearbyint(clamped));
}

// One column: the sums that can occur, and what is done to them in the file.
struct Column {
  std::int64_t least = 0, most = 0;
  float product = 1;  // scales of both factors, multiplied
  float addend = 0;
};

int of_file(const Column& column, const Rounding& y, std::int64_t sum) {
  const float real = static_cast<float>(static_cast<std::int32_t>(sum)) * column.product;
  const float biased = real + column.addend;
  return rounded(biased / y.y_scale, y);
}

// What the operator with a bias does instead: see ops/qgemm/op.h.
struct Biased {
  std::int32_t bias = 0;
  float scale = 1;
};

int of_biased(const Biased& form, const Rounding& y, std::int64_t sum) {
  const float scaled = static_cast<float>(static_cast<std::int32_t>(sum + form.bias)) * form.scale;
  return rounded(scaled, y);
}

bool is_int32(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

// Where the result of the file's steps changes, and what it is at both ends: a monotone formula
// that agrees there agrees everywhere.
class Steps {
 public:
  Steps(const Column& column, const Rounding& y) : column_(column), y_(y) {
    first_ = of_file(column, y, column.least);
    last_ = of_file(column, y, column.most);
    std::int64_t from = column.least + 1;
    for (int q = first_ + 1; q <= last_; ++q) thresholds_.push_back(from = threshold(q, from));
  }

  bool agree(const Biased& form) const {
    if (!is_int32(column_.least + form.bias) || !is_int32(column_.most + form.bias)) return false;
    const auto at = [&](std::int64_t sum) { return of_biased(form, y_, sum); };
    if (at(column_.least) != first_ || at(column_.most) != last_) return false;
    int q = first_;
    return std::ranges::all_of(thresholds_, [&](std::int64_t sum) {
      ++q;
      return at(sum) >= q && at(sum - 1) < q;
    });
  }

 private:
  // The least sum in [from, most] whose result is q or more.
  std::int64_t threshold(int q, std::int64_t from) const {
    std::int64_t to = column_.most;
    while (from < to) {
      const std::int64_t middle = from + (to - from) / 2;
      if (of_file(column_, y_, middle) >= q) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return from;
  }

  const Column& column_;
  const Rounding& y_;
  int first_ = 0, last_ = 0;
  std::vector<std::int64_t> thresholds_;
};

// The float that is `steps` representable ones above a positive one.
float moved(float value, int steps) {
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(value) + steps);
}

// A product, and what follows it.
struct Chain {
  const Node* gemm = nullptr;
  const Node* add = nullptr;
  std::vector<float> addends;  // one, or one per column
  bool relu = false;
  QuantizedOperand to;
};

// A scale of b and a bias, per column.
struct Parameters {
  std::vector<float> b_scale;
  std::vector<std::int32_t> bias;
};

class BiasFusion {
 public:
  explicit BiasFusion(Graph& graph) : graph_(graph), wiring_(graph) {}

  void run() {
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      if (is_quantize(graph_.nodes[static_cast<std::size_t>(i)])) fuse(i);
    }
    wiring_.finish();
  }

 private:
  // A product of int8 or uint8 without a bias, whose result is float.
  bool is_product(const Node* node) const {
    if (node == nullptr || node->op_type != "QGemm") return false;
    const auto& params = params_of<QGemmParams>(*node);
    const bool has_c = node->inputs.size() > 6 && node->inputs[6] != kNoValue;
    return params.output == QGemmOutput::kFloat && params.a && params.b && !has_c &&
           graph_.value(node->inputs[3]).constant != nullptr &&
           graph_.value(node->inputs[0]).constant == nullptr;
  }

  // A constant, or what a DequantizeLinear makes of one.
  std::optional<Tensor> constant_of(ValueId id) const {
    if (graph_.value(id).constant != nullptr) return *graph_.value(id).constant;
    const Node* const producer = wiring_.producer(id);
    if (producer == nullptr || !is_dequantize(*producer)) return std::nullopt;
    std::vector<const Tensor*> inputs;
    for (const ValueId input : producer->inputs) {
      if (input != kNoValue && graph_.value(input).constant == nullptr) return std::nullopt;
      inputs.push_back(input == kNoValue ? nullptr : graph_.value(input).constant.get());
    }
    return producer->op->reference(*producer, inputs).at(0);
  }

  std::optional<std::vector<float>> addends_of(ValueId id, std::int64_t columns) const {
    const std::optional<Tensor> value = constant_of(id);
    if (!value || value->dtype() != DType::kF32) return std::nullopt;
    const Shape& shape = value->shape();
    const bool is_one = value->size() == 1;  // of any shape, also of none
    const bool per_column = !is_one && value->size() == columns && shape.back() == columns;
    if (shape.size() > 2 || (!is_one && !per_column)) return std::nullopt;
    const auto floats = value->as<float>();
    if (!std::ranges::all_of(floats, [](float f) { return std::isfinite(f); })) return std::nullopt;
    return std::vector<float>(floats.begin(), floats.end());
  }

  std::optional<Chain> chain_before(const Node& quantize) const {
    Chain out;
    const std::optional<QuantizedOperand> to = quantized_by(graph_, quantize);
    if (!to || !to->is_8bit_per_tensor()) return std::nullopt;
    out.to = *to;
    const Node* before = wiring_.only_producer(quantize.inputs[0]);
    if (before != nullptr && before->op_type == "Relu") {
      out.relu = true;
      before = wiring_.only_producer(before->inputs[0]);
    }
    if (before == nullptr || before->op_type != "Add") return std::nullopt;
    out.add = before;
    for (const std::size_t side : {0U, 1U}) {
      out.gemm = wiring_.only_producer(before->inputs[side]);
      if (!is_product(out.gemm)) continue;
      const std::int64_t columns = params_of<QGemmParams>(*out.gemm).geometry.cols;
      const auto addends = addends_of(before->inputs[1 - side], columns);
      if (!addends) return std::nullopt;
      out.addends = *addends;
      return out;
    }
    return std::nullopt;
  }

  // Every column's sums, from the weights.
  std::vector<Column> columns_of(const Chain& chain) const {
    const auto& params = params_of<QGemmParams>(*chain.gemm);
    const GemmGeometry& g = params.geometry;
    const DType type = *graph_.value(chain.gemm->inputs[0]).dtype;
    const std::int64_t least = min_of(type) - params.a->zero_point_at(0);
    const std::int64_t most = max_of(type) - params.a->zero_point_at(0);
    const std::vector<std::int64_t> b = graph_.value(chain.gemm->inputs[3]).constant->integers();
    const std::vector<float> products = qgemm_scale(params.alpha, *params.a, *params.b, nullptr);
    std::vector<Column> out(static_cast<std::size_t>(g.cols));
    for (std::int64_t n = 0; n < g.cols; ++n) {
      Column& column = out[static_cast<std::size_t>(n)];
      for (std::int64_t k = 0; k < g.depth; ++k) {
        const std::int64_t w = b[g.b_index(k, n)] - params.b->zero_point_at(n);
        column.least += std::min(w * least, w * most);
        column.most += std::max(w * least, w * most);
      }
      column.product = products[products.size() == 1 ? 0 : as_index(n)];
      column.addend = chain.addends[chain.addends.size() == 1 ? 0 : as_index(n)];
    }
    return out;
  }

  // The scale of b and the bias with which the results of column n are those of the file.
  static std::optional<Biased> search(const QGemmParams& params, std::int64_t n,
                                      const Column& column, const Rounding& y, float& b_scale) {
    const double real_bias =
        std::nearbyint(static_cast<double>(column.addend) / static_cast<double>(column.product));
    if (!is_int32(column.least) || !is_int32(column.most) || std::fabs(real_bias) > 2e9)
      return std::nullopt;
    const Steps steps(column, y);
    Quantization b{{1.0F}, {0}};
    const Quantization to{{y.y_scale}, {0}};
    for (int i = 0; i <= 2 * kMostSteps; ++i) {
      b.scale[0] = moved(params.b->scale_at(n), i % 2 == 0 ? i / 2 : -(i + 1) / 2);
      const float scale = qgemm_scale(params.alpha, *params.a, b, &to)[0];
      if (!std::isnormal(b.scale[0]) || !std::isnormal(scale)) return std::nullopt;
      for (const int more : {0, 1, -1}) {
        const Biased form{static_cast<std::int32_t>(real_bias) + more, scale};
        if (!steps.agree(form)) continue;
        b_scale = b.scale[0];
        return form;
      }
    }
    return std::nullopt;
  }

  std::optional<Parameters> parameters_of(const Chain& chain) const {
    const auto& params = params_of<QGemmParams>(*chain.gemm);
    const int zero = chain.to.quantization.zero_point_at(0);
    const int low = static_cast<int>(min_of(chain.to.dtype)) - zero;
    const Rounding y{chain.to.quantization.scale_at(0), chain.relu ? std::max(low, 0) : low,
                     static_cast<int>(max_of(chain.to.dtype)) - zero};
    if (y.low > y.high) return std::nullopt;
    Parameters out;
    const std::vector<Column> columns = columns_of(chain);
    for (std::size_t n = 0; n < columns.size(); ++n) {
      float b_scale = 0;
      const auto found = search(params, static_cast<std::int64_t>(n), columns[n], y, b_scale);
      if (!found) return std::nullopt;
      out.b_scale.push_back(b_scale);
      out.bias.push_back(found->bias);
    }
    return out;
  }

  void fuse(int i) {
    const std::optional<Chain> chain = chain_before(graph_.nodes[static_cast<std::size_t>(i)]);
    if (!chain) return;
    const std::int64_t columns = params_of<QGemmParams>(*chain->gemm).geometry.cols;
    if (columns > columns_left_) {
      graph_.fusions.missed(*chain->add, "products have too many columns to search for biases");
      return;
    }
    columns_left_ -= columns;
    const std::optional<Parameters> parameters = parameters_of(*chain);
    if (!parameters) {
      graph_.fusions.missed(*chain->add, "no bias of integers gives the same results for all sums");
      return;
    }
    graph_.fusions.fused(*chain->add, "became the bias of the product before it");
    wiring_.replace(i, fused_node(*chain, *parameters, graph_.nodes[static_cast<std::size_t>(i)]));
  }

  Node fused_node(const Chain& chain, const Parameters& parameters, const Node& quantize) {
    const QGemmParams params = params_of<QGemmParams>(*chain.gemm);
    const auto columns = static_cast<std::int64_t>(parameters.bias.size());
    Node out = *chain.gemm;
    out.op = nullptr;
    out.params.reset();
    out.domain = kEtch;
    out.inputs.resize(9, kNoValue);
    out.inputs[4] = graph_.add_constant(Tensor::of<float>({columns}, parameters.b_scale));
    out.inputs[5] = columns_of_zero_point(chain.gemm->inputs[5], columns);
    out.inputs[6] = graph_.add_constant(Tensor::of<std::int32_t>({columns}, parameters.bias));
    out.inputs[7] = chain.to.scale;
    out.inputs[8] = chain.to.zero_point != kNoValue
                        ? chain.to.zero_point
                        : graph_.add_constant(Tensor(chain.to.dtype, {}));
    out.outputs = quantize.outputs;
    if (chain.relu)
      out.attributes["clamp_low"] = std::int64_t{chain.to.quantization.zero_point_at(0)};
    Sink none;
    ETCH_CHECK(resolve_node(graph_, out, none));
    return out;
  }

  // As many as scales.
  ValueId columns_of_zero_point(ValueId id, std::int64_t columns) {
    const Tensor& zero = *graph_.value(id).constant;
    if (zero.size() == columns) return id;
    Tensor out(zero.dtype(), {columns});
    std::ranges::fill(out.mutable_bytes(), zero.bytes()[0]);
    return graph_.add_constant(std::move(out));
  }

  Graph& graph_;
  Wiring wiring_;
  std::int64_t columns_left_ = kMostColumns;
};

}  // namespace

void fuse_biases(Graph& graph) {
  graph.opsets.emplace(kEtch, 1);
  BiasFusion(graph).run();
}

}  // namespace etch
