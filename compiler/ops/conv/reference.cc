// Conv by its definition; see op.h for the order of the sum.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/conv/op.h"
#include "compiler/ops/conv_geometry/walk.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_conv(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<ConvParams>(node);
  const ConvGeometry& geometry = params.geometry;
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
        const float result =
            bias == nullptr ? sum.value() : sum.value() + bias->as<float>()[as_index(m)];
        const float least = params.relu && result < 0 ? 0 : result;
        out[as_index(yi)] = params.relu && params.most < least ? params.most : least;
      });
  return {y};
}

}  // namespace etch
