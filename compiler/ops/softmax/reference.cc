// Softmax and LogSoftmax by plain loops; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/softmax/op.h"
#include "runtime/etch_float.h"
#include "runtime/etch_functions.h"

namespace etch {

namespace {
void log_softmax(std::vector<float>& row) {
  const auto n = static_cast<std::int32_t>(row.size());
  const float most = rt::largest(row.data(), n);
  std::vector<float> powers(row.size());
  const float sum = rt::exp_and_sum(row.data(), powers.data(), n, most);
  const float logarithm = rt::log_f32(sum);
  for (float& x : row) x = (x - most) - logarithm;
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
      if (params.kind == Softmax::Kind::kLogarithm) {
        log_softmax(row);
      } else {
        rt::softmax_f32(row.data(), row.data(), 1, static_cast<std::int32_t>(rows.size));
      }
      for (std::size_t k = 0; k < row.size(); ++k) {
        to[as_index(first) + k * as_index(rows.inner)] = row[k];
      }
    }
  }
  return {y};
}

}  // namespace etch
