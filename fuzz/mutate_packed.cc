// A product with weights of few bits in blocks (MatMulNBits) whose many sizes agree, which chance
// alone never hits: that of operators.cc is refused for them. Zero points are packed, floats or not
// there, depths may name their blocks (g_idx), and blocks need not divide the depth. See
// mutations.h.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/mutations.h"

namespace etch::fuzz {

namespace {

constexpr int kFloat16 = 10;

class PackedWriter {
 public:
  PackedWriter(onnx::GraphProto& graph, Random& random)
      : graph_(graph),
        random_(random),
        bits_(random.pick({2, 4, 4, 4, 8})),
        block_(random.pick({16, 16, 16, 32, 128})),
        depth_(1 + random.below(random.one_in(5) ? 150 : 40)),
        cols_(1 + random.below(random.one_in(8) ? 20 : 5)),
        blocks_((depth_ - 1) / block_ + 1),
        real_(random.one_in(4) ? kFloat16 : kFloat) {}

  void write(onnx::NodeProto& node) {
    node.set_op_type("MatMulNBits");
    node.set_domain("com.microsoft");
    const bool by_index = bits_ == 4 && random_.one_in(3);
    node.add_input(rows());
    node.add_input(constant(kUint8, {cols_, blocks_, block_ * bits_ / 8}));
    node.add_input(constant(real_, {cols_ * blocks_}));
    node.add_input(by_index ? "" : zero_points());
    node.add_input(by_index ? block_indices() : "");
    if (random_.one_in(3)) node.add_input(constant(real_, {cols_}));
    set(node, "K", depth_);
    set(node, "N", cols_);
    set(node, "bits", bits_);
    set(node, "block_size", block_);
    if (!random_.one_in(4)) set(node, "accuracy_level", random_.pick({0, 1, 2, 3, 4, 4, 4}));
  }

 private:
  std::string constant(int type, const Dims& dims) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(fresh_name(random_));
    fill(tensor, type, dims, random_);
    return tensor.name();
  }

  // A new input of the graph.
  std::string rows() {
    onnx::ValueInfoProto& info = *graph_.add_input();
    info.set_name(fresh_name(random_));
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(real_);
    if (random_.one_in(3)) tensor.mutable_shape()->add_dim()->set_dim_value(random_.size());
    tensor.mutable_shape()->add_dim()->set_dim_value(random_.size());
    tensor.mutable_shape()->add_dim()->set_dim_value(depth_);
    return info.name();
  }

  std::string zero_points() {
    if (random_.one_in(3)) return {};
    if (random_.one_in(3)) return constant(real_, {cols_ * blocks_});
    return constant(kUint8, {cols_ * ((blocks_ * bits_ + 7) / 8)});
  }

  // The blocks of all depths, some of which change places.
  std::string block_indices() {
    std::vector<std::int32_t> indices;
    for (std::int64_t k = 0; k < depth_; ++k)
      indices.push_back(static_cast<std::int32_t>(k / block_));
    for (int i = 0; i < 4; ++i)
      std::swap(indices.front(), indices[random_.next() % indices.size()]);
    if (random_.one_in(3)) indices.resize(static_cast<std::size_t>(blocks_ * block_));
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(fresh_name(random_));
    tensor.set_data_type(kInt32);
    tensor.add_dims(static_cast<std::int64_t>(indices.size()));
    for (const std::int32_t index : indices) tensor.add_int32_data(index);
    return tensor.name();
  }

  static void set(onnx::NodeProto& node, const char* name, std::int64_t value) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }

  onnx::GraphProto& graph_;
  Random& random_;
  const std::int64_t bits_, block_, depth_, cols_, blocks_;
  const int real_;
};

}  // namespace

void add_packed_product(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  import_domain(model, "com.microsoft");
  onnx::NodeProto& node = *graph.add_node();
  PackedWriter(graph, random).write(node);
  const std::string result = fresh_name(random);
  node.add_output(result);
  graph.add_output()->set_name(result);
}

}  // namespace etch::fuzz
