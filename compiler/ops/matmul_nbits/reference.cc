// MatMulNBits by its definition; see op.h.
#include <algorithm>
#include <cmath>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/matmul_nbits/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

struct Inputs {
  const Tensor& b;
  std::span<const float> scales;
  const Tensor* zeros;
};

// One block of one row of A as integers.
struct QuantizedBlock {
  std::vector<int> values;
  float scale = 0;
};

QuantizedBlock quantized(std::span<const float> a) {
  float largest = 0;
  for (const float v : a) largest = std::fabs(v) > largest ? std::fabs(v) : largest;
  QuantizedBlock out{{}, largest / 127.0F};
  const float factor = largest > 0 ? 127.0F / largest : 0.0F;
  for (const float v : a) {
    const float scaled = v * factor;
    const float limited = scaled > -127.0F ? std::min(scaled, 127.0F) : -127.0F;
    out.values.push_back(static_cast<int>(std::nearbyint(limited)));
  }
  return out;
}

float sum_of_floats(const MatMulNBits& p, const Inputs& in, std::span<const float> a,
                    std::int64_t n, FloatSteps steps) {
  TermSum sum;
  for (std::int64_t k = 0; k < p.depth; ++k) {
    const float scale = in.scales[as_index(n * p.blocks + k / p.block)];
    const float integer =
        static_cast<float>(p.value_at(in.b, n, k)) - p.zero_at(in.zeros, n, k / p.block);
    const float weight = integer * scale;
    sum += FloatTerm{a[as_index(k)], weight, steps};
  }
  return sum.value();
}

float sum_of_integers(const MatMulNBits& p, const Inputs& in, const std::vector<QuantizedBlock>& a,
                      std::int64_t n) {
  float sum = 0;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int64_t of_b = p.block_of_row(static_cast<std::int64_t>(i));
    const int zero = static_cast<int>(p.zero_at(in.zeros, n, of_b));
    std::int64_t dot = 0;
    for (const int value : a[i].values)
      dot += std::int64_t{value} * (p.value_at(in.b, n, at++) - zero);
    const float scale = a[i].scale * in.scales[as_index(n * p.blocks + of_b)];
    const float term = static_cast<float>(dot) * scale;
    sum += term;
  }
  return sum;
}

std::vector<QuantizedBlock> blocks_of(const MatMulNBits& p, std::span<const float> a) {
  std::vector<QuantizedBlock> out;
  const std::int64_t size = p.row_block();
  for (std::int64_t k = 0; k < p.depth; k += size)
    out.push_back(quantized(a.subspan(as_index(k), as_index(std::min(size, p.depth - k)))));
  return out;
}

}  // namespace

std::vector<Tensor> reference_matmul_nbits(const Node& node,
                                           std::span<const Tensor* const> inputs) {
  const auto& p = params_of<MatMulNBits>(node);
  const auto input = [&](std::size_t i) { return i < inputs.size() ? inputs[i] : nullptr; };
  const Inputs in{*inputs[1], inputs[2]->as<float>(), input(3)};
  const Tensor* const bias = input(5);
  Shape shape = inputs[0]->shape();
  shape.back() = p.cols;
  Tensor y(DType::kF32, shape);
  const auto out = y.as<float>();
  for (std::int64_t m = 0; m < p.rows; ++m) {
    const auto a = inputs[0]->as<float>().subspan(as_index(m * p.depth), as_index(p.depth));
    const auto blocks = p.quantizes_a ? blocks_of(p, a) : std::vector<QuantizedBlock>{};
    for (std::int64_t n = 0; n < p.cols; ++n) {
      const float sum = p.quantizes_a ? sum_of_integers(p, in, blocks, n)
                                      : sum_of_floats(p, in, a, n, node.float_steps);
      out[as_index(m * p.cols + n)] = bias == nullptr ? sum : sum + bias->as<float>()[as_index(n)];
    }
  }
  return {y};
}

}  // namespace etch
