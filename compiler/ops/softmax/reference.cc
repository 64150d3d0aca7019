// Softmax and LogSoftmax by plain loops; see op.h.
#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/reference_math.h"
#include "compiler/ops/softmax/op.h"
#include "runtime/etch_float.h"
#include "runtime/etch_transcendental.h"

namespace etch {

namespace {
void softmax(std::vector<float>& row, bool logarithm) {
  float most = std::numeric_limits<float>::lowest();
  for (const float x : row) most = x > most ? x : most;
  std::vector<float> powers;
  FloatSum sum;
  for (const float x : row) {
    powers.push_back(rt::exp_f32(x - most));
    sum.add(powers.back());
  }
  if (!(sum.value() > 0)) {  // NaN or 0
    std::fill(row.begin(), row.end(), std::bit_cast<float>(0x7fc00000U));
    return;
  }
  const float less = logarithm ? rt::log_f32(sum.value()) : 0, scale = 1.0F / sum.value();
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = logarithm ? (row[i] - most) - less : powers[i] * scale;
  }
}
}  // namespace

std::vector<Tensor> softmax_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Softmax>(node);
  const SoftmaxRows& rows = params.rows;
  Tensor y(DType::kF32, inputs[0]->shape());
  if (y.size() == 0) return {y};
  const auto from = inputs[0]->as<float>();
  const auto to = y.as<float>();
  std::vector<float> row(as_index(rows.size));
  for (std::int64_t o = 0; o < rows.outer; ++o) {
    for (std::int64_t i = 0; i < rows.inner; ++i) {
      const std::int64_t first = o * rows.size * rows.inner + i;
      for (std::size_t k = 0; k < row.size(); ++k) {
        row[k] = from[as_index(first) + k * as_index(rows.inner)];
      }
      softmax(row, params.kind == Softmax::Kind::kLogarithm);
      for (std::size_t k = 0; k < row.size(); ++k) {
        to[as_index(first) + k * as_index(rows.inner)] = row[k];
      }
    }
  }
  return {y};
}

}  // namespace etch
