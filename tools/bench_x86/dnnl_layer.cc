// One int8 convolution by oneDNN, for tools/bench-x86: its preferred layouts, weights reordered
// beforehand, with zero points or without (less work: not the same result, but the stronger peer).
#include <omp.h>

#include <cstdint>
#include <cstring>
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>
#include <vector>

namespace {

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

}  // namespace

extern "C" {

// As tools/bench_x86/dnnl_runner.py has it.
struct LayerFacts {
  std::int64_t channels, filters, groups, height, width, out_height, out_width;
  std::int64_t kernel_height, kernel_width, stride;
  std::int64_t pads[4];  // top, left, bottom, right
  std::int64_t is_signed, zero_points, input_zero, output_zero, threads;
  const std::int8_t* weights;  // OIHW
  const std::int32_t* bias;
  const float* scales;  // from accumulator to output, per filter
};
}

namespace {

struct Layer {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::convolution_forward convolution;
  std::unordered_map<int, dnnl::memory> arguments;
  dnnl::memory::desc plain_input, plain_output;
  int threads = 1;
};

dnnl::memory::desc weights_desc(const LayerFacts& facts, bool any) {
  if (facts.groups == 1) {
    return {{facts.filters, facts.channels, facts.kernel_height, facts.kernel_width},
            Type::s8,
            any ? Tag::any : Tag::oihw};
  }
  return {{facts.groups, facts.filters / facts.groups, facts.channels / facts.groups,
           facts.kernel_height, facts.kernel_width},
          Type::s8,
          any ? Tag::any : Tag::goihw};
}

dnnl::primitive_attr attributes_of(const LayerFacts& facts) {
  dnnl::primitive_attr attributes;
  attributes.set_output_scales(1 << 1,
                               std::vector<float>(facts.scales, facts.scales + facts.filters));
  if (facts.zero_points != 0) {
    attributes.set_zero_points(DNNL_ARG_SRC, 0, {static_cast<std::int32_t>(facts.input_zero)});
    attributes.set_zero_points(DNNL_ARG_DST, 0, {static_cast<std::int32_t>(facts.output_zero)});
  }
  return attributes;
}

dnnl::memory filled(const dnnl::memory::desc& desc, const dnnl::engine& engine, const void* data) {
  dnnl::memory memory(desc, engine);
  std::memcpy(memory.get_data_handle(), data, desc.get_size());
  return memory;
}

dnnl::memory reordered(Layer& layer, dnnl::memory from, const dnnl::memory::desc& to) {
  if (from.get_desc() == to) return from;
  dnnl::memory result(to, layer.engine);
  dnnl::reorder(from, result).execute(layer.stream, from, result);
  layer.stream.wait();
  return result;
}

std::unique_ptr<Layer> make(const LayerFacts& facts) {
  auto layer = std::make_unique<Layer>();
  layer->threads = static_cast<int>(facts.threads);
  omp_set_num_threads(layer->threads);
  const Type type = facts.is_signed != 0 ? Type::s8 : Type::u8;
  const dnnl::memory::dims input = {1, facts.channels, facts.height, facts.width};
  const dnnl::memory::dims output = {1, facts.filters, facts.out_height, facts.out_width};
  layer->plain_input = {input, type, Tag::nhwc};
  layer->plain_output = {output, type, Tag::nhwc};
  const dnnl::memory::desc bias({facts.filters}, Type::s32, Tag::a);
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      {input, type, Tag::any}, weights_desc(facts, true), bias, {output, type, Tag::any},
      {facts.stride, facts.stride}, {facts.pads[0], facts.pads[1]}, {facts.pads[2], facts.pads[3]});
  const dnnl::convolution_forward::primitive_desc chosen(desc, attributes_of(facts), layer->engine);
  layer->convolution = dnnl::convolution_forward(chosen);
  const dnnl::memory weights = filled(weights_desc(facts, false), layer->engine, facts.weights);
  layer->arguments = {{DNNL_ARG_SRC, dnnl::memory(chosen.src_desc(), layer->engine)},
                      {DNNL_ARG_WEIGHTS, reordered(*layer, weights, chosen.weights_desc())},
                      {DNNL_ARG_BIAS, filled(bias, layer->engine, facts.bias)},
                      {DNNL_ARG_DST, dnnl::memory(chosen.dst_desc(), layer->engine)}};
  return layer;
}

}  // namespace

extern "C" {

// Null if oneDNN has no such convolution.
void* dnnl_layer_make(const LayerFacts* facts) {
  try {
    return make(*facts).release();
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

void dnnl_layer_free(void* pointer) { delete static_cast<Layer*>(pointer); }

// `image`: channels last.
void dnnl_layer_set_input(void* pointer, const void* image) {
  auto& layer = *static_cast<Layer*>(pointer);
  dnnl::memory& input = layer.arguments.at(DNNL_ARG_SRC);
  input = reordered(layer, filled(layer.plain_input, layer.engine, image), input.get_desc());
}

void dnnl_layer_run(void* pointer) {
  auto& layer = *static_cast<Layer*>(pointer);
  omp_set_num_threads(layer.threads);
  layer.convolution.execute(layer.stream, layer.arguments);
  layer.stream.wait();
}

void dnnl_layer_get_output(void* pointer, void* image) {
  auto& layer = *static_cast<Layer*>(pointer);
  const dnnl::memory plain = reordered(layer, layer.arguments.at(DNNL_ARG_DST), layer.plain_output);
  std::memcpy(image, plain.get_data_handle(), layer.plain_output.get_size());
}

const char* dnnl_layer_version() {
  static const std::string text = [] {
    const dnnl_version_t* version = dnnl_version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }();
  return text.c_str();
}

}  // extern "C"
