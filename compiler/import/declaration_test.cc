// Tests of what graph inputs declare: types, symbolic sizes, which of them is the batch, and the
// options that fix the others.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/import/import.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

ModelBuilder relu_model(std::int64_t opset = 13) {
  ModelBuilder model(opset);
  model.input("x", DType::kF32, {1, 4}).node("Relu", {"x"}, {"y"}).output("y");
  return model;
}

std::string errors_of_declaration(const ModelBuilder& model, const ImportOptions& options = {}) {
  Sink sink;
  const auto graph = import_graph(model, sink, options);
  EXPECT_NE(graph.has_value(), sink.has_errors());
  return errors_of(sink);
}

// The shape that the first graph input is given, or the errors.
std::string first_shape(const ModelBuilder& model, const ImportOptions& options = {}) {
  Sink sink;
  const auto graph = import_graph(model, sink, options);
  return graph ? to_string(*graph->value(graph->inputs.at(0)).shape) : errors_of(sink);
}

TEST(ImportInput, ASymbolicBatchBecomesOneWithANote) {
  ModelBuilder model;
  model.input("x", DType::kF32, {"N", 3}).input("z", DType::kF32, {"N"}).output("x").output("z");
  Sink sink;
  const auto graph = import_graph(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->value(graph->inputs[0]).shape, (Shape{1, 3}));
  EXPECT_EQ(graph->value(graph->inputs[1]).shape, Shape{1});
  EXPECT_EQ(reports_of(sink),
            "model: note[E-SHAPE]: input 'x': the symbolic batch size 'N' is taken as 1\n");
}

// A voice detector: [batch, samples] and the state of a recurrence [layers, batch, units].
std::string shapes_of_detector(const Dim& batch, const Dim& samples, const ImportOptions& options) {
  ModelBuilder model;
  model.input("x", DType::kF32, {batch, samples}).input("h", DType::kF32, {2, batch, 4});
  model.output("x").output("h");
  Sink sink;
  const auto graph = import_graph(model, sink, options);
  if (!graph) return reports_of(sink);
  return to_string(*graph->value(graph->inputs[0]).shape) +
         to_string(*graph->value(graph->inputs[1]).shape);
}

TEST(ImportInput, TheBatchOfARecurrentStateIsTheBatch) {
  EXPECT_EQ(shapes_of_detector("N", 8, {}), "[1, 8][2, 1, 4]");
  EXPECT_EQ(shapes_of_detector("", 8, {}), "[1, 8][2, 1, 4]");
  ImportOptions given;
  given.input_shapes = {{"x", {3, 9}}};
  EXPECT_EQ(shapes_of_detector("N", "T", given), "[3, 9][2, 3, 4]");
  EXPECT_EQ(shapes_of_detector("", "", given), "[3, 9][2, 3, 4]");
  EXPECT_EQ(shapes_of_detector("N", "T", {}),
            "model: note[E-SHAPE]: input 'x': the symbolic batch size 'N' is taken as 1\n"
            "model: error[E-SHAPE]: input 'x': the symbolic size 'T' is not known; fix it with "
            "--dim T=N or --input-shape x=1,N\n");
}

TEST(ImportInput, TheMiddleSizeOfThreeIsNoBatchWhereNoFirstSizeIsOpen) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, "", 80}).input("y", DType::kF32, {1, "T", 8});
  model.output("x").output("y");
  EXPECT_EQ(errors_of_declaration(model),
            "model: error[E-SHAPE]: input 'x': the symbolic size without a name is not known; fix "
            "it with --input-shape x=1,N,80\n"
            "model: error[E-SHAPE]: input 'y': the symbolic size 'T' is not known; fix it with "
            "--dim T=N or --input-shape y=1,N,8\n");
  ModelBuilder lengths;  // of sequences, not of recurrent states
  lengths.input("x", DType::kF32, {1, "", 80}).input("n", DType::kF32, {""});
  lengths.output("x").output("n");
  EXPECT_EQ(errors_of_declaration(lengths),
            "model: error[E-SHAPE]: input 'x': the symbolic size without a name is not known; fix "
            "it with --input-shape x=1,N,80\n");
  ModelBuilder square;  // of a first size that is elsewhere too
  square.input("x", DType::kF32, {"T", 3}).input("y", DType::kF32, {3, "T"});
  square.output("x").output("y");
  EXPECT_NE(errors_of_declaration(square), "");
}

TEST(ImportInput, OtherSymbolicSizesNeedAFlag) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, "width"}).output("x");
  EXPECT_EQ(first_shape(model),
            "model: error[E-SHAPE]: input 'x': the symbolic size 'width' is not known; fix it "
            "with --dim width=N or --input-shape x=1,N\n");
  EXPECT_EQ(first_shape(model, {.dims = {{"width", 7}}, .input_shapes = {}, .limits = {}}),
            "[1, 7]");
  EXPECT_EQ(first_shape(model, {.dims = {}, .input_shapes = {{"x", {1, 9}}}, .limits = {}}),
            "[1, 9]");
}

