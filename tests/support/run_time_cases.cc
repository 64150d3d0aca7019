// See run_time_cases.h.
#include "tests/support/run_time_cases.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/tensor_data.h"
#include "compiler/ops/reference_math.h"
#include "tests/support/conv_node.h"
#include "tests/support/model_builder.h"

namespace etch {

namespace {

void add_input(onnx::GraphProto& graph, const onnx::TensorProto& tensor) {
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(tensor.name());
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(tensor.data_type());
  type.mutable_shape();
  for (const std::int64_t size : tensor.dims())
    type.mutable_shape()->add_dim()->set_dim_value(size);
}

Tensor tensor_of(const onnx::TensorProto& proto) {
  Sink sink;
  auto tensor = decode_tensor(proto, Limits{}, proto.name(), sink);
  EXPECT_TRUE(tensor) << errors_of(sink);
  return tensor ? *tensor : Tensor();
}

onnx::ModelProto parsed(const Case& each) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(each.model)) << each.name;
  return model;
}

}  // namespace

Case with_run_time_arguments(const Case& each, int one_in, Dice& dice) {
  onnx::ModelProto model = parsed(each);
  onnx::GraphProto& graph = *model.mutable_graph();
  Case out{each.name + "_late", {}, each.inputs};
  const auto constants = graph.initializer();
  graph.clear_initializer();
  for (const onnx::TensorProto& constant : constants) {
    if (dice.one_in(one_in)) {
      add_input(graph, constant);
      out.inputs.push_back(tensor_of(constant));
    } else {
      *graph.add_initializer() = constant;
    }
  }
  out.model = model.SerializeAsString();
  return out;
}

Case as_conv_integer(const Case& each) {
  onnx::ModelProto model = parsed(each);
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
  if (node.op_type() != "QLinearConv" || !node.domain().empty()) return each;
  const auto old = node.input();
  node.set_op_type("ConvInteger");
  node.clear_input();
  for (const int i : {0, 3, 2, 5}) node.add_input(old[i]);
  return {each.name + "_integer", model.SerializeAsString(), each.inputs};
}

