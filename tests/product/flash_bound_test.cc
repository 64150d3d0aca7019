// What the constants of generated code take, at most, of the parameters of real networks as their
// files store them. The networks are beside the project in ../shared/models; without them this is
// skipped.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "compiler/compile.h"
#include "compiler/host/data_set.h"
#include "compiler/import/file.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

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

// Networks and targets that take more than the others, and why.
double factor_of(const std::string& name, const std::string& target) {
  if (name == "onnxflow_kws_weightonly") return 2.6;  // integer weights that floats are made of
  if (name == "half_weights_tcn") return 2.0;         // halves that floats are made of
  if (target == "avx2") return 2.8;                   // weights of products are int16
  // Depthwise layers of 5 x 5 whose weights minus their zero point have 9 bits.
  if (name == "dyn_dw5x5_u8w") return target == "avx512_vnni" ? 2.3 : 1.4;
  if (name == "opencvzoo_ppocrv3_det_qop") return 1.3;  // narrow layers
  if (name == "dyn_mobilenetv3s_u8w") return 1.4;       // narrow layers, weights of 9 bits
  return 1.2;
}

TEST(FlashBound, OfEveryRealNetworkIsHeld) {
  if (!fs::exists(kModels)) GTEST_SKIP() << kModels << " is not here";
  constexpr double kTables = 4096;  // of networks with hardly any parameters
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

}  // namespace
}  // namespace etch
