// Operators as the mutator writes them: what their inputs mostly are; see mutations.h. The table is
// about what is likely, not about what is right: nodes only have to pass the first checks.
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include "compiler/ops/op.h"
#include "fuzz/mutations.h"

namespace etch::fuzz {

namespace {

// One letter per input:
//   x  a value of the graph        w  8-bit weights for it      f  float weights, a few or one
//   s  a scale                     z  an 8-bit zero point       b  an int32 bias
//   i  a short list of int64       n  an int64 scalar           r  a float scalar
//   -  omitted                     |  what follows may be left out
struct Operator {
  const char* type;
  const char* domain;
  const char* inputs;
  const char* attributes;  // from which some are taken
};

constexpr const char* kMs = "com.microsoft";
constexpr const char* kWindow = "pads strides dilations group auto_pad kernel_shape";
constexpr const char* kPool =
    "kernel_shape kernel_shape kernel_shape pads strides auto_pad ceil_mode count_include_pad "
    "dilations channels_last storage_order";
constexpr const char* kRecurrent =
    "hidden_size direction direction layout clip activations activation_alpha activation_beta "
    "linear_before_reset input_forget";
constexpr const char* kResize =
    "mode coordinate_transformation_mode nearest_mode axes exclude_outside antialias "
    "keep_aspect_ratio_policy cubic_coeff_a extrapolation_value";

constexpr const char* kHeads =
    "num_heads num_heads q_num_heads kv_num_heads kv_num_heads is_causal unidirectional scale "
    "softcap "
    "qk_matmul_output_mode left_window_size right_window_size mask_filter_value do_rotary "
    "local_window_size rotary_interleaved smooth_softmax qkv_hidden_sizes";

constexpr Operator kOperators[] = {
    {"QLinearConv", "", "xszwszsz|b", kWindow},
    {"QLinearConv", kMs, "xszwszsz|b",
     "pads strides dilations group auto_pad kernel_shape channels_last"},
    {"QLinearConvTranspose", "com.ms.internal.nhwc", "xszwszsz|b",
     "pads strides dilations group auto_pad kernel_shape output_padding output_shape"},
    {"QLinearConv", "org.etch", "xszwszsz|b", "pads strides group"},
    {"QLinearConvAdd", "org.etch", "xszwszszxsz|b", "pads strides group"},
    {"Table", "org.etch", "xw", "axis of"},
    {"ConvRelu", "org.etch", "xf|f", kWindow},
    {"ConvInteger", "", "xw|zz", kWindow},
    {"Conv", "", "xf|f", kWindow},
    {"ConvTranspose", "", "xf|f",
     "pads strides dilations group auto_pad kernel_shape output_padding output_shape"},
    {"MatMulInteger", "", "xw|zz", ""},
    {"MatMulInteger", "", "xx", ""},
    {"QLinearMatMul", "", "xszwszsz", ""},
    {"QLinearMatMul", "", "xszxszsz", ""},
    {"QGemm", kMs, "xszwsz|bsz", "transA transB alpha"},
    {"MatMulIntegerToFloat", kMs, "xwss|zzf", ""},
    {"DynamicQuantizeMatMul", kMs, "xws|zf", ""},
    {"MatMulNBits", kMs, "xws|zbf", "K N bits block_size accuracy_level"},
    {"Gemm", "", "xf|f", "transA transB alpha beta"},
    {"MatMul", "", "xf", ""},
    {"QuantizeLinear", "", "xs|z", "axis saturate output_dtype block_size precision"},
    {"DequantizeLinear", "", "xs|z", "axis block_size output_dtype"},
    {"QuantizeLinear", kMs, "xs|z", "axis"},
    {"DequantizeLinear", kMs, "xs|z", "axis"},
    {"DynamicQuantizeLinear", "", "x", ""},
    {"QLinearAdd", kMs, "xszxszsz", ""},
    {"QLinearMul", kMs, "xszxszsz", ""},
    {"QLinearAdd", kMs, "xszwszsz", ""},
    {"QLinearConcat", kMs, "szxszxsz", "axis axis axis"},
    {"QLinearAveragePool", kMs, "xszsz", kPool},
    {"QLinearGlobalAveragePool", kMs, "xszsz", "channels_last"},
    {"QLinearLeakyRelu", kMs, "xszsz", "alpha"},
    {"QLinearSigmoid", kMs, "xszsz", ""},
    {"QLinearSoftmax", kMs, "xszsz", "axis opset"},
    {"QLinearWhere", kMs, "xxszxszsz", ""},
    {"MaxPool", "", "x", kPool},
    {"AveragePool", "", "x", kPool},
    {"GlobalAveragePool", "", "x", ""},
    {"GlobalMaxPool", "", "x", ""},
    {"Clip", "", "x|rr", "min max"},
    {"Pad", "", "xi|r", "mode pads value"},
    {"Pad", kMs, "xi|r", "mode"},
    {"Concat", "", "xx", "axis axis axis"},
    {"Slice", "", "xii|ii", "starts ends axes"},
    {"Slice", "", "xxx|ii", ""},
    {"NonZero", "", "x", ""},
    {"Compress", "", "xx", "axis"},
    {"Unique", "", "x", "axis sorted"},
    {"SplitToSequence", "", "x|n", "axis keepdims"},
    {"SequenceConstruct", "", "xx", ""},
    {"SequenceInsert", "", "xx|n", ""},
    {"SequenceErase", "", "x|n", ""},
    {"SequenceAt", "", "xn", ""},
    {"SequenceLength", "", "x", ""},
    {"ConcatFromSequence", "", "x", "axis new_axis"},
    {"NhwcMaxPool", kMs, "x", kPool},
    {"Split", "", "x|i", "axis split num_outputs"},
    {"Reshape", "", "xi", "allowzero"},
    {"Flatten", "", "x", "axis"},
    {"Squeeze", "", "x|i", "axes"},
    {"Unsqueeze", "", "xi", "axes"},
    {"Transpose", "", "x", "perm"},
    {"Expand", "", "xi", ""},
    {"Tile", "", "xi", ""},
    {"Gather", "", "xi", "axis"},
    {"GatherElements", "", "xi", "axis"},
    {"GatherND", "", "xi", "batch_dims"},
    {"ScatterND", "", "xif", "reduction"},
    {"ScatterElements", "", "xif", "axis reduction"},
    {"OneHot", "", "xnf", "axis"},
    {"ReverseSequence", "", "xi", "time_axis batch_axis"},
    {"Trilu", "", "x|n", "upper"},
    {"CumSum", "", "xn", "exclusive reverse"},
    {"CenterCropPad", "", "xi", "axes"},
    {"Einsum", "", "xf", "equation equation equation"},
    {"Einsum", "", "x", "equation equation equation"},
    {"RoiAlign", "", "xri", "mode sampling_ratio output_height output_width spatial_scale"},
    {"GridSample", "", "xf", "mode padding_mode align_corners"},
    {"AffineGrid", "", "fi", "align_corners"},
    {"DeformConv", "", "xff|fx", "strides dilations pads group offset_group"},
    {"Det", "", "x", ""},
    {"MelWeightMatrix", "", "nnnrr", "output_datatype"},
    {"Col2Im", "", "xii", "pads strides dilations"},
    {"LpPool", "", "x", kPool},
    {"MaxUnpool", "", "xi", kPool},
    {"GatherBlockQuantized", kMs, "wis|z", "bits block_size gather_axis quantize_axis"},
    {"Resize", "", "x-r|i", kResize},
    {"Resize", "", "x--i", kResize},
    {"Resize", "", "xf", kResize},
    {"Upsample", "", "xf", "mode scales"},
    {"DepthToSpace", "", "x", "blocksize mode"},
    {"SpaceToDepth", "", "x", "blocksize"},
    {"Softmax", "", "x", "axis"},
    {"LogSoftmax", "", "x", "axis"},
    {"ReduceMean", "", "x|i", "axes keepdims noop_with_empty_axes"},
    {"ReduceMax", "", "x|i", "axes keepdims noop_with_empty_axes"},
    {"ReduceSum", "", "x|i", "axes keepdims noop_with_empty_axes"},
    {"ReduceProd", "", "x|i", "axes keepdims noop_with_empty_axes"},
    {"ReduceL2", "", "x|i", "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSumExp", "", "x|i", "axes keepdims noop_with_empty_axes"},
    {"LpNormalization", "", "x", "axis p"},
    {"Hardmax", "", "x", "axis"},
    {"Sin", "", "x", ""},
    {"BitShift", "", "xx", "direction"},
    {"BitwiseAnd", "", "xx", ""},
    {"GroupNormalization", "", "xff", "num_groups epsilon"},
    {"ArgMax", "", "x", "axis keepdims select_last_index"},
    {"TopK", "", "xi", "axis largest sorted k"},
    {"BatchNormalization", "", "xffff", "epsilon momentum training_mode"},
    {"RNN", "", "xff|fixx", kRecurrent},
    {"GRU", "", "xff|fixx", kRecurrent},
    {"LSTM", "", "xff|fixxf", kRecurrent},
    {"DynamicQuantizeLSTM", kMs, "xwwfixxfszsz", kRecurrent},
    {"LayerNormalization", "", "xf|f", "axis epsilon stash_type"},
    {"InstanceNormalization", "", "xff", "epsilon"},
    {"RMSNormalization", "", "xf", "axis epsilon stash_type"},
    {"SimplifiedLayerNormalization", "", "xf", "axis epsilon"},
    {"SkipLayerNormalization", kMs, "xxf|ff", "epsilon"},
    {"SkipSimplifiedLayerNormalization", kMs, "xxf|f", "epsilon"},
    {"EmbedLayerNormalization", kMs, "xxfffff|xx", "epsilon mask_index_type"},
    {"QEmbedLayerNormalization", kMs, "xxwwwww-sssss|zzzzz", "epsilon"},
    {"RotaryEmbedding", "", "xff|x", "num_heads interleaved rotary_embedding_dim"},
    {"RotaryEmbedding", kMs, "xiff", "num_heads interleaved rotary_embedding_dim"},
    {"Attention", "", "xxx|xxx", kHeads},
    {"Attention", "", "xxx|---i", kHeads},
    {"Attention", kMs, "xf|fxxx", kHeads},
    {"FlexAttention", "ai.onnx.preview", "xxx", "scale softmax_precision"},
    {"LinearAttention", "", "xxx|xxx", "q_num_heads kv_num_heads scale update_rule chunk_size"},
    {"QAttention", kMs, "xwfss|xzz", kHeads},
    {"MultiHeadAttention", kMs, "xxx|fxxxx", kHeads},
    {"MultiHeadAttention", kMs, "x", kHeads},
    {"GroupQueryAttention", kMs, "xxxxxbn|ff", kHeads},
    {"GroupQueryAttention", kMs, "xxxxxbn|----x", kHeads},
    {"LRN", "", "x", "size alpha beta bias"},
    {"Cast", "", "x", "to to to saturate round_mode"},
    {"BitCast", "", "x", "to to to"},
    {"Constant", "", "", "value value_int value_ints value_float value_floats"},
    {"ConstantOfShape", "", "i", "value"},
    {"Shape", "", "x", "start end"},
    {"Range", "", "nnn", ""},
    {"Range", "", "rrr", ""},
    {"Where", "", "xxx", ""},
    {"Pow", "", "xr", ""},
    {"PRelu", "", "xf", ""},
    {"NonMaxSuppression", "", "xx|nrr", ""},
    {"QuantizeV2", "org.tensorflow", "xrr", "mode T round_mode axis"},
    {"Quantize", "org.tensorflow", "xrr", "mode T"},
    {"Dequantize", "org.tensorflow", "xrr", "mode T axis"},
    {"Mul", "", "xf", ""},
    {"Add", "", "xf", ""},
    {"Add", "", "xx", ""},
    {"Relu", "", "x", ""},
};

Dims some_dims(Random& random) {
  Dims dims;
  for (int i = random.pick({0, 1, 2, 4, 4, 4, 5}); i > 0; --i) dims.push_back(random.size());
  return dims;
}

// Weights that may fit a value: the same number of axes and, mostly, as many input channels.
Dims weight_dims(const onnx::GraphProto& graph, const std::string& of, Random& random) {
  const Dims x = known_dims(graph, of);
  if (x.size() < 2 || random.one_in(5)) return some_dims(random);
  if (x.size() == 2) return {x[1], random.size()};
  Dims dims = {random.size(), x[1]};
  if (random.one_in(3)) dims = {x[1], 1};  // depthwise
  for (std::size_t i = 2; i < x.size(); ++i) dims.push_back(1 + random.below(3));
  return dims;
}

std::string constant(onnx::GraphProto& graph, int type, const Dims& dims, Random& random) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(fresh_name(random));
  fill(tensor, type, dims, random);
  return tensor.name();
}

class Writer {
 public:
  Writer(onnx::GraphProto& graph, Random& random)
      : graph_(graph),
        random_(random),
        values_(value_names(graph, random)),
        zero_point_(random.pick({kUint8, kUint8, kInt8})) {}

