// ConvTranspose by its definition; see op.h for the order of the sum.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/conv_geometry/walk.h"
#include "compiler/ops/conv_transpose/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_conv_transpose(const Node& node,
                                             std::span<const Tensor* const> inputs) {
  const ConvGeometry& geometry = params_of<ConvTransposeParams>(node).geometry;
  const auto x = inputs[0]->as<float>();
  const auto w = inputs[1]->as<float>();
  const Tensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  Tensor y(DType::kF32, geometry.output_shape());
  const auto out = y.as<float>();
  ConvWalk(geometry).run<TermSum>(
      [&](std::int64_t xi, std::int64_t wi, std::int64_t) {
        return FloatTerm{x[as_index(xi)], w[as_index(wi)], node.float_steps};
      },
      [&](std::int64_t yi, std::int64_t m, const TermSum& sum) {
        out[as_index(yi)] =
            bias == nullptr ? sum.value() : sum.value() + bias->as<float>()[as_index(m)];
      });
  return {y};
}

}  // namespace etch
