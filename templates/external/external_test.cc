// Every function of the runtime that has a descriptor stays inside the spans that it states.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "templates/external/byte_softmax.h"
#include "templates/external/convert.h"
#include "templates/external/half.h"
#include "templates/external/loop.h"
#include "templates/external/move.h"
#include "templates/external/non_max.h"
#include "templates/external/normalize.h"
#include "templates/external/ops.h"
#include "templates/external/packed_weights.h"
#include "templates/external/plane_average.h"
#include "templates/external/products.h"
#include "templates/external/recurrent.h"
#include "templates/external/roi.h"
#include "templates/external/scatter.h"
#include "templates/external/select.h"
#include "templates/external/word_sums.h"
#include "templates/external/words.h"
#include "tests/support/guarded.h"

namespace etch {
namespace {

using testing::Bytes;
using testing::call_between_guards;
using namespace external;  // NOLINT: the names under test

using Byte = std::uint8_t;
const Bytes<const Byte> kBytes;
const Bytes<Byte> kOut;
const Bytes<const float> kFloats;
const Bytes<float> kFloatsOut;
const Bytes<const std::uint16_t> kHalves;
const Bytes<std::uint16_t> kHalvesOut;
const Bytes<const std::int32_t> kInts;
const Bytes<std::int32_t> kIntsOut;
const Bytes<std::int64_t> kLongsOut;
constexpr rt::Stored kStored{0, 0};
constexpr int kSteps[] = {1, 0, 3, -2};
// Beyond one vector of any width, with and without a rest.
constexpr int kCounts[] = {1, 7, 16, 67};

template <class Check>
void expect_inside(Check check) {
  const auto run = [&] {
    check();
    std::_Exit(0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

// check(n, step, step of another operand)
template <class Check>
void for_each_row(Check check) {
  expect_inside([&] {
    for (const int n : kCounts) {
      for (const int a : kSteps) {
        for (const int b : kSteps) check(n, a, b);
      }
    }
  });
}

TEST(ExternalDeathTest, GuardsEndACallThatLeavesItsSpans) {
  struct TooLong : Fill {
    auto spans(Byte* y, int, int n) const { return spans_of(span(y, {}, n - 1)); }
  };
  struct TooEarly : CopySpread {
    auto spans(const Byte* x, std::ptrdiff_t, Byte* y, std::ptrdiff_t, int size, int n) const {
      return spans_of(span(x, {{n, 1}}, size), span(y, {{n, 1}}, size));
    }
  };
  EXPECT_DEATH(call_between_guards(TooLong{}, kOut, 1, 5), "");
  EXPECT_DEATH(call_between_guards(TooEarly{}, kBytes, -1, kOut, 1, 1, 5), "");
}

TEST(External, BytesStayInsideTheirSpans) {
  expect_inside([] {
    for (const int n : kCounts) {
      call_between_guards(Fill{}, kOut, 3, n);
      call_between_guards(Lookup{}, kBytes, kOut, kBytes, n);
      call_between_guards(AveragePlanes{}, kBytes, kOut, 3, n, -40, 0.01F, 7, rt::Range{3, 250});
      call_between_guards(AddBytes{}, kBytes, kBytes, kOut, n, 5, 6, 7, 0, 3);
      call_between_guards(Softmax{}, kFloats, kFloatsOut, 3, n);
      const Bytes<const float> table{std::vector<float>(256, 1.0F)};
      call_between_guards(QLinearSoftmax{}, kBytes, kOut, table, 3, n, 255.0F, 0, 0);
      call_between_guards(SoftmaxBytes{}, kBytes, kOut, table, 5, n, 255.0F, 0, 0);
    }
    call_between_guards(Prefetch{}, kBytes, kBytes, kBytes, 64);
  });
}

TEST(External, TransposesStayInsideTheirSpans) {
  expect_inside([] {
    for (const int rows : {1, 3, 8, 17, 70}) {
      for (const int columns : {1, 5, 8, 16, 19, 66}) {
        call_between_guards(TransposeBytes{}, kBytes, columns + 2, kOut, rows + 1, rows, columns,
                            128);
        call_between_guards(TransposeWords{}, kBytes, 4 * columns + 3, kOut, 4 * rows, rows,
                            columns);
      }
    }
  });
}

TEST(External, MovesStayInsideTheirSpans) {
  for_each_row([](int n, int a, int b) {
    const int y_step = b == 0 ? 1 : b;
    call_between_guards(CopySpread{}, kBytes, 4 * a, kOut, 4 * y_step, 4, n);
    call_between_guards(LookupSpread{}, kBytes, a, kOut, y_step, kBytes, n);
    call_between_guards(RepeatElement{}, kBytes, kOut, 4, n);
    call_between_guards(ChooseFromTables{}, kBytes, a, kBytes, b, kBytes, kBytes, a, kBytes, kOut,
                        n);
  });
  expect_inside([] {
    const Bytes<const std::int32_t> table{{0, 40, -20, 5, 0, 7, 3, 1, 9}};
    call_between_guards(Pick{}, kBytes, kOut, table, rt::Picked{{3, 2, 2, 2}, {50, -12, 6, 3}, 2});
    call_between_guards(Pick{}, kBytes, kOut, table, rt::Picked{{1, 1, 1, 6}, {0, 0, 0, 1}, 1});
  });
}

TEST(External, ResizingStaysInsideItsSpans) {
  const Bytes<const std::int32_t> table{{0, 0, 0, 10, 10, 20, 0, 2, -1, -1, 4, 8}};
  const rt::Grid grid{4, {1, 2, 3}, {0, 12, 4}, 2};
  const rt::Grid cube{8, {1, 2, 3}, {0, 12, 4}, 2};
  const rt::Grid wide{4, {1, 2, 3}, {0, 93, 31}, 30};  // vectors of every width and two elements
  Bytes<const std::int32_t> near{std::vector<std::int32_t>(20)};
  for (int i = 0; i < 20; ++i) near.content[static_cast<std::size_t>(i)] = i == 8 ? -1 : 3 * i;
  expect_inside([&] {
    for (const rt::Grid& each : {grid, cube, wide}) {
      call_between_guards(ResizeLinear<float, float>{}, kFloats, kFloatsOut, table, kFloats, each,
                          0.5F, kStored);
      call_between_guards(ResizeLinear<Byte, std::int32_t>{}, kBytes, kOut, table,
                          Bytes<const std::int32_t>{std::vector<std::int32_t>(12, 512)}, each, 1,
                          kStored);
      call_between_guards(ResizeLinear<Byte, float>{}, kBytes, kOut, table,
                          Bytes<const float>{std::vector<float>(12, 0.5F)}, each, 1, kStored);
    }
    call_between_guards(ResizeCubic<true>{}, kFloats, kFloatsOut, near, kFloats, grid, 0.0F);
    call_between_guards(ResizeCubic<false>{}, kFloats, kFloatsOut, near, kFloats, grid, 0.0F);
  });
}

template <class Operation>
void combine(int n, int a, int b) {
  call_between_guards(Combine<Operation, float>{}, kFloats, a, kFloats, b, kFloatsOut, n);
  call_between_guards(Combine<Operation, std::int32_t>{}, kInts, a, kInts, b, kIntsOut, n);
  call_between_guards(Combine<Operation, std::int64_t>{}, Bytes<const std::int64_t>{}, a,
                      Bytes<const std::int64_t>{}, b, kLongsOut, n);
}

TEST(External, ArithmeticStaysInsideItsSpans) {
  for_each_row([](int n, int a, int b) {
    combine<rt::Add>(n, a, b);
    combine<rt::Max>(n, a, b);
    combine<rt::Remainder>(n, a, b);
    call_between_guards(Power{}, kFloats, a, kFloats, b, kFloatsOut, n);
    call_between_guards(PRelu{}, kFloats, a, kFloats, b, kFloatsOut, n);
    call_between_guards(Affine<float>{}, kFloats, a, kFloats, b, kFloats, a, kFloatsOut, n);
    call_between_guards(Affine<std::int32_t>{}, kInts, a, kFloats, b, kFloats, a, kFloatsOut, n);
    call_between_guards(Map<rt::Relu, float>{}, kFloats, a, kFloatsOut, n, 0.0F);
    call_between_guards(Map<rt::AtLeast, Byte>{}, kBytes, a, kOut, n, 3);
    call_between_guards(Clip<float>{}, kFloats, a, kFloatsOut, n, 0.0F, 1.0F);
    call_between_guards(Clip<Byte>{}, kBytes, a, kOut, n, 3, 9);
    call_between_guards(Apply<rt::Exp>{}, kFloats, a, kFloatsOut, n, 0.0F, 0.0F);
    const rt::Reduced reduced{{2, 3, 4}, {-30, 5, b}};
    call_between_guards(Reduce<rt::Mean, float>{}, reduced, kFloats, a, kFloatsOut, n);
    const rt::Reduced in_order{{2, 3, 4}, {-30, 5, b}, true};
    call_between_guards(Reduce<rt::Mean, float>{}, in_order, kFloats, a, kFloatsOut, n);
    call_between_guards(Reduce<rt::Largest, Byte>{}, reduced, kBytes, a, kOut, n);
    call_between_guards(ArgExtreme<rt::Above, float>{}, kFloats, a, kStored, 5, b, 0, kLongsOut, n);
    call_between_guards(ArgExtreme<rt::Below, Byte>{}, kBytes, a, kStored, 5, b, 1, kLongsOut, n);
  });
}

TEST(External, ConversionsStayInsideTheirSpans) {
  for_each_row([](int n, int a, int b) {
    call_between_guards(Cast<float, Byte, float>{}, kBytes, a, kStored, kFloatsOut, kStored, n);
    call_between_guards(Cast<std::int8_t, float, Byte>{}, kFloats, a, kStored, kOut, kStored, n);
    call_between_guards(ToFloat<OtherFloat::kHalf>{}, kHalves, a, kFloatsOut, n);
    call_between_guards(FromFloat<OtherFloat::kBfloat>{}, kFloats, a, kHalvesOut, n);
    call_between_guards(QuantizeRow<Byte>{}, kFloats, a, kFloats, b, kBytes, a, kStored, kOut,
                        kStored, rt::Range{0, 255}, n);
    call_between_guards(DequantizeRow<Byte>{}, kBytes, a, kStored, kFloats, b, kBytes, a, kStored,
                        kFloatsOut, n);
    call_between_guards(QLinearRows<true>{}, kBytes, a, kStored, kFloats, kBytes, kStored, kBytes,
                        b, kStored, kFloats, kBytes, kStored, kFloats, kBytes, kStored, kOut,
                        kStored, rt::Range{0, 255}, n);
    call_between_guards(QLinearRows<false>{}, kBytes, a, kStored, kFloats, kBytes, kStored, kBytes,
                        b, kStored, kFloats, kBytes, kStored, kFloats, kBytes, kStored, kOut,
                        kStored, rt::Range{0, 255}, n);
    call_between_guards(DynamicRange{}, kFloats, kFloatsOut, kOut, n);
    const int y_step = a == 0 ? 1 : a;
    const Bytes<const float> low{{-1.0F}}, high{{1.0F}};
    const int range_step = b < 0 ? 0 : b;
    for (const int mode : {rt::kMinCombined, rt::kMinFirst, rt::kScaled}) {
      call_between_guards(QuantizeV2<Byte>{}, kFloats, a, low, high, range_step, kOut, y_step, n,
                          mode, 0, 0, 255, 0.01F);
      call_between_guards(DequantizeV2<Byte>{}, kBytes, a, low, high, range_step, kFloatsOut,
                          y_step, n, 0, 0, mode, 0, 255);
    }
    call_between_guards(QuantizeV2End{}, kFloats, kFloats, kFloatsOut, n, 1, rt::kMinFirst, 0, 255,
                        0.01F);
  });
}

TEST(External, SelectionsStayInsideTheirSpans) {
  const Bytes<const std::int64_t> indices{{-9, 99, 2, -1, 0}};
  for_each_row([&](int n, int a, int b) {
    call_between_guards(Compare<rt::Greater, float>{}, kFloats, a, kStored, kFloats, b, kStored,
                        kOut, n);
    call_between_guards(Compare<rt::And, Byte>{}, kBytes, a, kStored, kBytes, b, kStored, kOut, n);
    call_between_guards(Choose<float>{}, kBytes, a, kFloats, b, kStored, kFloats, a, kStored,
                        kFloatsOut, kStored, n);
    call_between_guards(Choose<Byte>{}, kBytes, a, kBytes, b, kStored, kBytes, a, kStored, kOut,
                        kStored, n);
    call_between_guards(Gather<std::int64_t>{}, kBytes, indices, kOut, 2, 3, 5, n);
    call_between_guards(Gather<std::int32_t>{}, kBytes, kInts, kOut, 3, 4, n, 2);
    const int y_step = b == 0 ? 1 : b;
    call_between_guards(GatherRow<std::int64_t>{}, kBytes, 3 * a, 7 * b, 3,
                        Bytes<const std::int64_t>{}, a, kOut, 3 * y_step, 3, n);
    call_between_guards(GatherRow<std::int32_t>{}, kBytes, a, b, 6, kInts, a, kOut, y_step, 1, n);
    if (a == 0) return;
    call_between_guards(TopK<rt::Above, float>{}, kFloats, b, kStored, n, kFloatsOut, a, kStored,
                        kLongsOut, a, (n + 1) / 2);
    call_between_guards(TopK<rt::Below, Byte>{}, kBytes, b, kStored, n, kOut, a, kStored, kLongsOut,
                        a, n);
  });
}

TEST(External, WritesAtIndicesStayInsideTheirSpans) {
  const Bytes<const std::int64_t> indices{{-9, 99, 2, -1, 0}};
  for_each_row([&](int n, int a, int b) {
    call_between_guards(Scatter<rt::Add, float>{}, kFloats, indices, kFloats, kFloatsOut, 4, n, 5);
    call_between_guards(Scatter<rt::Replace, std::int32_t>{}, kInts, indices, kInts, kIntsOut, n, 3,
                        5);
    const int y_step = b == 0 ? 1 : b;
    call_between_guards(Scan<rt::Mul, float>{}, kFloats, a, kFloatsOut, y_step, n, 1, 0, 1);
    call_between_guards(ScanLines<rt::Add, float>{}, kFloats, 40, kFloatsOut, 41, n, 35, 1, 1, 0);
    call_between_guards(Scan<rt::Add, std::int32_t>{}, kInts, a, kIntsOut, y_step, n, 0, 1, 0);
    call_between_guards(CombineBits<rt::BitXor, std::int32_t>{}, kInts, a, kInts, b, kIntsOut, n);
    call_between_guards(Apply<rt::Sin>{}, kFloats, a, kFloatsOut, n, 0.0F, 0.0F);
  });
  expect_inside([] {
    for (const int rows : {1, 7, 30}) {
      const Bytes<const std::int64_t> filler;
      call_between_guards(NonMaxSuppression{}, kFloats, kFloats, filler, kIntsOut, kLongsOut, 2, 3,
                          5, 4, rows, 0, 0.5F, 0, 0.0F);
    }
  });
}

TEST(External, NormalizationsStayInsideTheirSpans) {
  expect_inside([] {
    for (const int n : kCounts) {
      const rt::RowsShape along{3, n, n, 1, n, 1}, across{3, n, 1, 5, -1, 4};
      for (const rt::RowsShape& shape : {along, across}) {
        call_between_guards(SoftmaxRows{}, shape, kFloats, kFloatsOut);
        call_between_guards(LogSoftmaxRows{}, shape, kFloats, kFloatsOut);
        call_between_guards(LrnRows{}, shape, rt::LrnShape{1, 2, 0.1F, 0.75F, 1}, kFloats,
                            kFloatsOut);
        call_between_guards(NormalizeRows{}, shape, rt::RowAffine{1, 0, n, 1}, 0.1F, kFloats,
                            kFloats, kFloats, kFloatsOut);
      }
    }
  });
}

// Boxes on the edges of maps of 3x5, outside of them, without a size and without an end.
TEST(External, AveragesWithinBoxesStayInsideTheirSpans) {
  const float far = 1e30F;
  const Bytes<const float> boxes{
      {0, 0, 5, 3, -9, -9, 9, 9, 4.6F, 2.5F, 4.6F, 2.5F, -far, 0, far, 2}};
  const Bytes<const std::int64_t> images{{0, 1, 2, -1}};
  expect_inside([&] {
    for (const int sampling : {0, 2}) {
      for (const int is_max : {0, 1}) {
        call_between_guards(RoiAlign{}, kFloats, boxes, images, kFloatsOut, 2, 3, 3, 5, 4, 2, 3,
                            sampling, is_max, 1 - is_max, 0.75F);
      }
    }
  });
}

// ---- products ----

constexpr rt::ConvAxis kOne{1, 1, 1, 1, 1, 0, 0, 0, 0};

rt::ConvShape conv_shape(bool transposed, int stride) {
  const int out = transposed ? 9 : 4;
  rt::ConvShape s{};
  s.transposed = transposed;
  s.batch = 2, s.group = 2, s.in = 3, s.out = 2;
  s.x_image = 6 * 7 * 5, s.x_channel = 7 * 5, s.y_image = 4 * out * 5, s.y_channel = out * 5;
  s.w_group = 2 * 3 * 3, s.w_in = 3, s.w_out = 9;
  s.axis[0] = kOne;
  s.axis[1] = {7, 3, out, stride, 1, 1, 5, 1, 5};
  s.axis[2] = {5, 1, 5, 1, 1, 0, 1, 0, 1};
  s.w_zero_step = 1;
  return s;
}

TEST(External, ProductsStayInsideTheirSpans) {
  expect_inside([] {
    for (const int stride : {1, 2}) {
      for (const bool transposed : {false, true}) {
        const rt::ConvShape s = conv_shape(transposed, stride);
        call_between_guards(ConvInteger{}, s, kBytes, kBytes, kBytes, kBytes, kIntsOut);
        const rt::Requantized r{kStored, kStored, {0, 255}, stride - 1, 1};
        call_between_guards(QLinearConv{}, s, r, kBytes, kFloats, kBytes, kBytes, kFloats, kBytes,
                            kFloats, kBytes, kInts, kOut);
      }
    }
    const rt::MatMulShape rows{3, 4, 5, 4, 1, 5, 1, 5, 1, kStored, kStored, kStored, kStored, 1, 0};
    const rt::MatMulShape cols{3, 4, 5, 1, 3, 1, 4, 1, 3, kStored, kStored, kStored, kStored, 0, 1};
    for (const rt::MatMulShape& s : {rows, cols}) {
      call_between_guards(MatMulInteger{}, s, kBytes, kBytes, kBytes, kBytes, kIntsOut);
      const rt::Requantized r{kStored, kStored, {0, 255}, s.b_zero_step, 0};
      call_between_guards(QLinearMatMul{}, s, r, kBytes, kFloats, kBytes, kBytes, kFloats, kBytes,
                          kFloats, kBytes, kOut);
    }
    call_between_guards(FillZeroPoint{}, kBytes, kStored, 3, kOut, 7);
    call_between_guards(AddToRows{}, kInts, kIntsOut, 3, 5);
    call_between_guards(FoldZeroPoint{}, kBytes, kStored, 3, kInts, kIntsOut, 7);
  });
}

TEST(External, PackingOfColumnsStaysInsideItsSpans) {
  expect_inside([] {
    for (const int depth : {1, 4, 15, 16, 21}) {
      for (const int cols : {1, 3, 5, 16, 37}) {
        for (const int lanes : {1, 4, 16}) {
          const int vectors = (cols + lanes - 1) / lanes;
          for (const bool words : {false, true}) {
            if (words && lanes < 4) continue;
            rt::PackedColumns s{depth, cols, lanes,   vectors, cols == 5, words,
                                cols,  1,    kStored, kStored, kStored,   kStored};
            call_between_guards(PackColumns{}, s, kBytes, kBytes, kBytes, kOut, kIntsOut);
            s.depth_step = 1, s.col_step = depth;
            call_between_guards(PackColumns{}, s, kBytes, kBytes, kBytes, kOut, kIntsOut);
          }
          const rt::RowTerms terms{cols,    depth,   lanes,   depth + 3,
                                   kStored, kStored, kStored, kStored};
          call_between_guards(RowTermsOf{}, terms, kBytes, kBytes, kBytes, kIntsOut);
        }
      }
    }
  });
}

TEST(External, PoolsOfFloatsStayInsideTheirSpans) {
  expect_inside([] {
    for (const int channels : {1, 5, 16, 70}) {
      rt::PoolShape last{};  // channels side by side
      last.batch = 2, last.channels = channels;
      last.x_image = 35 * channels, last.x_channel = 1;
      last.y_image = 20 * channels, last.y_channel = 1;
      last.axis[0] = kOne;
      last.axis[1] = {7, 3, 4, 2, 1, 1, 5 * channels, 0, 5 * channels};
      last.axis[2] = {5, 1, 5, 1, 1, 0, channels, 0, channels};
      rt::PoolShape first = last;
      first.x_channel = 35, first.y_channel = 20;
      first.axis[1].x_step = first.axis[1].y_step = 5;
      first.axis[2].x_step = first.axis[2].y_step = 1;
      for (const rt::PoolShape& s : {last, first}) {
        call_between_guards(FloatPool<true>{}, s, kFloats, kFloatsOut);
        call_between_guards(FloatPool<false>{}, s, kFloats, kFloatsOut);
      }
    }
  });
}

TEST(External, SumsAndPoolsOfWordsStayInsideTheirSpans) {
  expect_inside([] {
    const Bytes<const std::int16_t> words;
    const Bytes<std::int16_t> out;
    const rt::WordSum<std::uint32_t> sum{{3, 1 << 20, 2}, {0, 1 << 19, 1}, 2, 34, {0, -9, 9}};
    for (const std::int64_t n : {1, 7, 33}) {
      for (const std::int64_t step : {0, 1, 3}) {
        call_between_guards(SumWords<std::int16_t, std::uint32_t>{}, sum, words, step, words, 1,
                            out, n);
        call_between_guards(RescaleWords<std::int16_t, std::uint32_t>{}, sum, words, step, out, n);
      }
    }
    rt::PoolShape shape{};
    shape.batch = 2, shape.channels = 17;
    shape.x_image = 35 * 17, shape.x_channel = 1, shape.y_image = 20 * 17, shape.y_channel = 1;
    shape.axis[0] = {1, 1, 1, 1, 1, 0, 0, 0, 0};
    shape.axis[1] = {7, 3, 4, 2, 1, 1, 5 * 17, 0, 5 * 17};
    shape.axis[2] = {5, 1, 5, 1, 1, 0, 17, 0, 17};
    const rt::WordMean mean{0, 1, 3, 40, 1, 1, {0, -9, 9}};
    call_between_guards(MaxPoolWords<std::int16_t>{}, shape, words, out);
    call_between_guards(AveragePoolWords<std::int16_t>{}, shape, mean, kInts, words, out);
  });
}

rt::FloatConvShape float_shape(int group, int in, int out, bool channels_last, int along) {
  const int x_all = group * in, y_all = group * out;
  rt::FloatConvShape s{};
  s.batch = 2, s.group = group, s.in = in, s.out = out, s.along = along;
  s.x_image = 77 * x_all, s.y_image = 44 * y_all;
  s.x_channel = channels_last ? 1 : 77, s.y_channel = channels_last ? 1 : 44;
  const int x = channels_last ? x_all : 1, y = channels_last ? y_all : 1;
  s.axis[0] = kOne;
  s.axis[1] = {7, 3, 4, 2, 1, 1, 11 * x, 0, 11 * y};
  s.axis[2] = {11, 3, 11, 1, 1, 1, x, 0, y};
  return s;
}

TEST(External, ProductsOfFloatsStayInsideTheirSpans) {
  expect_inside([] {
    for (const int out : {1, 7, 16, 70}) {
      for (const bool channels_last : {true, false}) {
        for (const int along : {1, 2}) {
          for (const int c_column : {0, 1, 2}) {
            const rt::FloatEnd end{1, c_column == 2 ? 2.0F : 1.0F, 0, c_column, 1};
            call_between_guards(FloatConv<false>{}, float_shape(2, 3, out, channels_last, along),
                                end, kFloats, kFloats, kFloats, kFloatsOut);
          }
        }
      }
      const rt::FloatEnd end{1, 1, 0, 1, 0};
      call_between_guards(FloatConv<true>{}, float_shape(out, 1, 1, true, 2), end, kFloats, kFloats,
                          kFloats, kFloatsOut);
      call_between_guards(PackPanels{}, rt::PackShape{2, 3, 4, out, 64, 12 * out, 4 * out, out, 1},
                          kFloats, kFloatsOut);
    }
    // A product of matrices, with a c for each row and column.
    rt::FloatConvShape product = float_shape(1, 9, 70, true, 2);
    product.batch = 1, product.axis[1] = kOne;
    product.axis[2] = {5, 1, 5, 1, 1, 0, 9, 0, 70};
    for (const rt::FloatEnd end : {rt::FloatEnd{2, 3, 70, 1, 0}, rt::FloatEnd{1, 1, 0, 0, 0}}) {
      product.panel = end.c_column == 0 ? 70 : 0;
      call_between_guards(FloatConv<false>{}, product, end, kFloats, kFloats, kFloats, kFloatsOut);
    }
  });
}

TEST(External, LoopsStayInsideTheirSpans) {
  expect_inside([] {
    call_between_guards(NextTrip{}, kLongsOut);
    for (const std::int64_t trip : {-9, 0, 2, 3, 99}) {
      const Bytes<const std::int64_t> trips{{trip}};
      for (const int n : kCounts) call_between_guards(PutSlice{}, kBytes, trips, kOut, 2, 4, n, 0);
      call_between_guards(PutSlice{}, kBytes, trips, kOut, 3, 4, 5, 1);
    }
  });
}

TEST(External, StepsOfRecurrentLayersStayInsideTheirSpans) {
  expect_inside([] {
    for (const int n : kCounts) {
      for (const bool all : {true, false}) {  // what may be left out
        const rt::GateRows s{3, n, 5 * n, 4 * n, 2 * n, all ? 1 : 0, all ? 1 : 0, all ? n : 0, 1};
        const Bytes<const Byte> valid{std::vector<Byte>(all ? 3 : 1, Byte{1})};
        call_between_guards(CopyState{}, 3, n, kFloats, all ? n : 0, all ? 1 : 0, kFloatsOut, n);
        call_between_guards(AddGates{}, s, 2 * n, kFloats, kFloats, kFloatsOut);
        call_between_guards(AddPeephole{}, s, kFloats, kFloats, kFloatsOut);
        call_between_guards(RnnState{}, s, kFloatsOut, valid, kFloatsOut, kFloatsOut);
        call_between_guards(GruReset{}, s, kFloats, kFloats, kFloatsOut);
        call_between_guards(GruCandidate{}, s, kFloats, kFloats, kFloatsOut);
        call_between_guards(GruState{}, s, kFloatsOut, valid, kFloatsOut, kFloatsOut);
        call_between_guards(LstmCell{}, s, all ? 1 : 0, kFloatsOut, valid, kFloatsOut);
        call_between_guards(LstmState{}, s, kFloatsOut, valid, kFloatsOut, kFloatsOut);
        call_between_guards(ScaleSums{}, kInts, 3, n, kFloats, kFloats, all ? 1 : 0, kFloatsOut);
      }
      call_between_guards(AffineRow{}, kFloatsOut, n, 2.0F, 1.0F);
      call_between_guards(QuantizeState{}, kFloats, n, kOut, kFloatsOut, kOut);
      const Bytes<const std::int32_t> lengths{{INT32_MIN, 2, INT32_MAX}};
      call_between_guards(SequenceMask{}, lengths, 3, n, kOut);
      call_between_guards(ClearUnused{}, lengths, 3, n, kFloatsOut);
    }
  });
}

TEST(External, PackedWeightsStayInsideTheirSpans) {
  expect_inside([] {
    for (const int cols : {1, 7, 70}) {
      for (const int block : {3, 16, 64}) {
        const int part = block == 64 ? 16 : block;
        const rt::PackedProduct s{5, 37, cols, block, part, 64, 1, 1};
        const rt::PackedProduct one{5, 37, cols, block, part, 16, 0, 0};
        call_between_guards(PackedProduct<4, Byte, false>{}, s, kFloats, kFloats, kBytes, kFloats,
                            kBytes, kFloats, kFloatsOut, kFloatsOut);
        call_between_guards(PackedProduct<2, float, false>{}, s, kFloats, kFloats, kBytes, kFloats,
                            kFloats, kFloats, kFloatsOut, kFloatsOut);
        const rt::PackedProduct whole{5, 37, cols, block, block, 64, 0, 1};
        call_between_guards(PackedProduct<8, Byte, true>{}, whole, kFloats, kFloats, kBytes,
                            kFloats, kBytes, kFloats, kFloatsOut, kFloatsOut);
        call_between_guards(PackedProduct<8, Byte, false>{}, one, kFloats, kFloats, kBytes, kFloats,
                            kBytes, kFloats, kFloatsOut, kFloatsOut);
        call_between_guards(QuantizeBlocks{}, 5, 37, block, kFloats, kFloatsOut, kFloatsOut);
      }
    }
    const Bytes<const std::int64_t> longs;
    const rt::PackedTable table{4, 40, 16, 20, 3, 1};
    call_between_guards(GatherPacked<4, std::int64_t>{}, table, kBytes, kFloats, kBytes, longs,
                        kFloatsOut, 3);
    const rt::PackedTable bytes{4, 33, 16, 33, 3, 0};
    call_between_guards(GatherPacked<8, std::int32_t>{}, bytes, kBytes, kFloats, kBytes, kInts,
                        kFloatsOut, 3);
  });
}

TEST(External, ProductsOfWordsStayInsideTheirSpans) {
  expect_inside([] {
    const Bytes<const std::int16_t> words;
    const Bytes<std::int16_t> out;
    for (const int columns : {1, 7, 70}) {
      for (const bool channels_last : {true, false}) {
        for (const int corrected : {0, 1}) {
          const rt::FloatConvShape shape = float_shape(2, 3, columns, channels_last, 2);
          const rt::WordEnd end{0, corrected, 0, -9, 9};
          call_between_guards(ConvWords<std::int16_t>{}, shape, end, words, kBytes, kInts, kInts,
                              kInts, out);
        }
      }
    }
  });
}

}  // namespace
}  // namespace etch
