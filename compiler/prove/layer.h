// A layer of integer products as its operator defines it, with no thought of how code computes it:
// what `etch prove` holds compiled code against. A matrix product is a convolution of one axis.
//
// Bytes here are as they are in memory: int8 is kept as uint8 with 128 added, and the zero points
// with it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/qlinear_binary/op.h"

namespace etch {

// Another tensor that is added to the result.
struct LayerResidual {
  QLinearBinary sum;  // of the result and the residual
  bool is_a = false;  // the residual is the first of the two
  int low = 0, high = 255;
};

struct Layer {
  ConvGeometry geometry;
  std::vector<int> weights;        // [C][tap][M / group], zero points subtracted
  std::vector<std::int32_t> bias;  // [M]
  std::vector<float> scale;        // [M]: fl(fl(x_scale * w_scale) / y_scale)
  int x_zero_point = 0;            // as stored
  int x_flip = 0, y_flip = 0;      // what is added to values in memory
  DType y_type = DType::kU8;       // of the result before the residual is added
  int y_zero_point = 0;            // not as stored
  int low = 0, high = 255;         // limits, not as stored
  std::optional<LayerResidual> residual;
  const Tensor* weight_tensor = nullptr;  // in the graph, which must live

  std::int64_t taps() const;
  std::int64_t inputs() const;     // positions of one channel of one batch element
  std::int64_t positions() const;  // of outputs, of one channel of one batch element
  std::int64_t outputs() const { return geometry.batch * positions() * geometry.out_channels; }
  int weight(std::int64_t c, std::int64_t tap, std::int64_t m_in_group) const {
    return weights[static_cast<std::size_t>((c * taps() + tap) * geometry.out_per_group() +
                                            m_in_group)];
  }
  // The stored byte of an accumulator of this type of result.
  int result(std::int32_t accumulator, float factor, int residual_byte) const;
};

// The layer of a node after the passes. Null, with the reason in `why`, for others.
std::optional<Layer> layer_of(const Graph& graph, const Node& node, std::string& why);

// Of sums alone: no bias, factors or limits. Zero points of w: 1 or M.
Layer sums_layer(const ConvGeometry& geometry, const Tensor& w,
                 const std::vector<int>& w_zero_point);

// Adds a tag to the bias of each channel of such a node / doubles the scale of its weights: what
// then differs in the constants of its step are the biases / the factors. A convolution without a
// bias gets one, and so does QLinearMatMul, which has none. False: it is no such node, or its bias
// is known at run time only.
bool tag_bias(Graph& graph, Node& node);
// The tags of a layer's channels: consecutive, and 17 times the least is more than the greatest.
std::int32_t bias_tag(std::int64_t channel, std::int64_t channels);
void double_scale(Node& node);
// Gives all channels of such a node one factor, as near to `factor` as scales allow: see
// Layer::scale.
void set_factor(Node& node, float factor);

// The inputs that an output depends on, by the definition: for every input position the taps
// through which it adds to which output position.
class Reach {
 public:
  struct Entry {
    int tap = 0, output = 0;
  };
  explicit Reach(const Layer& layer);
  const std::vector<Entry>& of_input(std::int64_t position) const {
    return entries_[static_cast<std::size_t>(position)];
  }
  // The other way round: (tap, input position) of an output position.
  const std::vector<Entry>& of_output(std::int64_t position) const {
    return back_[static_cast<std::size_t>(position)];
  }
  // So far apart, per axis, that no output depends on two input positions (on no common input).
  std::vector<std::int64_t> input_spacing, output_spacing;

 private:
  std::vector<std::vector<Entry>> entries_, back_;
};

// Exact sums of products [batch][output position][M], without bias: sums += x * w for one stored
// byte at (n, c, position) that is `difference` away from the zero point.
void add_input(const Layer& layer, const Reach& reach, std::array<std::int64_t, 3> at,
               int difference, std::vector<std::int32_t>& sums);

}  // namespace etch
