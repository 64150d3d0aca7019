// Every function of the runtime that has a descriptor stays inside the spans that it states;
// products, pools, loops and recurrent layers are in external_products_test.cc.
#include <gtest/gtest.h>

#include <vector>

#include "templates/external/antialias.h"
#include "templates/external/byte_lines.h"
#include "templates/external/byte_softmax.h"
#include "templates/external/convert.h"
#include "templates/external/half.h"
#include "templates/external/move.h"
#include "templates/external/non_max.h"
#include "templates/external/normalize.h"
#include "templates/external/ops.h"
#include "templates/external/plane_average.h"
#include "templates/external/roi.h"
#include "templates/external/scatter.h"
#include "templates/external/select.h"
#include "tests/support/external_calls.h"

namespace etch {
namespace {

using namespace testing;   // NOLINT: arguments of calls
using namespace external;  // NOLINT: the names under test

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
      call_between_guards(AddBytes{}, kBytes, kBytes, kOut, n, 5, 6, 7, 0, 3, 0, 255);
      for (const bool to_even : {false, true})
        call_between_guards(AddBytesNarrow{to_even}, kBytes, kBytes, kOut, n, 5, 6, 7, 3, 0, 255);
      for (const int step : {0, 1}) {
        call_between_guards(MultiplyBytes{}, kBytes, kBytes, step, kOut, n, 3, 5, 7, 9, 0, 3, 0,
                            255);
        for (const bool to_even : {false, true})
          call_between_guards(MultiplyBytesNarrow{to_even}, kBytes, kBytes, step, kOut, n, 3, 5, 7,
                              9, 3, 0, 255);
      }
      for (const int step : {1, 3})
        call_between_guards(QuantizeBits{}, kFloats, kOut, n, step, 0.5F, INT32_MIN, 30, -128, 127,
                            128);
      call_between_guards(Softmax{}, kFloats, kFloatsOut, 3, n);
      const Bytes<const float> table{std::vector<float>(256, 1.0F)};
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
        call_between_guards(TransposeElements<2>{}, kBytes, 2 * columns, kOut, 2 * rows, rows,
                            columns);
        call_between_guards(TransposeElements<4>{}, kBytes, 4 * columns + 3, kOut, 4 * rows, rows,
                            columns);
        call_between_guards(TransposeElements<8>{}, kBytes, 8 * columns, kOut, 8 * rows, rows,
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
    call_between_guards(CopyRun{}, kBytes, kOut, n);
    call_between_guards(FlipRun{}, kBytes, kOut, n, 128);
    call_between_guards(CopyBlock{}, kBytes, kOut, n);
    call_between_guards(RepeatElement{}, kBytes, kOut, 4, n);
    for (const int size : {1, 2, 4, 8}) {
      call_between_guards(RepeatEach{}, kBytes, kOut, size, 2, n);
      call_between_guards(RepeatEach{}, kBytes, kOut, size, 3, n);
    }
    call_between_guards(ChooseFromTables{}, kBytes, a, kBytes, b, kBytes, kBytes, a, kBytes, kOut,
                        n);
  });
  expect_inside([] {
    const Bytes<const std::int32_t> table{{0, 40, -20, 5, 0, 7, 3, 1, 9}};
    call_between_guards(Pick{}, kBytes, kOut, table, rt::Picked{{3, 2, 2, 2}, {50, -12, 6, 3}, 2});
    call_between_guards(Pick{}, kBytes, kOut, table, rt::Picked{{1, 1, 1, 6}, {0, 0, 0, 1}, 1});
    const Bytes<const std::int32_t> run{{0, 0, 0, 5, 2, 3, 4, 1}};
    call_between_guards(Pick{}, kBytes, kOut, run, rt::Picked{{1, 1, 1, 5}, {0, 0, 0, 1}, 1, 1, 3});
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

// Two windows that overlap and one from the start on; weights for seven inputs.
TEST(External, FiltersOfResizingStayInsideTheirSpans) {
  const Bytes<const std::int32_t> taps{{2, 3, 4, 3, 0, 1}};
  expect_inside([&] {
    for (const int inner : {1, 3, 16, 67}) {
      for (const int rows : {1, 2, 19}) {
        const rt::Filtered spread{3, rows, inner, 11 * inner, 5 * inner, inner + 1, inner, 0};
        call_between_guards(FilterAxis<float, float>{}, kFloats, kFloatsOut, taps, kFloats, spread,
                            kStored);
        call_between_guards(FilterAxis<Byte, std::int32_t>{}, kBytes, kOut, taps, kInts, spread,
                            kStored);
        const rt::Filtered dense{3, rows, inner, 7 * inner, 4 * inner, inner, inner, 3};
        call_between_guards(FilterTurnedAxis<float, float>{}, kFloats, kFloatsOut, kFloatsOut, taps,
                            kFloats, dense, kStored);
        call_between_guards(FilterTurnedAxis<Byte, std::int32_t>{}, kBytes, kOut, kOut, taps, kInts,
                            dense, kStored);
      }
    }
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
    call_between_guards(Combine<rt::DivByDoubles, std::int32_t>{}, kInts, a, kInts, b, kIntsOut, n);
    call_between_guards(Power{}, kFloats, a, kFloats, b, kFloatsOut, n);
    call_between_guards(PRelu{}, kFloats, a, kFloats, b, kFloatsOut, n);
    call_between_guards(CombineBytes<rt::Add>{}, kBytes, a, kStored, kBytes, b, kStored, kOut,
                        kStored, n);
    call_between_guards(CombineBytes<rt::Mod>{}, kBytes, a, kStored, kBytes, b, kStored, kOut,
                        kStored, n);
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
    call_between_guards(QuantizeRows<Byte, false>{}, kFloats, a, kFloats, b, kBytes, a, kStored,
                        kOut, kStored, rt::Range{0, 255}, n);
    call_between_guards(QuantizeRows<Byte, true>{}, kFloats, a, kFloats, b, kBytes, a, kStored,
                        kOut, kStored, rt::Range{0, 255}, n);
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
    call_between_guards(Choose<std::uint16_t>{}, kBytes, a, kHalves, b, kStored, kHalves, a,
                        kStored, kHalvesOut, kStored, n);
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
    call_between_guards(ScatterBytes{}, kBytes, 128, indices, kBytes, 0, kOut, 4, n, 5);
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

}  // namespace
}  // namespace etch
