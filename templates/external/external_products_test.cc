// Products, pools, loops and recurrent layers of the runtime stay inside the spans that their
// descriptors state; all others are in external_test.cc.
#include <gtest/gtest.h>

#include <vector>

#include "templates/external/float_depthwise_lines.h"
#include "templates/external/float_planes.h"
#include "templates/external/half_weights.h"
#include "templates/external/loop.h"
#include "templates/external/mve_columns.h"
#include "templates/external/packed_weights.h"
#include "templates/external/products.h"
#include "templates/external/recurrent.h"
#include "templates/external/word_matrices.h"
#include "templates/external/word_sums.h"
#include "templates/external/word_table.h"
#include "templates/external/words.h"
#include "tests/support/external_calls.h"

namespace etch {
namespace {

using namespace testing;   // NOLINT: arguments of calls
using namespace external;  // NOLINT: the names under test

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
          using Form = rt::PackedForm;
          for (const Form form : {Form::kBytes, Form::kWords, Form::kSquares}) {
            if (form != Form::kBytes && lanes < 4) continue;
            rt::PackedColumns s{depth, cols, lanes,   vectors, cols == 5, form,
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

TEST(External, PackingOfColumnsForHeliumStaysInsideItsSpans) {
  expect_inside([] {
    for (const int depth : {1, 15, 16, 21}) {
      for (const int cols : {1, 3, 8, 9}) {
        for (const int block : {2, 4, 8}) {
          rt::MveColumns s{depth, cols, block, cols, 1, 1, kStored, 3, 5};
          call_between_guards(MvePackColumns{}, s, kBytes, kFloats, kIntsOut);
          s.depth_step = 1, s.col_step = depth, s.scale_step = 0;
          call_between_guards(MvePackColumns{}, s, kBytes, kFloats, kIntsOut);
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
        call_between_guards(FloatPool<true, false>{}, s, kFloats, kFloatsOut);
        call_between_guards(FloatPool<false, false>{}, s, kFloats, kFloatsOut);
      }
    }
  });
}

TEST(External, PoolsOfLinesStayInsideTheirSpans) {
  expect_inside([] {
    for (const int in : {5, 9, 17, 24, 33, 70, 150}) {
      for (const int stride : {1, 2, 3}) {
        rt::PoolShape s{};
        s.batch = 2, s.channels = 5;
        const int out = (in + 1 - 3) / stride + 1;
        s.x_image = 35 * in, s.x_channel = 7 * in;
        s.y_image = 20 * out, s.y_channel = 4 * out;
        s.axis[0] = kOne;
        s.axis[1] = {7, 3, 4, 2, 1, 1, in, 0, out};
        s.axis[2] = {in, 3, out, stride, 1, 1, 1, 0, 1};
        call_between_guards(FloatPool<true, true>{}, s, kFloats, kFloatsOut);
        call_between_guards(FloatPool<false, true>{}, s, kFloats, kFloatsOut);
        s.axis[2].pad = 0, s.axis[2].in = (out - 1) * stride + 3;  // no position after the last
        call_between_guards(FloatPool<true, true>{}, s, kFloats, kFloatsOut);
        call_between_guards(FloatPool<false, true>{}, s, kFloats, kFloatsOut);
      }
    }
  });
}

TEST(External, SumsAndPoolsOfWordsStayInsideTheirSpans) {
  expect_inside([] {
    const Bytes<const std::int16_t> words;
    const Bytes<std::int16_t> out;
    const rt::WordSum<std::uint32_t> sum{{3, 1 << 20, 2}, {0, 1 << 19, 1}, 2, 34, {0, -9, 9}};
    const rt::WordProduct product{3, -2, 1u << 28, 5, 30, {0, -9, 9}};
    for (const std::int64_t n : {1, 7, 33}) {
      for (const std::int64_t step : {0, 1, 3}) {
        call_between_guards(SumWords<std::int16_t, std::uint32_t>{}, sum, words, step, words, 1,
                            out, n);
        call_between_guards(RescaleWords<std::int16_t, std::uint32_t>{}, sum, words, step, out, n);
        call_between_guards(MultiplyWords<std::int16_t>{}, product, words, step, words, 1, out, n);
        call_between_guards(MultiplyWords<std::int16_t>{}, product, words, 1, words, step, out, n);
      }
    }
    for (const int cols : {1, 7, 8, 21}) {
      for (const int depth : {1, 6, 259}) {
        const rt::WordMatrices matrices{5, depth, cols, depth, cols, cols};
        call_between_guards(MatMulWords<std::int16_t>{}, matrices, product, words, words, out);
      }
    }
    // Values begin in piece 0 or 1, from which steps of four reach the ninth.
    const Bytes<const std::int32_t> cubics{std::vector<std::int32_t>(4 * 9)};
    for (const int bits : {2, 8}) {
      const auto one_less = static_cast<std::uint16_t>((1 << bits) - 1);
      const Bytes<const std::uint16_t> index{std::vector<std::uint16_t>(65536U >> bits, one_less)};
      call_between_guards(TableWords<std::int16_t>{9}, bits, 4, 1, index, cubics, words, out, 33);
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
    for (const int rows : {5, 16, 70}) {
      product.out = 1;
      product.axis[2] = {rows, 1, rows, 1, 1, 0, 9, 0, 3};
      call_between_guards(FloatColumn{}, product, rt::FloatEnd{2, 3, 2, 0, 0}, kFloats, kFloats,
                          kFloats, kFloatsOut);
    }
  });
}

TEST(External, ProductsWithHalvesStayInsideTheirSpans) {
  expect_inside([] {
    using Half = rt::WidenHalf;
    for (const int out : {1, 7, 16, 70}) {
      for (const rt::FloatEnd end : {rt::FloatEnd{2, 3, 0, 1, 0}, rt::FloatEnd{1, 1, 0, 0, 0}}) {
        for (const int rows : {1, 2, 13}) {
          rt::FloatConvShape product = float_shape(1, 9, out, true, 2);
          product.axis[1] = kOne;
          product.axis[2] = {rows, 1, rows, 1, 1, 0, 9, 0, out};
          call_between_guards(HalfProduct<Half>{}, product, end, kFloats, kHalves, kFloats,
                              kFloatsOut);
          call_between_guards(HalfProduct<rt::WidenBfloat>{}, product, end, kFloats, kHalves,
                              kFloats, kFloatsOut);
        }
        for (const int columns : {4, 32, 64}) {
          const rt::FloatConvShape s = float_shape(2, 3, out, true, 2);
          call_between_guards(WidenedConv<Half>{}, s, end, columns, kFloats, kHalves, kFloats,
                              kFloatsOut, kFloatsOut);
        }
      }
      call_between_guards(GatherHalves<Half, std::int32_t>{}, kHalves, kInts, kFloatsOut, 2, 5, 3,
                          out);
    }
  });
}

TEST(External, ProductsOfPlanesStayInsideTheirSpans) {
  expect_inside([] {
    const rt::FloatEnd end{1, 1, 0, 1, 0};
    for (const int out : {1, 7, 16}) {
      rt::FloatConvShape mixed = float_shape(2, 3, out, false, 2);
      mixed.panel = 6;
      call_between_guards(FloatPlanes{}, mixed, end, kFloats, kFloats, kFloats, kFloatsOut,
                          kFloatsOut);
      rt::FloatConvShape depthwise = float_shape(out, 1, 1, false, 2);
      depthwise.y_channel = 77, depthwise.y_image = 77 * out;
      depthwise.axis[1] = {7, 3, 7, 1, 1, 1, 11, 0, 11};
      call_between_guards(FloatDepthwisePlanes<3, 4, 16>{}, depthwise, end, kFloats, kFloats,
                          kFloats, kFloatsOut, kFloatsOut);
      call_between_guards(FloatDepthwisePlanes<0, 3, 8>{}, depthwise, end, kFloats, kFloats,
                          kFloats, kFloatsOut, kFloatsOut);
    }
  });
}

TEST(External, ProductsThatReadZerosStayInsideTheirSpans) {
  expect_inside([] {
    const rt::FloatEnd end{1, 1, 0, 1, 0};
    for (const int out : {1, 7, 16, 70}) {
      call_between_guards(FloatIndirect{}, float_shape(2, 3, out, true, 2), end, kFloats, kFloats,
                          kFloats, kFloatsOut, kFloatsOut);
    }
    for (const int channels : {4, 9, 16, 37}) {
      const rt::FloatConvShape s = float_shape(channels, 1, 1, true, 2);
      call_between_guards(FloatDepthwiseLines<3, 1, 4>{}, s, end, kFloats, kFloats, kFloats,
                          kFloatsOut);
    }
  });
}

TEST(External, TransposedProductsOfPlanesStayInsideTheirSpans) {
  expect_inside([] {
    const rt::FloatEnd end{1, 1, 0, 1, 0};
    for (const int stride : {1, 2, 3}) {
      for (const int more : {0, 1}) {
        rt::FloatConvShape s = float_shape(2, 3, 2, false, 2);
        s.transposed = true;
        s.panel = 4;
        const int line = 10 * stride + 1 + more, lines = 13;
        s.axis[1] = {7, 3, lines, 2, 1, 1, 11, 0, line};
        s.axis[2] = {11, 3, line, stride, 1, 1, 1, 0, 1};
        s.y_channel = line * lines;
        s.y_image = s.y_channel * 4;
        call_between_guards(FloatTransposedPlanes{}, s, end, kFloats, kFloats, kFloats, kFloatsOut,
                            kFloatsOut);
      }
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
    const Bytes<const std::int8_t> signed_bytes;
    const Bytes<std::int8_t> signed_out;
    for (const int cols : {1, 7, 70}) {
      for (const int block : {3, 16, 64}) {
        const int part = block == 64 ? 16 : block;
        const rt::PackedProduct s{5, 37, cols, block, part, 64, 1, 1};
        const rt::PackedProduct one{5, 37, cols, block, part, 16, 0, 0};
        call_between_guards(PackedProduct<4, Byte>{}, s, kFloats, kBytes, kFloats, kBytes, kFloats,
                            kFloatsOut, kFloatsOut);
        call_between_guards(PackedProduct<2, float>{}, s, kFloats, kBytes, kFloats, kFloats,
                            kFloats, kFloatsOut, kFloatsOut);
        call_between_guards(PackedProduct<8, Byte>{}, one, kFloats, kBytes, kFloats, kBytes,
                            kFloats, kFloatsOut, kFloatsOut);
        const rt::PackedIntegers integers{5, 37, cols, block, 1, 1};
        const rt::PackedIntegers shared{5, 37, cols, block, 0, 0};
        call_between_guards(PackedIntegers<2, 4>{}, integers, signed_bytes, kInts, kFloats, kBytes,
                            kFloats, kBytes, kFloats, kFloatsOut);
        call_between_guards(PackedIntegers<4, 16>{}, shared, signed_bytes, kInts, kFloats, kBytes,
                            kFloats, kBytes, kFloats, kFloatsOut);
        call_between_guards(PackedIntegers<8, 1>{}, integers, signed_bytes, kInts, kFloats, kBytes,
                            kFloats, kBytes, kFloats, kFloatsOut);
        call_between_guards(QuantizeBlocks{}, 5, 37, block, 8, kFloats, signed_out, kIntsOut,
                            kFloatsOut);
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

template <rt::WordOrder order>
void call_products_of_words() {
  const Bytes<const std::int16_t> words;
  const Bytes<std::int16_t> out;
  for (const int columns : {1, 7, 70}) {
    for (const bool channels_last : {true, false}) {
      if (order == rt::WordOrder::kEights && !channels_last) continue;
      for (const int corrected : {0, 1}) {
        const rt::FloatConvShape shape = float_shape(2, 3, columns, channels_last, 2);
        const rt::WordEnd plain{0, corrected, 0, -9, 9, 0, shape.in};
        call_between_guards(ConvWords<std::int16_t, rt::WordForm::kPlain, order>{}, shape, plain,
                            words, kBytes, kInts, kInts, kInts, out);
        if constexpr (order == rt::WordOrder::kEights) continue;
        const rt::WordEnd parts{0, corrected, 0, -9, 9, 1, 2};
        call_between_guards(ConvWords<std::int16_t, rt::WordForm::kParts, order>{}, shape, parts,
                            words, kBytes, kInts, kInts, kInts, out);
      }
    }
  }
}

TEST(External, ProductsOfWordsStayInsideTheirSpans) {
  expect_inside(call_products_of_words<rt::WordOrder::kPairs>);
  expect_inside(call_products_of_words<rt::WordOrder::kFours>);
  expect_inside(call_products_of_words<rt::WordOrder::kEights>);
}

TEST(External, DepthwiseProductsOfWordsStayInsideTheirSpans) {
  expect_inside([] {
    const Bytes<const std::int16_t> words;
    const Bytes<std::int16_t> out;
    for (const int columns : {1, 7, 70}) {
      for (const int corrected : {0, 1}) {
        rt::FloatConvShape shape = float_shape(columns, 1, 1, true, 2);
        const rt::WordEnd end{0, corrected, 0, -9, 9, 0, 1};
        call_between_guards(DepthwiseWords<std::int16_t, rt::WordForm::kPlain>{}, shape, end, words,
                            words, kInts, kInts, kInts, out);
      }
    }
  });
}

}  // namespace
}  // namespace etch
