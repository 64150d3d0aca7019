// Mutations of attributes, by what operators expect under their names; see mutations.h.
#include <iterator>
#include <string_view>

#include "fuzz/mutations.h"

namespace etch::fuzz {

namespace {

using Proto = onnx::AttributeProto;

// What an attribute holds. Lists of two per axis are twice as long as others.
enum class Holds {
  kFlag,
  kNumber,
  kType,
  kReal,
  kReals,
  kList,
  kListOfTwo,
  kWord,
  kWords,
  kTensor
};

struct Known {
  const char* name;
  Holds holds;
};
constexpr Known kKnown[] = {
    {"pads", Holds::kListOfTwo},
    {"strides", Holds::kList},
    {"dilations", Holds::kList},
    {"kernel_shape", Holds::kList},
    {"output_padding", Holds::kList},
    {"output_shape", Holds::kList},
    {"group", Holds::kNumber},
    {"auto_pad", Holds::kWord},
    {"axis", Holds::kNumber},
    {"axes", Holds::kList},
    {"perm", Holds::kList},
    {"split", Holds::kList},
    {"starts", Holds::kList},
    {"ends", Holds::kList},
    {"shape", Holds::kList},
    {"value_ints", Holds::kList},
    {"keepdims", Holds::kFlag},
    {"ceil_mode", Holds::kFlag},
    {"channels_last", Holds::kFlag},
    {"count_include_pad", Holds::kFlag},
    {"transA", Holds::kFlag},
    {"transB", Holds::kFlag},
    {"exclude_outside", Holds::kFlag},
    {"antialias", Holds::kFlag},
    {"noop_with_empty_axes", Holds::kFlag},
    {"select_last_index", Holds::kFlag},
    {"largest", Holds::kFlag},
    {"sorted", Holds::kFlag},
    {"allowzero", Holds::kFlag},
    {"saturate", Holds::kFlag},
    {"storage_order", Holds::kFlag},
    {"training_mode", Holds::kFlag},
    {"fmod", Holds::kFlag},
    {"to", Holds::kType},
    {"output_dtype", Holds::kType},
    {"dtype", Holds::kType},
    {"stash_type", Holds::kType},
    {"precision", Holds::kType},
    {"k", Holds::kNumber},
    {"size", Holds::kNumber},
    {"num_heads", Holds::kNumber},
    {"q_num_heads", Holds::kNumber},
    {"kv_num_heads", Holds::kNumber},
    {"rotary_embedding_dim", Holds::kNumber},
    {"qk_matmul_output_mode", Holds::kNumber},
    {"left_window_size", Holds::kNumber},
    {"right_window_size", Holds::kNumber},
    {"local_window_size", Holds::kNumber},
    {"mask_index_type", Holds::kFlag},
    {"is_causal", Holds::kFlag},
    {"unidirectional", Holds::kFlag},
    {"interleaved", Holds::kFlag},
    {"rotary_interleaved", Holds::kFlag},
    {"do_rotary", Holds::kFlag},
    {"smooth_softmax", Holds::kFlag},
    {"softcap", Holds::kReal},
    {"mask_filter_value", Holds::kReal},
    {"scale", Holds::kReal},
    {"qkv_hidden_sizes", Holds::kList},
    {"start", Holds::kNumber},
    {"end", Holds::kNumber},
    {"blocksize", Holds::kNumber},
    {"block_size", Holds::kNumber},
    {"bits", Holds::kNumber},
    {"K", Holds::kNumber},
    {"N", Holds::kNumber},
    {"accuracy_level", Holds::kNumber},
    {"gather_axis", Holds::kNumber},
    {"quantize_axis", Holds::kNumber},
    {"num_outputs", Holds::kNumber},
    {"opset", Holds::kNumber},
    {"value_int", Holds::kNumber},
    {"alpha", Holds::kReal},
    {"beta", Holds::kReal},
    {"bias", Holds::kReal},
    {"min", Holds::kReal},
    {"max", Holds::kReal},
    {"epsilon", Holds::kReal},
    {"value", Holds::kTensor},
    {"value_float", Holds::kReal},
    {"value_floats", Holds::kReals},
    {"scales", Holds::kReals},
    {"activation_params", Holds::kReals},
    {"cubic_coeff_a", Holds::kReal},
    {"extrapolation_value", Holds::kReal},
    {"ratio", Holds::kReal},
    {"mode", Holds::kWord},
    {"nearest_mode", Holds::kWord},
    {"coordinate_transformation_mode", Holds::kWord},
    {"keep_aspect_ratio_policy", Holds::kWord},
    {"activation", Holds::kWord},
    {"approximate", Holds::kWord},
    {"round_mode", Holds::kWord},
    {"T", Holds::kType},
    {"batch_dims", Holds::kNumber},
    {"time_axis", Holds::kFlag},
    {"batch_axis", Holds::kFlag},
    {"upper", Holds::kFlag},
    {"exclusive", Holds::kFlag},
    {"reverse", Holds::kFlag},
    {"p", Holds::kNumber},
    {"num_groups", Holds::kNumber},
    {"reduction", Holds::kWord},
    {"equation", Holds::kWord},
    {"direction", Holds::kWord},
    {"padding_mode", Holds::kWord},
    {"update_rule", Holds::kWord},
    {"hidden_size", Holds::kNumber},
    {"layout", Holds::kFlag},
    {"linear_before_reset", Holds::kFlag},
    {"input_forget", Holds::kFlag},
    {"clip", Holds::kReal},
    {"activations", Holds::kWords},
    {"activation_alpha", Holds::kReals},
    {"activation_beta", Holds::kReals},
};

constexpr const char* kWords[] = {"NOTSET",
                                  "SAME_UPPER",
                                  "SAME_LOWER",
                                  "VALID",
                                  "nearest",
                                  "linear",
                                  "cubic",
                                  "constant",
                                  "reflect",
                                  "edge",
                                  "wrap",
                                  "DCR",
                                  "CRD",
                                  "half_pixel",
                                  "asymmetric",
                                  "tanh",
                                  "align_corners",
                                  "pytorch_half_pixel",
                                  "tf_crop_and_resize",
                                  "floor",
                                  "half_pixel_symmetric",
                                  "round_prefer_floor",
                                  "round_prefer_ceil",
                                  "ceil",
                                  "stretch",
                                  "not_larger",
                                  "not_smaller",
                                  "Relu",
                                  "LeakyRelu",
                                  "Clip",
                                  "Sigmoid",
                                  "HardSigmoid",
                                  "none",
                                  "MIN_FIRST",
                                  "SCALED",
                                  "HALF_TO_EVEN",
                                  "HALF_AWAY_FROM_ZERO",
                                  "",
                                  "Tanh",
                                  "add",
                                  "mul",
                                  "LEFT",
                                  "RIGHT",
                                  "reflection",
                                  "border",
                                  "zeros",
                                  "ij,jk->ik",
                                  "...i,...i->...",
                                  "ii->i",
                                  "abcd,abce->de",
                                  "i...->...",
                                  "forward",
                                  "reverse",
                                  "bidirectional",
                                  "Affine",
                                  "ScaledTanh",
                                  "gated",
                                  "delta",
                                  "gated_delta"};

void set_list(Proto& proto, int count, Random& random) {
  const bool wild = random.one_in(6);
  proto.set_type(Proto::INTS);
  for (int i = 0; i < count; ++i) proto.add_ints(wild ? random.integer() : random.below(4));
}

void set_value(Proto& proto, Holds holds, Random& random) {
  const int axes = random.pick({1, 1, 2, 2, 2, 2, 3, 4});
  switch (holds) {
    case Holds::kFlag:
      proto.set_type(Proto::INT);
      proto.set_i(random.one_in(8) ? random.integer() : random.below(2));
      break;
    case Holds::kNumber:
      proto.set_type(Proto::INT);
      proto.set_i(random.integer());
      break;
    case Holds::kType:
      proto.set_type(Proto::INT);
      proto.set_i(random.one_in(8) ? random.integer() : random.below(24));
      break;
    case Holds::kReal:
      proto.set_type(Proto::FLOAT);
      proto.set_f(random.real());
      break;
    case Holds::kReals:
      proto.set_type(Proto::FLOATS);
      for (int i = 0; i < axes; ++i) proto.add_floats(random.real());
      break;
    case Holds::kList:
      set_list(proto, axes, random);
      break;
    case Holds::kListOfTwo:
      set_list(proto, 2 * axes, random);
      break;
    case Holds::kWord:
      proto.set_type(Proto::STRING);
      proto.set_s(kWords[random.below(std::size(kWords))]);
      break;
    case Holds::kWords:
      proto.set_type(Proto::STRINGS);
      for (int i = 0; i < axes; ++i) proto.add_strings(kWords[random.below(std::size(kWords))]);
      break;
    case Holds::kTensor:
      proto.set_type(Proto::TENSOR);
      fill(*proto.mutable_t(), random.pick({kFloat, kUint8, kInt64, kInt32}),
           random.one_in(3) ? Dims{} : Dims{random.size()}, random);
  }
}

Holds kind_of(const std::string& name) {
  for (const Known& known : kKnown) {
    if (name == known.name) return known.holds;
  }
  return Holds::kNumber;
}

void change_list(Proto& proto, Random& random) {
  const int size = proto.ints_size();
  switch (random.below(6)) {
    case 0:
      proto.add_ints(random.integer());
      break;
    case 1:
      if (size > 0) proto.mutable_ints()->RemoveLast();
      break;
    case 2:
      if (size > 1) proto.mutable_ints()->SwapElements(0, random.below(size));
      break;
    case 3:
      if (size > 0) {
        const int at = random.below(size);
        proto.set_ints(at, (proto.ints(at) & 0xFFFFF) + random.pick({1, -1}));
      }
      break;
    default:
      if (size > 0) proto.set_ints(random.below(size), random.integer());
  }
}

void change_value(Proto& proto, Random& random) {
  switch (proto.type()) {
    case Proto::INTS:
      return change_list(proto, random);
    case Proto::INT:
      proto.set_i(random.one_in(2) ? (proto.i() & 0xFFFFF) + random.pick({1, -1})
                                   : random.integer());
      break;
    case Proto::FLOAT:
      proto.set_f(random.real());
      break;
    case Proto::FLOATS:
      if (proto.floats_size() > 0 && !random.one_in(4)) {
        proto.set_floats(random.below(proto.floats_size()), random.real());
      } else {
        proto.add_floats(random.real());
      }
      break;
    case Proto::STRING:
      proto.set_s(kWords[random.below(std::size(kWords))]);
      break;
    case Proto::TENSOR:
      mutate_tensor(*proto.mutable_t(), random);
      break;
    default:
      proto.set_type(Proto::INT);
  }
}

// A type that its content contradicts, or a subgraph.
void contradict(Proto& proto, Random& random) {
  switch (random.below(4)) {
    case 0:
      proto.set_type(static_cast<Proto::AttributeType>(random.below(15)));
      break;
    case 1:
      proto.set_type(Proto::GRAPH);
      proto.mutable_g()->set_name("inner");
      break;
    case 2:
      proto.set_ref_attr_name("outer");
      break;
    default:
      proto.clear_name();
  }
}

}  // namespace

void add_attribute(onnx::NodeProto& node, const std::string& name, Random& random) {
  Proto& proto = *node.add_attribute();
  proto.set_name(name);
  set_value(proto, kind_of(name), random);
}

void mutate_attribute(onnx::NodeProto& node, Random& random) {
  const int count = node.attribute_size();
  if (count == 0 || random.one_in(6))
    return add_attribute(node, kKnown[random.below(std::size(kKnown))].name, random);
  const int at = random.below(count);
  Proto& proto = *node.mutable_attribute(at);
  switch (random.below(16)) {
    case 0:
      node.mutable_attribute()->DeleteSubrange(at, 1);
      break;
    case 1:
      node.add_attribute()->CopyFrom(Proto(proto));
      break;
    case 2:
      contradict(proto, random);
      break;
    case 3:
    case 4: {
      const std::string name = proto.name();
      node.mutable_attribute()->DeleteSubrange(at, 1);
      add_attribute(node, name, random);
      break;
    }
    default:
      change_value(proto, random);
  }
}

}  // namespace etch::fuzz