  std::string input(char kind) {
    switch (kind) {
      case 'x':
        last_ = random_.of(values_);
        if (first_.empty()) first_ = last_;
        return last_;
      case 'w':
        return constant(graph_, random_.pick({kUint8, kInt8}), weight_dims(graph_, last_, random_),
                        random_);
      case 'f':
        return constant(graph_, kFloat, random_.one_in(2) ? vector() : weight(), random_);
      case 's':
        return constant(graph_, kFloat, random_.one_in(8) ? vector() : Dims{}, random_);
      case 'z':
        return constant(graph_, zero_point_, random_.one_in(8) ? vector() : Dims{}, random_);
      case 'b':
        return constant(graph_, kInt32, vector(), random_);
      case 'i':
        return constant(graph_, kInt64, {random_.pick({1, 1, 2, 4, 8, 0})}, random_);
      case 'n':
        return constant(graph_, kInt64, {}, random_);
      case 'r':
        return constant(graph_, kFloat, {}, random_);
      default:
        return {};
    }
  }

  const std::string& first() const { return first_; }

 private:
  Dims vector() { return {random_.size()}; }
  Dims weight() { return weight_dims(graph_, last_, random_); }

  onnx::GraphProto& graph_;
  Random& random_;
  const std::vector<std::string> values_;
  int zero_point_;
  std::string first_, last_;
};

void write_inputs(const Operator& chosen, Writer& writer, onnx::NodeProto& node, Random& random) {
  for (const char* at = chosen.inputs; *at != '\0'; ++at) {
    if (*at == '|') {
      if (random.one_in(2)) return;
      continue;
    }
    node.add_input(writer.input(*at));
  }
}

void write_attributes(const Operator& chosen, onnx::NodeProto& node, Random& random) {
  std::istringstream names(chosen.attributes);
  for (std::string name; names >> name;) {
    if (!random.one_in(3)) continue;
    bool given = false;
    for (const auto& attribute : node.attribute()) given = given || attribute.name() == name;
    if (!given) add_attribute(node, name, random);
  }
}

}  // namespace

