// One quantized convolution with random weights, types, zero points and scales, as a node of a
// model under construction; see cases.h.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/cases.h"
#include "tests/support/model_builder.h"

namespace etch {

DType any_8bit(Dice& dice);
// The least, the greatest, the middle or any value of the type.
int any_zero_point(Dice& dice, DType type);

// Sizes of x as the operator takes it.
Shape input_shape(const ConvShape& shape);

// Scale and zero point of an activation.
struct QuantizedActivation {
  DType type = DType::kU8;
  float scale = 1;
  int zero_point = 0;
};

class ConvNode {
 public:
  // x of `type` with any scale and zero point.
  ConvNode(const ConvShape& shape, DType type, Scaling scaling, Dice& dice);
  // x as given, so that convolutions can follow one another.
  ConvNode(const ConvShape& shape, const QuantizedActivation& x, Scaling scaling, Dice& dice);

  // Adds the node and its arguments, whose names begin with `prefix`. Returns the arguments that
  // became inputs of the model, in order.
  std::vector<Tensor> add(ModelBuilder& model, const std::string& x, const std::string& y,
                          const std::string& prefix) const;
  const QuantizedActivation& y() const { return y_; }
  // "u8s8u8_c4m6g2_k3x1...": for names of cases.
  std::string describe() const;

 private:
  void draw(Scaling scaling, Dice& dice);
  void draw_scales(Scaling scaling, Dice& dice);
  std::map<std::string, Attribute> attributes() const;
  std::vector<std::pair<std::string, Tensor>> arguments() const;  // in order; "": omitted
  std::int64_t out_channels() const { return shape_.group * shape_.out_per_group; }
  std::int64_t products() const;  // per output

  ConvShape shape_;
  QuantizedActivation x_, y_;
  Tensor w_, w_scale_, w_zero_point_, bias_;
  bool has_bias_ = false;
  bool has_x_zero_point_ = true, has_w_zero_point_ = true;  // ConvInteger may omit them
};

// Adds `name` as a float32 or 8-bit scalar.
void add_activation(ModelBuilder& model, const std::string& name,
                    const QuantizedActivation& activation);

}  // namespace etch
