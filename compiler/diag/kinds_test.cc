// Every kind of diagnostic has a model (or file) that provokes it. A kind without a case here
// does not compile: Provoke<kind>::run is declared for all and defined one by one.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "compiler/diag/diagnostic.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/passes/resolve.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

template <DiagKind kind>
struct Provoke;

#define ETCH_CASE(id)            \
  template <>                    \
  struct Provoke<DiagKind::id> { \
    static void run(Sink& sink); \
  };                             \
  void Provoke<DiagKind::id>::run([[maybe_unused]] Sink& sink)

// x [1,4] -> Relu -> y: nothing wrong with it.
ModelBuilder sound_model() {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 4}).node("Relu", {"x"}, {"y"}).output("y");
  return model;
}

ETCH_CASE(kParse) { import_model("this is not a protobuf", {}, sink); }

ETCH_CASE(kVersion) {
  ModelBuilder model = sound_model();
  model.proto().set_ir_version(2);
  load(model, sink);
}

ETCH_CASE(kOp) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 4}).node("Unheard", {"x"}, {"y"}).output("y");
  load(model, sink);
}

ETCH_CASE(kUnsupported) {
  ModelBuilder model = sound_model();
  auto& attribute = *model.last_node().add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  attribute.mutable_g();
  load(model, sink);
}

ETCH_CASE(kGraph) {
  ModelBuilder model = sound_model();
  model.output("nobody makes this");
  load(model, sink);
}

ETCH_CASE(kName) {
  ModelBuilder model = sound_model();
  model.initializer("", Tensor::of<float>({1}, {1.0F}));
  load(model, sink);
}

ETCH_CASE(kType) {
  ModelBuilder model = sound_model();
  model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(999);
  load(model, sink);
}

ETCH_CASE(kTensor) {
  ModelBuilder model = sound_model();
  model.initializer("w", Tensor::of<float>({2}, {1.0F, 2.0F}));
  model.graph().mutable_initializer(0)->mutable_raw_data()->pop_back();
  load(model, sink);
}

ETCH_CASE(kExtData) {
  ModelBuilder model = sound_model();
  model.initializer("w", Tensor::of<float>({2}, {1.0F, 2.0F}));
  model.graph().mutable_initializer(0)->set_data_location(onnx::TensorProto::EXTERNAL);
  load(model, sink);
}

ETCH_CASE(kShape) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, "width"}).node("Relu", {"x"}, {"y"}).output("y");
  load(model, sink);
}

ETCH_CASE(kAttr) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 4});
  model.node("Relu", {"x"}, {"y"}, {{"colour", 3}}).output("y");
  load(model, sink);
}

ETCH_CASE(kQuant) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 4});
  model.initializer("scale", Tensor::of<float>({}, {0.0F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {0}));
  model.node("QuantizeLinear", {"x", "scale", "zero"}, {"y"}).output("y");
  load(model, sink);
}

ETCH_CASE(kLimit) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, std::int64_t{1} << 40}).output("x");
  load(model, sink);
}

ETCH_CASE(kIo) { read_tensor_file("no such folder/no such file", sink); }

TEST(DiagnosticKinds, TheModelThatTheCasesBreakIsSound) {
  Sink sink;
  EXPECT_TRUE(load(sound_model(), sink).has_value()) << errors_of(sink);
}

#define ETCH_DIAG_KIND(id, code, meaning)                                          \
  TEST(DiagnosticKinds, CanBeProvoked_##id) {                                      \
    Sink sink;                                                                     \
    Provoke<DiagKind::id>::run(sink);                                              \
    EXPECT_TRUE(has_error(sink, DiagKind::id)) << "reported: " << errors_of(sink); \
    EXPECT_EQ(sink.error_count(), 1U) << errors_of(sink);                          \
  }
#include "compiler/diag/kinds.def"
#undef ETCH_DIAG_KIND

}  // namespace
}  // namespace etch