TEST(ImportInput, ManyUnknownSizesAreNotSpelledOutForEachOfThem) {
  ModelBuilder model;
  model.input("x", DType::kF32, std::vector<Dim>(1'000, "width")).output("x");
  EXPECT_EQ(errors_of_declaration(model),
            "model: error[E-SHAPE]: input 'x': the symbolic size 'width' is not known; fix it "
            "with --dim width=N or --input-shape x=N,N,N,N,N,N,N,N,...\n");
}

TEST(ImportInput, AnUnknownSizeIsReportedOnce) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, "side", "side"}).output("x");
  const std::string text = first_shape(model);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST(ImportInput, TestDataFixesWhatNoFlagDoes) {
  ModelBuilder model;
  model.input("x", DType::kF32, {"N", "width"}).input("z", DType::kF32, {2, "depth"});
  model.output("x").output("z");
  ImportOptions options;
  options.data_shapes = {{5, 6}, {9, 7}};
  Sink sink;
  const auto graph = import_graph(model, sink, options);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->value(graph->inputs[0]).shape, (Shape{5, 6}));
  EXPECT_EQ(graph->value(graph->inputs[1]).shape, (Shape{2, 7}));
  options.dims = {{"width", 8}};
  const auto fixed = import_graph(model, sink, options);
  ASSERT_TRUE(fixed) << errors_of(sink);
  EXPECT_EQ(fixed->value(fixed->inputs[0]).shape, (Shape{5, 8}));
}

TEST(ImportInput, AFirstSizeThatIsUsedElsewhereIsNotABatch) {
  ModelBuilder model;
  model.input("a", DType::kF32, {"M", "K"}).input("b", DType::kF32, {"K", 3});
  model.output("a").output("b");
  EXPECT_NE(first_shape(model).find("'K' is not known"), std::string::npos);
  EXPECT_EQ(first_shape(model, {.dims = {{"K", 5}}, .input_shapes = {}, .limits = {}}), "[1, 5]");
}

TEST(ImportInput, AFlagBeatsTheBatchDefault) {
  ModelBuilder model;
  model.input("x", DType::kF32, {"N", 3}).output("x");
  EXPECT_EQ(first_shape(model, {.dims = {{"N", 4}}, .input_shapes = {}, .limits = {}}), "[4, 3]");
  EXPECT_EQ(first_shape(model, {.dims = {}, .input_shapes = {{"x", {2, 3}}}, .limits = {}}),
            "[2, 3]");
}

// One symbol has one value, whichever options say it.
TEST(ImportInput, OptionsThatGiveASymbolTwoSizesAreNamed) {
  ModelBuilder model;
  model.input("a", DType::kF32, {"N", "K"}).input("b", DType::kF32, {"K", 3});
  model.output("a").output("b");
  const auto with = [&](std::map<std::string, std::int64_t> dims,
                        std::map<std::string, Shape> shapes) {
    ImportOptions options;
    options.dims = std::move(dims);
    options.input_shapes = std::move(shapes);
    Sink sink;
    const auto graph = import_graph(model, sink, options);
    return graph ? to_string(*graph->value(graph->inputs[0]).shape) : reports_of(sink);
  };
  EXPECT_EQ(with({}, {{"a", {2, 5}}, {"b", {5, 3}}}), "[2, 5]");
  EXPECT_EQ(with({}, {{"a", {2, 5}}, {"b", {4, 3}}}),
            "model: error[E-SHAPE]: input 'b': the size 'K' is 4 by --input-shape b=4,3, 5 by "
            "--input-shape a=2,5\n");
  EXPECT_EQ(with({{"K", 5}}, {{"a", {2, 5}}}), "[2, 5]");
  EXPECT_EQ(with({{"K", 6}}, {{"a", {2, 5}}}),
            "model: error[E-SHAPE]: input 'a': the size 'K' is 5 by --input-shape a=2,5, 6 by "
            "--dim K=6\n");
  ModelBuilder square;
  square.input("s", DType::kF32, {1, "H", "H"}).output("s");
  EXPECT_NE(first_shape(square, {.dims = {}, .input_shapes = {{"s", {1, 4, 5}}}, .limits = {}})
                .find("the size 'H' is 5 by --input-shape s=1,4,5, 4 by --input-shape s=1,4,5"),
            std::string::npos);
  ModelBuilder nameless;
  nameless.input("a", DType::kF32, {1, -1}).input("b", DType::kF32, {1, -1});
  nameless.output("a").output("b");
  EXPECT_EQ(first_shape(nameless,
                        {.dims = {}, .input_shapes = {{"a", {1, 4}}, {"b", {1, 5}}}, .limits = {}}),
            "[1, 4]");
}

