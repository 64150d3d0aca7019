// What the constants of generated code take, at most, of the parameters of real networks as their
// files store them. The networks are beside the project in ../shared/models; without them this is
// skipped. Small networks of kinds that took more than others are made here.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/host/data_set.h"
#include "compiler/import/file.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/qdq_model.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(source_dir()) / ".." / "shared" / "models";

int bits_of(int type) {
  using Proto = onnx::TensorProto;
  static const std::map<int, int> kOther = {
      {Proto::FLOAT, 32},  {Proto::INT32, 32},  {Proto::UINT32, 32},  {Proto::INT64, 64},
      {Proto::DOUBLE, 64}, {Proto::UINT64, 64}, {Proto::FLOAT16, 16}, {Proto::BFLOAT16, 16},
      {Proto::INT16, 16},  {Proto::UINT16, 16}, {21, 4} /* UINT4 */,  {22, 4} /* INT4 */};
  const auto found = kOther.find(type);
  return found == kOther.end() ? 8 : found->second;
}

std::int64_t stored_bytes(const onnx::TensorProto& tensor) {
  std::int64_t n = bits_of(tensor.data_type());
  for (const std::int64_t dim : tensor.dims()) n *= dim;
  return (n + 7) / 8;
}

std::int64_t stored_bytes(const onnx::GraphProto& graph) {
  std::int64_t bytes = 0;
  for (const onnx::TensorProto& tensor : graph.initializer()) bytes += stored_bytes(tensor);
  for (const onnx::NodeProto& node : graph.node()) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_t()) bytes += stored_bytes(attribute.t());
      if (attribute.has_g()) bytes += stored_bytes(attribute.g());
    }
  }
  return bytes;
}

std::int64_t parameters_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromIstream(&in)) << file;
  return stored_bytes(model.graph());
}

std::int64_t constants_of(const Program& program) {
  std::int64_t out = 0;
  for (const auto& step : program.steps) {
    for (const ConstantArray& constant : step->constants) out += std::ssize(constant.bytes);
  }
  return out;
}

// Of every network: what small ones take besides is mostly tables and the rest of vectors.
constexpr double kTables = 4096;

// Networks and targets that take more than the others, and why.
double factor_of(const std::string& name, const std::string& target) {
  if (name == "onnxflow_kws_weightonly") return 2.6;  // integer weights that floats are made of
  if (target == "avx2") return 2.8;                   // weights of products are int16
  // Depthwise layers of 5 x 5 whose weights minus their zero point have 9 bits.
  if (name == "dyn_dw5x5_u8w") return target == "avx512_vnni" ? 2.3 : 1.4;
  if (name == "opencvzoo_ppocrv3_det_qop") return 1.3;  // narrow layers
  if (name == "dyn_mobilenetv3s_u8w") return 1.4;       // narrow layers, weights of 9 bits
  return 1.2;
}

TEST(FlashBound, OfEveryRealNetworkIsHeld) {
  if (!fs::exists(kModels)) GTEST_SKIP() << kModels << " is not here";
  int count = 0;
  for (const char* const kind : {"nets", "round2/nets"}) {
    for (const auto& entry : fs::directory_iterator(kModels / kind)) {
      const std::string name = entry.path().filename();
      // Targets: one for each way to pack weights.
      for (const std::string target : {"avx512_vnni", "avx2", "scalar", "cortex-m4"}) {
        Sink sink;
        const auto bytes = read_model_file((entry.path() / "model.onnx").string(), {}, sink);
        CompileOptions options;
        options.target = target;
        options.import.data_shapes = cli::shapes_of_inputs(entry.path() / "test_data_set_0");
        const auto program = bytes ? compile(*bytes, options, sink) : nullptr;
        ASSERT_NE(program, nullptr) << name << ":\n" << errors_of(sink);
        const auto stored = static_cast<double>(parameters_of(entry.path() / "model.onnx"));
        EXPECT_LE(static_cast<double>(constants_of(*program)),
                  factor_of(name, target) * stored + kTables)
            << name << " on " << target << ", " << stored << " bytes in the file";
        ++count;
      }
    }
  }
  EXPECT_GE(count, 4 * 35);
}

// ---- small networks of certain kinds, in QDQ form with int8 weights for each channel ----