namespace {

struct MatrixShape {
  Shape a, b;
  std::int64_t rows = 1, cols = 1;
};

MatrixShape any_matrices(Dice& dice) {
  MatrixShape out;
  const std::int64_t depth = dice.between(1, 40);
  out.rows = dice.between(1, 6);
  out.cols = dice.between(1, 40);
  out.a = {out.rows, depth};
  out.b = {depth, out.cols};
  if (dice.one_in(6)) {
    out.a = {depth};
    out.rows = 1;
  } else if (dice.one_in(3)) {
    out.a.insert(out.a.begin(), {dice.between(1, 2), dice.between(1, 3)});
    if (dice.one_in(2)) out.b.insert(out.b.begin(), dice.one_in(2) ? 1 : out.a[1]);
  }
  return out;
}

// One value, or one per row or column.
Tensor zero_points(Dice& dice, DType type, Shape shape) {
  return random_bytes(dice, type, dice.one_in(2) ? Shape{} : std::move(shape));
}

Case matrix_product(int index, Dice& dice) {
  const MatrixShape shape = any_matrices(dice);
  const DType a = any_8bit(dice);
  const DType b = any_8bit(dice);
  const bool integer = dice.one_in(2);
  ModelBuilder model(13);
  model.input("a", a, {shape.a.begin(), shape.a.end()});
  model.initializer("b", random_bytes(dice, b, shape.b));
  const bool per_row = integer && shape.a.size() == 2;
  model.initializer("a_zero", zero_points(dice, a, per_row ? Shape{shape.rows} : Shape{}));
  model.initializer("b_zero", zero_points(dice, b, {shape.cols}));
  if (integer) {
    model.node("MatMulInteger", {"a", "b", "a_zero", "b_zero"}, {"y"});
  } else {
    const DType y = any_8bit(dice);
    model.initializer("a_scale", Tensor::of<float>({}, {0.02F}));
    model.initializer("b_scale", Tensor::of<float>({}, {0.013F}));
    model.initializer("y_scale", Tensor::of<float>({}, {1.7F}));
    model.initializer("y_zero", narrowed(y, {}, {any_zero_point(dice, y)}));
    model.node("QLinearMatMul",
               {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"}, {"y"});
  }
  model.output("y");
  return {cat(integer ? "matmul_integer_" : "qlinear_matmul_", index),
          model.bytes(),
          {random_bytes(dice, a, shape.a)}};
}

}  // namespace

std::vector<Case> matrix_products(int count) {
  Dice dice(77);
  std::vector<Case> out;
  for (int i = 0; i < count; ++i) out.push_back(matrix_product(i, dice));
  return out;
}

namespace {

// One matrix of the product as a graph input, seen through a Transpose if `transposed`.
void add_matrix(ModelBuilder& model, Case& out, Dice& dice, const std::string& name, DType type,
                Shape shape, bool transposed) {
  if (!transposed) {
    model.input(name, type, {shape.begin(), shape.end()});
    out.inputs.push_back(random_bytes(dice, type, shape));
    return;
  }
  std::vector<std::int64_t> perm;
  for (std::size_t d = 0; d < shape.size(); ++d) perm.push_back(static_cast<std::int64_t>(d));
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  model.input(name + "_in", type, {shape.begin(), shape.end()});
  out.inputs.push_back(random_bytes(dice, type, shape));
  model.node("Transpose", {name + "_in"}, {name}, {{"perm", perm}});
}

Tensor zero_point(DType type, int index) {
  const std::vector<std::int32_t> stored{0, 128, 255, 77};
  const std::int32_t zero = stored[static_cast<std::size_t>(index % 4)];
  return narrowed(type, {}, {type == DType::kS8 ? zero - 128 : zero});
}

Case product_of_two_inputs(int index, std::int64_t rows, std::int64_t depth, std::int64_t cols,
                           Dice& dice) {
  Shape a{rows, depth}, b{depth, cols};
  if (index % 3 != 0) a.insert(a.begin(), {index % 5 == 0 ? 1 : 2, 3});
  if (index % 3 == 1) b.insert(b.begin(), {2, index % 2 == 0 ? 3 : 1});
  const DType a_type = dice.one_in(2) ? DType::kU8 : DType::kS8;
  const DType b_type = dice.one_in(2) ? DType::kU8 : DType::kS8;
  const bool integer = index % 4 == 3;
  Case out{cat("two_inputs_", index, "_", rows, "x", depth, "x", cols), {}, {}};
  ModelBuilder model(13);
  add_matrix(model, out, dice, "a", a_type, a, dice.one_in(3));
  add_matrix(model, out, dice, "b", b_type, b, dice.one_in(2));
  const bool late = integer && dice.one_in(2);  // zero points
  for (const auto& [name, type] : {std::pair{"a_zero", a_type}, {"b_zero", b_type}}) {
    const Tensor zero = zero_point(type, static_cast<int>(dice.between(0, 3)));
    if (!late) {
      model.initializer(name, zero);
      continue;
    }
    model.input(name, type, {});
    out.inputs.push_back(zero);
  }
  if (integer) {
    model.node("MatMulInteger", {"a", "b", "a_zero", "b_zero"}, {"y"});
  } else {
    const DType y = any_8bit(dice);
    const std::vector<float> scales(static_cast<std::size_t>(cols), 0.011F);
    model.initializer("a_scale", Tensor::of<float>({}, {0.02F}));
    model.initializer("b_scale", b.size() == 2 && index % 2 == 0 ? Tensor::of<float>({cols}, scales)
                                                                 : Tensor::of<float>({}, {0.013F}));
    model.initializer("y_scale", Tensor::of<float>({}, {0.9F}));
    model.initializer("y_zero", narrowed(y, {}, {any_zero_point(dice, y)}));
    model.node("QLinearMatMul",
               {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"}, {"y"});
  }
  model.output("y");
  out.model = model.bytes();
  return out;
}

}  // namespace

std::vector<Case> products_of_two_inputs(int stride) {
  Dice dice(78);
  std::vector<Case> out;
  int index = 0;
  for (const std::int64_t rows : {1, 2, 5, 9}) {
    for (const std::int64_t depth : {1, 3, 4, 5, 9, 16, 17, 67}) {
      for (const std::int64_t cols : {1, 2, 3, 4, 5, 8, 9, 15, 17, 33, 65}) {
        Case each = product_of_two_inputs(index, rows, depth, cols, dice);
        if (index++ % stride == 0) out.push_back(std::move(each));
      }
    }
  }
  return out;
}

}  // namespace etch
