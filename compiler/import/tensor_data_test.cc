// Tests of tensor decoding (every element type, raw and typed, right and wrong) and tensor files.
#include "compiler/import/tensor_data.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "compiler/import/tensor_proto.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

using Proto = onnx::TensorProto;

struct Decoded {
  std::optional<Tensor> tensor;
  std::string errors;
};

Decoded decode(const Proto& proto) {
  Sink sink;
  auto tensor = decode_tensor(proto, Limits{}, "here", sink);
  EXPECT_NE(tensor.has_value(), sink.has_errors());
  return {std::move(tensor), errors_of(sink)};
}

Proto proto_of(DType dtype, const Shape& dims) {
  Proto proto;
  proto.set_data_type(onnx_number_of(dtype));
  for (const auto size : dims) proto.add_dims(size);
  return proto;
}

// The class of the only error, or "" when the tensor is good.
std::string error_class(const Proto& proto) {
  Sink sink;
  decode_tensor(proto, Limits{}, "here", sink);
  return sink.error_count() == 0 ? "" : std::string(code_of(sink.sorted()[0].kind));
}

Proto with_int32(DType dtype, const std::vector<std::int32_t>& numbers) {
  Proto proto = proto_of(dtype, {static_cast<std::int64_t>(numbers.size())});
  for (const auto number : numbers) proto.add_int32_data(number);
  return proto;
}

TEST(TensorData, RawBytesAreTheElements) {
  Proto proto = proto_of(DType::kS16, {2});
  proto.set_raw_data(std::string("\x01\x00\xff\xff", 4));
  EXPECT_EQ(decode(proto).tensor, Tensor::of<std::int16_t>({2}, {1, -1}));
}

TEST(TensorData, EveryTypeSurvivesAsRawData){
#define ETCH_DTYPE(id, name, bytes)                              \
  {                                                              \
    Tensor tensor(DType::id, {3});                               \
    tensor.mutable_bytes()[0] = std::byte{1};                    \
    Proto proto;                                                 \
    fill_proto(tensor, proto);                                   \
    const Decoded decoded = decode(proto);                       \
    EXPECT_EQ(decoded.tensor, tensor) << name << decoded.errors; \
  }
    ETCH_DTYPES(ETCH_DTYPE)
#undef ETCH_DTYPE
}

TEST(TensorData, SmallIntegersStandInInt32Data) {
  EXPECT_EQ(decode(with_int32(DType::kS8, {-128, 127})).tensor,
            Tensor::of<std::int8_t>({2}, {-128, 127}));
  EXPECT_EQ(decode(with_int32(DType::kU8, {0, 255})).tensor,
            Tensor::of<std::uint8_t>({2}, {0, 255}));
  EXPECT_EQ(decode(with_int32(DType::kS16, {-32768, 32767})).tensor,
            Tensor::of<std::int16_t>({2}, {-32768, 32767}));
  EXPECT_EQ(decode(with_int32(DType::kU16, {0, 65535})).tensor,
            Tensor::of<std::uint16_t>({2}, {0, 65535}));
  EXPECT_EQ(decode(with_int32(DType::kS32, {INT32_MIN, INT32_MAX})).tensor,
            Tensor::of<std::int32_t>({2}, {INT32_MIN, INT32_MAX}));
  EXPECT_EQ(decode(with_int32(DType::kF16, {0x3C00})).tensor->real(0), 1.0F);
  EXPECT_EQ(decode(with_int32(DType::kBF16, {0x3F80})).tensor->real(0), 1.0F);
  EXPECT_EQ(decode(with_int32(DType::kBool, {0, 1})).tensor->integers(), (Ints{0, 1}));
}

TEST(TensorData, Int32DataOutOfTheTypesRangeIsRefused) {
  for (const auto& [dtype, number] : {std::pair(DType::kS8, 128),
                                      {DType::kS8, -129},
                                      {DType::kU8, 256},
                                      {DType::kU8, -1},
                                      {DType::kS16, 32768},
                                      {DType::kU16, -1},
                                      {DType::kU16, 65536},
                                      {DType::kF16, 65536},
                                      {DType::kBF16, -1},
                                      {DType::kBool, 2},
                                      {DType::kU4, 256},
                                      {DType::kS4, -1}}) {
    EXPECT_EQ(error_class(with_int32(dtype, {number})), "E-TENSOR")
        << name_of(dtype) << " " << number;
  }
}