// Of int8 or int4.
Tensor weights_of(DType type, Shape shape) {
  Tensor out(type, std::move(shape));
  std::uint32_t state = 1;
  for (std::byte& byte : out.mutable_bytes()) {
    state = state * 1'664'525 + 1'013'904'223;
    byte = static_cast<std::byte>(state >> 24);
    if (type == DType::kS4) byte = static_cast<std::byte>(std::to_integer<int>(byte) % 16 - 8);
  }
  return out;
}

class Layers {
 public:
  explicit Layers(const Shape& input, DType weights = DType::kS8)
      : qdq_(weights == DType::kS4 ? 21 : 13), type_(weights) {
    x_ = qdq_.input("x", input, 0.03F, zero_);
  }

  // Appends Conv or ConvTranspose with a bias and Relu, or whatever `after` names.
  void append(const char* op, const Shape& w, std::int64_t channels,
              const std::map<std::string, Attribute>& attributes, const char* after = "Relu") {
    const std::string name = cat("layer", ++count_);
    const bool transposed = std::string(op) == "ConvTranspose";
    const auto m = static_cast<std::size_t>(channels);
    const std::vector<float> scales(m, 0.004F), biases(m, 0.03F * 0.004F);
    const Tensor scale = transposed ? f32({}, {0.004F}) : f32({channels}, scales);
    const std::string weights = qdq_.weights(name + "_w", weights_of(type_, w), scale);
    const std::string bias =
        qdq_.weights(name + "_b", Tensor(DType::kS32, {channels}), f32({channels}, biases), 0);
    qdq_.model().node(op, {x_, weights, bias}, {name}, attributes);
    std::vector<std::string> inputs = {name};
    if (std::string(after) == "PRelu") {  // which quantizers take for an operator of its own
      qdq_.model().initializer(name + "_slope", f32({channels, 1, 1}, std::vector<float>(m, 0.1F)));
      inputs = {quantized(name), name + "_slope"};
    }
    if (*after != 0) qdq_.model().node(after, inputs, {name + "_after"});
    x_ = quantized(*after != 0 ? name + "_after" : name);
  }
  ModelBuilder& finish() {
    qdq_.model().output(x_);
    return qdq_.model();
  }

 private:
  std::string quantized(const std::string& name) {
    return qdq_.dequantize(qdq_.quantize(name, 0.03F, zero_), 0.03F, zero_);
  }

  Tensor zero_ = u8({}, {128});
  QdqModel qdq_;
  DType type_;
  std::string x_;
  int count_ = 0;
};

// A temporal network: causal convolutions whose dilation doubles.
Layers temporal(DType weights = DType::kS8) {
  Layers out({1, 8, 100}, weights);
  std::int64_t channels = 8;
  for (std::int64_t dilation = 1; dilation <= 32; dilation *= 2) {
    for (int i = 0; i < 2; ++i, channels = 32) {
      out.append("Conv", {32, channels, 3}, 32,
                 {{"dilations", Ints{dilation}}, {"pads", Ints{2 * dilation, 0}}});
    }
  }
  return out;
}

// FSRCNN: narrow layers, and at the end an image of three times the size from one wide kernel.
Layers super_resolution() {
  Layers out({1, 1, 32, 32});
  out.append("Conv", {56, 1, 5, 5}, 56, {{"pads", Ints{2, 2, 2, 2}}}, "PRelu");
  out.append("Conv", {12, 56, 1, 1}, 12, {}, "PRelu");
  for (int i = 0; i < 4; ++i)
    out.append("Conv", {12, 12, 3, 3}, 12, {{"pads", Ints{1, 1, 1, 1}}}, "PRelu");
  out.append("Conv", {56, 12, 1, 1}, 56, {}, "PRelu");
  out.append("ConvTranspose", {56, 1, 9, 9}, 1,
             {{"strides", Ints{3, 3}}, {"pads", Ints{4, 4, 4, 4}}, {"output_padding", Ints{2, 2}}},
             "");
  return out;
}

// YuNet: products of 64 channels, each before a depthwise layer, and four heads of 1 to 10.
Layers face_detector() {
  Layers out({1, 16, 20, 20});
  std::int64_t channels = 16;
  for (const std::int64_t next : {64, 64, 64, 10}) {
    out.append("Conv", {next, channels, 1, 1}, next, {}, "");
    out.append("Conv", {next, 1, 3, 3}, next, {{"pads", Ints{1, 1, 1, 1}}, {"group", next}});
    channels = next;
  }
  return out;
}