void import_domain(onnx::ModelProto& model, const std::string& domain) {
  for (const auto& import : model.opset_import()) {
    if (import.domain() == domain) return;
  }
  auto& import = *model.add_opset_import();
  import.set_domain(domain);
  import.set_version(1);
}

void add_operator(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  const Operator& chosen = kOperators[random.below(std::size(kOperators))];
  import_domain(model, chosen.domain);
  Writer writer(graph, random);
  onnx::NodeProto node;
  node.set_op_type(chosen.type);
  node.set_domain(chosen.domain);
  write_inputs(chosen, writer, node, random);
  write_attributes(chosen, node, random);
  const std::string result = fresh_name(random);
  node.add_output(result);
  if (random.one_in(10)) node.add_output(fresh_name(random));
  const int end = graph.node_size();
  graph.add_node()->Swap(&node);
  if (random.one_in(3) || writer.first().empty()) {
    graph.add_output()->set_name(result);
    return;
  }
  // Between a value and one of its users: the new node moves before that.
  const int place = random.below(end + 1);
  replace_one_use(graph, writer.first(), result, end, random);
  for (int i = end; i > place; --i) graph.mutable_node()->SwapElements(i, i - 1);
}

void change_operator(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  if (graph.node_size() == 0) return;
  onnx::NodeProto& node = *graph.mutable_node(random.below(graph.node_size()));
  const OpDef& op = *random.of(all_ops());
  const OpName& name = random.of(op.names);
  node.set_op_type(std::string(name.type));
  node.set_domain(std::string(name.domain));
  import_domain(model, node.domain());
}

}  // namespace etch::fuzz