TEST(TensorData, WideTypesHaveTheirOwnFields) {
  Proto f32 = proto_of(DType::kF32, {1});
  f32.add_float_data(0.5F);
  EXPECT_EQ(decode(f32).tensor, Tensor::of<float>({1}, {0.5F}));
  Proto f64 = proto_of(DType::kF64, {1});
  f64.add_double_data(0.25);
  EXPECT_EQ(decode(f64).tensor, Tensor::of<double>({1}, {0.25}));
  Proto s64 = proto_of(DType::kS64, {1});
  s64.add_int64_data(INT64_MIN);
  EXPECT_EQ(decode(s64).tensor, Tensor::of<std::int64_t>({1}, {INT64_MIN}));
  Proto u64 = proto_of(DType::kU64, {1});
  u64.add_uint64_data(UINT64_MAX);
  EXPECT_EQ(decode(u64).tensor, Tensor::of<std::uint64_t>({1}, {UINT64_MAX}));
  Proto u32 = proto_of(DType::kU32, {1});
  u32.add_uint64_data(UINT32_MAX);
  EXPECT_EQ(decode(u32).tensor, Tensor::of<std::uint32_t>({1}, {UINT32_MAX}));
  u32.set_uint64_data(0, std::uint64_t{UINT32_MAX} + 1);
  EXPECT_EQ(error_class(u32), "E-TENSOR");
  u32.set_uint64_data(0, UINT64_MAX);
  EXPECT_EQ(error_class(u32), "E-TENSOR");
}

TEST(TensorData, FourBitElementsComeTwoPerByteLowHalfFirst) {
  Proto raw = proto_of(DType::kS4, {3});
  raw.set_raw_data("\xF1\x08");
  EXPECT_EQ(decode(raw).tensor->integers(), (Ints{1, -1, -8}));
  Proto typed = proto_of(DType::kU4, {3});
  typed.add_int32_data(0xF1);
  typed.add_int32_data(0x08);
  EXPECT_EQ(decode(typed).tensor->integers(), (Ints{1, 15, 8}));
  typed.set_data_type(onnx_number_of(DType::kS4));
  EXPECT_EQ(decode(typed).tensor->integers(), (Ints{1, -1, -8}));
  raw.set_raw_data("\xF1\x08\x77");
  EXPECT_EQ(error_class(raw), "E-TENSOR");
}

TEST(TensorData, ThePayloadHasExactlyTheRightLengthInTheRightField) {
  Proto proto = proto_of(DType::kF32, {2});
  EXPECT_EQ(decode(proto).errors,
            "model: error[E-TENSOR]: here: needs 2 numbers in the field for float32, has 0 there "
            "and 0 in other fields\n");
  proto.set_raw_data("1234567");
  EXPECT_EQ(decode(proto).errors,
            "model: error[E-TENSOR]: here: needs 8 bytes of raw data, has 7\n");
  proto.set_raw_data("12345678");
  EXPECT_EQ(error_class(proto), "");
  proto.add_float_data(1.0F);
  EXPECT_EQ(decode(proto).errors, "model: error[E-TENSOR]: here: has both raw and typed data\n");
  proto.clear_raw_data();
  EXPECT_EQ(error_class(proto), "E-TENSOR");  // one of two
  proto.add_float_data(1.0F);
  EXPECT_EQ(error_class(proto), "");
  proto.add_int64_data(1);
  EXPECT_EQ(error_class(proto), "E-TENSOR");
}

TEST(TensorData, ABoolIsZeroOrOne) {
  Proto proto = proto_of(DType::kBool, {2});
  proto.set_raw_data(std::string("\x01\x00", 2));
  EXPECT_EQ(error_class(proto), "");
  proto.set_raw_data("\x01\x02");
  EXPECT_EQ(error_class(proto), "E-TENSOR");
}

TEST(TensorData, AnEmptyTensorNeedsNoPayload) {
  EXPECT_EQ(decode(proto_of(DType::kF32, {0, 3})).tensor->shape(), (Shape{0, 3}));
}

