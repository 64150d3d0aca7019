// Recurrent layers by their definition: the products of the input for all steps, then the loop; see
// op.h.
#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/recurrent/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

// [rows, directions * gate_elements]
Tensor float_products(const Recurrence& r, const Tensor& x, const Tensor& w, FloatSteps steps) {
  const std::int64_t rows = r.time * r.batch, columns = r.directions() * r.gate_elements();
  Tensor out(DType::kF32, {rows, columns});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t n = 0; n < columns; ++n) {
      TermSum sum;
      for (std::int64_t k = 0; k < r.input; ++k) {
        sum += FloatTerm{x.as<float>()[as_index(row * r.input + k)],
                         w.as<float>()[as_index(n * r.input + k)], steps};
      }
      out.as<float>()[as_index(row * columns + n)] = sum.value();
    }
  }
  return out;
}

struct Quantized {
  std::vector<std::int32_t> values;
  float scale = 1;
  std::int32_t zero_point = 0;
};

// As DynamicQuantizeLinear does it.
Quantized quantized(const Tensor& x) {
  float low = 0, high = 0;
  for (const float value : x.as<float>()) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  Quantized out;
  if (high > low) out.scale = (high - low) / 255.0F;
  out.zero_point = round_and_saturate(0.0F - low / out.scale, 0, DType::kU8);
  for (const float value : x.as<float>())
    out.values.push_back(round_and_saturate(value / out.scale, out.zero_point, DType::kU8));
  return out;
}

Tensor integer_products(const Recurrence& r, std::span<const Tensor* const> inputs) {
  const std::int64_t rows = r.time * r.batch, gates = r.gate_elements();
  const Quantized x = quantized(*inputs[0]);
  const std::vector<std::int64_t> w = inputs[1]->integers();
  const Tensor& scale = *inputs[8];
  const Tensor* const zero = inputs[9];
  const auto entry = [&](const Tensor& t, std::int64_t d, std::int64_t n) {
    return as_index(t.size() == 1 ? 0 : t.shape().size() == 1 ? d : d * gates + n);
  };
  Tensor out(DType::kF32, {rows, r.directions() * gates});
  std::size_t at = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t d = 0; d < r.directions(); ++d) {
      for (std::int64_t n = 0; n < gates; ++n) {
        const std::int64_t w_zero = zero == nullptr ? 0 : zero->integers()[entry(*zero, d, n)];
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < r.input; ++k) {
          sum += (x.values[as_index(row * r.input + k)] - x.zero_point) *
                 (w[as_index((d * r.input + k) * gates + n)] - w_zero);
        }
        const float factor = x.scale * scale.as<float>()[entry(scale, d, n)];
        out.as<float>()[at++] = static_cast<float>(wrap_to_int32(sum)) * factor;
      }
    }
  }
  return out;
}

}  // namespace

std::vector<Tensor> reference_recurrent(const Node& node, std::span<const Tensor* const> inputs) {
  const Recurrence& r = params_of<RecurrentParams>(node).recurrence;
  const bool quantized = r.weights == Recurrence::Weights::kQuantized;
  std::vector<const Tensor*> all(inputs.begin(), inputs.end());
  all.resize(12, nullptr);
  const Tensor products = quantized ? integer_products(r, all)
                                    : float_products(r, *inputs[0], *inputs[1], node.float_steps);
  std::vector<const Tensor*> loop{&products, all[2], all[3], all[4], all[5], all[6], all[7]};
  if (quantized) loop.insert(loop.end(), {all[10], all[11]});
  std::vector<Tensor> outputs = recurrent_loop(r, node.float_steps, loop);
  outputs.resize(node.outputs.size());
  return outputs;
}

}  // namespace etch