void expect_within(Layers layers, const std::string& target, double factor) {
  ModelBuilder& model = layers.finish();
  const auto stored = static_cast<double>(stored_bytes(model.graph()));
  Sink sink;
  CompileOptions options;
  options.target = target;
  const auto program = compile(model.bytes(), options, sink);
  ASSERT_NE(program, nullptr) << errors_of(sink);
  EXPECT_LE(static_cast<double>(constants_of(*program)), factor * stored + kTables)
      << target << ", " << stored << " bytes in the file";
}

TEST(FlashBound, OfATemporalNetworkIsHeld) {
  expect_within(temporal(), "avx512_vnni", 1.0);
  expect_within(temporal(), "scalar", 1.0);
  expect_within(temporal(), "cortex-m4", 1.2);
}

// Blocks of 3x3 and 1x1, as ResNet-8 has them.
Layers residual_blocks(DType weights) {
  Layers out({1, 3, 32, 32}, weights);
  std::int64_t channels = 3;
  for (const std::int64_t next : {16, 16, 32, 32, 64, 64}) {
    out.append("Conv", {next, channels, 3, 3}, next, {{"pads", Ints{1, 1, 1, 1}}});
    out.append("Conv", {next, next, 1, 1}, next, {});
    channels = next;
  }
  return out;
}

// Cores with SMLAD keep weights of 4 bits as they are; other targets widen them to 8 bits.
TEST(FlashBound, OfWeightsOfFourBitsIsHeld) {
  expect_within(temporal(DType::kS4), "cortex-m4", 1.2);
  expect_within(residual_blocks(DType::kS4), "cortex-m4", 1.2);
  expect_within(residual_blocks(DType::kS4), "cortex-m7", 1.2);
  expect_within(residual_blocks(DType::kS4), "cortex-m33", 1.2);
  expect_within(residual_blocks(DType::kS4), "scalar", 2.0);
}

// Weights and tables of float16: a table of tokens, a product of 16 rows and a convolution.
TEST(FlashBound, OfHalvesIsHeld) {
  const auto halves = [](const Shape& shape) {
    Tensor out(DType::kF16, shape);
    std::uint32_t state = 1;
    for (std::uint16_t& each : out.as<std::uint16_t>()) {
      state = state * 1'664'525 + 1'013'904'223;
      each = static_cast<std::uint16_t>(0x3000 + (state >> 20));
    }
    return out;
  };
  ModelBuilder model(17);
  model.input("at", DType::kS64, {16});
  model.initializer("table", halves({300, 64})).initializer("w", halves({64, 96}));
  model.initializer("k", halves({40, 1, 5, 5}));
  model.initializer("image", Tensor::of<std::int64_t>({4}, {1, 1, 16, 96}));
  model.node("Gather", {"table", "at"}, {"x"}).node("MatMul", {"x", "w"}, {"p"});
  model.node("Reshape", {"p", "image"}, {"i"}).node("Conv", {"i", "k"}, {"y"});
  model.output("y");
  const auto stored = static_cast<double>(stored_bytes(model.graph()));
  // Targets: one for each way to widen.
  for (const char* const target : {"avx512_vnni", "avx2", "scalar", "aarch64", "cortex-m4"}) {
    Sink sink;
    CompileOptions options;
    options.target = target;
    const auto program = compile(model.bytes(), options, sink);
    ASSERT_NE(program, nullptr) << errors_of(sink);
    EXPECT_LE(static_cast<double>(constants_of(*program)), 1.2 * stored) << target;
  }
}

// The last layer has 81 places in vectors of 8 lanes for 3 columns.
TEST(FlashBound, OfSuperResolutionIsHeld) {
  expect_within(super_resolution(), "avx512_vnni", 2.0);
  expect_within(super_resolution(), "scalar", 1.2);
  expect_within(super_resolution(), "cortex-m4", 1.2);
}

// Two rows of a depthwise layer are computed at once, each with vectors of its own of 12 taps
// for 9.
TEST(FlashBound, OfAFaceDetectorIsHeld) {
  expect_within(face_detector(), "avx512_vnni", 1.6);
  expect_within(face_detector(), "scalar", 1.2);
  expect_within(face_detector(), "cortex-m4", 1.2);
}

}  // namespace
}  // namespace etch