TEST(TensorData, SizesAreCheckedBeforeAnythingIsAllocated) {
  EXPECT_EQ(error_class(proto_of(DType::kF32, {-1})), "E-TENSOR");
  EXPECT_EQ(error_class(proto_of(DType::kF32, {INT64_MAX, 2})), "E-LIMIT");
  EXPECT_EQ(error_class(proto_of(DType::kF32, {std::int64_t{1} << 32, std::int64_t{1} << 32})),
            "E-LIMIT");
  EXPECT_EQ(error_class(proto_of(DType::kF32, {INT64_MAX, INT64_MAX, 0})), "E-LIMIT");
  EXPECT_EQ(error_class(proto_of(DType::kF32, {0, INT64_MAX, 2})), "E-LIMIT");
  EXPECT_EQ(error_class(proto_of(DType::kF32, {2, INT64_MAX})), "E-LIMIT");
  EXPECT_EQ(error_class(proto_of(DType::kF32, Shape(9, 1))), "E-LIMIT");
}

TEST(TensorData, ForeignTypesAreNamed) {
  Proto proto;
  for (const auto& [number, text] : {std::pair(0, "undefined (0)"),
                                     {8, "string (8)"},
                                     {17, "float8e4m3fn (17)"},
                                     {999, "999"}}) {
    proto.set_data_type(number);
    EXPECT_EQ(decode(proto).errors, std::string("model: error[E-TYPE]: here: element type ") +
                                        text + " is not supported\n");
  }
}

TEST(TensorData, TypesHaveTheirNamesInMessages) {
  EXPECT_EQ(onnx_type_text(onnx_number_of(DType::kS8)), "int8");
  EXPECT_EQ(onnx_type_text(16), "bfloat16");
}

TEST(TensorData, OtherFilesAndSegmentsAreRefused) {
  Proto external = proto_of(DType::kU8, {1});
  external.set_raw_data("a");
  external.add_external_data()->set_key("location");
  EXPECT_EQ(error_class(external), "E-EXTDATA");
  Proto segment = proto_of(DType::kU8, {1});
  segment.set_raw_data("a");
  segment.mutable_segment()->set_begin(0);
  EXPECT_EQ(error_class(segment), "E-TENSOR");
}

class TensorFile : public ::testing::Test {
 protected:
  ~TensorFile() override { std::remove(path_.c_str()); }
  // Tests run side by side, each in a process of its own.
  const std::string path_ =
      ::testing::TempDir() + "etch_tensor_file_test_" + std::to_string(::getpid()) + ".pb";
};

TEST_F(TensorFile, IsReadBackAsItWasWritten) {
  Tensor packed(DType::kS4, {3});
  packed.as<std::int8_t>()[0] = -3;
  packed.as<std::int8_t>()[2] = 7;
  for (const Tensor& tensor :
       {Tensor::of<float>({2, 1}, {1.5F, -2.0F}), Tensor::of<std::int8_t>({}, {-5}), packed}) {
    Sink sink;
    std::ofstream(path_, std::ios::binary) << tensor_file(tensor, "output_0");
    EXPECT_EQ(read_tensor_file(path_, sink), tensor) << errors_of(sink);
  }
}

TEST_F(TensorFile, MustBeATensor) {
  std::ofstream(path_) << "hello";
  Sink sink;
  EXPECT_FALSE(read_tensor_file(path_, sink).has_value());
  EXPECT_TRUE(has_error(sink, DiagKind::kParse)) << errors_of(sink);
}

TEST_F(TensorFile, MustNotBeEmpty) {
  std::ofstream(path_) << "";
  Sink sink;
  EXPECT_FALSE(read_tensor_file(path_, sink).has_value());
  EXPECT_NE(errors_of(sink).find("is empty: copy it again"), std::string::npos) << errors_of(sink);
}

TEST_F(TensorFile, MustBeARegularFileThatExists) {
  for (const std::string& path : {path_, ::testing::TempDir(), std::string("/dev/zero")}) {
    Sink sink;
    EXPECT_FALSE(read_tensor_file(path, sink).has_value());
    EXPECT_TRUE(has_error(sink, DiagKind::kIo)) << errors_of(sink);
  }
}

}  // namespace
}  // namespace etch