TEST(ImportInput, MinusOneAndAnEmptyDimensionAreOpen) {
  ModelBuilder minus_one;
  minus_one.input("x", DType::kF32, {-1, 3}).output("x");
  EXPECT_EQ(first_shape(minus_one), "[1, 3]");
  ModelBuilder empty;
  empty.input("x", DType::kF32, {4, 3}).output("x");
  auto& type = *empty.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  type.mutable_shape()->mutable_dim(0)->clear_value();
  EXPECT_EQ(first_shape(empty), "[1, 3]");
}

TEST(ImportInput, AFlagMayNotContradictTheFile) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 3}).output("x");
  const auto with_shape = [&](Shape shape) {
    return first_shape(model, {.dims = {}, .input_shapes = {{"x", shape}}, .limits = {}});
  };
  EXPECT_EQ(with_shape({1, 3}), "[1, 3]");
  EXPECT_EQ(with_shape({1, 4}),
            "model: error[E-SHAPE]: input 'x': dimension 1 is fixed to 3, --input-shape gives 4\n");
  EXPECT_EQ(with_shape({3}),
            "model: error[E-SHAPE]: input 'x': has rank 2, --input-shape gives [3]\n");
}

TEST(ImportInput, AFlagThatNamesNothingIsWarnedOf) {
  Sink sink;
  import_graph(relu_model(), sink,
               {.dims = {{"typo", 2}}, .input_shapes = {{"z", {1}}}, .limits = {}});
  EXPECT_EQ(reports_of(sink),
            "model: warning[E-SHAPE]: --dim typo=2 names no size of an input\n"
            "model: warning[E-SHAPE]: --input-shape z=[1] names no input\n");
}

TEST(ImportInput, SizesAreNotNegativeAndBounded) {
  ModelBuilder empty;
  EXPECT_EQ(errors_of_declaration(empty.input("x", DType::kF32, {2, 0}).output("x")), "");
  for (const std::vector<Dim>& shape : std::vector<std::vector<Dim>>{{1, -5},
                                                                     {INT64_MAX, INT64_MAX},
                                                                     {0, INT64_MAX, INT64_MAX},
                                                                     {1 << 20, 1 << 20},
                                                                     {std::int64_t{1} << 32}}) {
    ModelBuilder model;
    EXPECT_NE(errors_of_declaration(model.input("x", DType::kF32, shape).output("x")), "");
  }
  ModelBuilder deep;
  EXPECT_NE(errors_of_declaration(deep.input("x", DType::kF32, std::vector<Dim>(9, 1)).output("x")),
            "");
  ModelBuilder scalar;
  EXPECT_EQ(errors_of_declaration(scalar.input("x", DType::kF32, {}).output("x")), "");
}

TEST(ImportInput, OfATypeThatThereIsNotIsNoConstantEither) {
  ModelBuilder text = relu_model();
  constexpr int kString = 8, kComplex = 14;
  auto* const type = text.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  ImportOptions options;
  options.constants = {{"x", Tensor::of<double>({}, {3})}};
  type->set_elem_type(kString);
  EXPECT_EQ(errors_of_declaration(text, options),
            "model: error[E-TYPE]: input 'x': element type string (8) is not supported\n");
  type->set_elem_type(kComplex);
  EXPECT_EQ(errors_of_declaration(text, options),
            "model: error[E-TYPE]: input 'x': element type complex64 (14) is not supported\n");
}

TEST(ImportInput, NeedsATensorTypeAndAShape) {
  ModelBuilder untyped = relu_model();
  untyped.graph().mutable_input(0)->clear_type();
  EXPECT_EQ(errors_of_declaration(untyped), "model: error[E-TYPE]: input 'x': has no type\n");
  ModelBuilder unshaped = relu_model();
  unshaped.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  EXPECT_EQ(errors_of_declaration(unshaped),
            "model: error[E-SHAPE]: input 'x': has no shape; give it with --input-shape x=...\n");
  EXPECT_EQ(first_shape(unshaped, {.dims = {}, .input_shapes = {{"x", {2}}}, .limits = {}}), "[2]");
  ModelBuilder sequence = relu_model();
  sequence.graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
  EXPECT_EQ(errors_of_declaration(sequence), "model: error[E-TYPE]: input 'x': is not a tensor\n");
  ModelBuilder text = relu_model();
  text.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(8);
  EXPECT_EQ(errors_of_declaration(text),
            "model: error[E-TYPE]: input 'x': element type string (8) is not supported\n");
}

}  // namespace
}  // namespace etch
