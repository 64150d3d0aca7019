// Kernels for float convolutions and matrix products: calls of runtime/etch_float_products.h.
#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"
#include "templates/external/float_depthwise_lines.h"
#include "templates/external/float_planes.h"
#include "templates/external/half_weights.h"
#include "templates/external/products.h"
#include "templates/kernels/arguments.h"

namespace etch {

// What fills vectors: columns (of pixels side by side, or anywhere) or channels, the rows beside
// one column, or positions of planes.
enum class FloatProductKind {
  kColumns,
  kIndirect,
  kOneColumn,
  kDepthwise,
  kDepthwiseLines,
  kPlanes,
  kTransposedPlanes,
  kDepthwisePlanes
};

// Weights that are constants of 16 bits (etch_half_weights.h). Columns of them are widened at once,
// or without memory for that each weight where it is multiplied.
struct HalfWeights {
  DType type = DType::kF32;  // kF16 or kBF16; else they are floats
  int columns = 0;           // at once
  int widened = -1;          // operand of the step
};

// Conv, ConvTranspose, MatMul and Gemm. Operands of `matrices`, one iteration per pair of matrices:
// x, packed weights, y. Elements of the arguments and of y count for one pair.
struct FloatProductPlan {
  FloatProductKind kind = FloatProductKind::kColumns;
  rt::FloatConvShape shape{};
  rt::FloatEnd end{1, 1, 0, 0, 0};
  Argument x, w, c;
  FloatSteps steps = FloatSteps::kSeparate;
  HalfWeights halves;  // of kColumns
  int y = 0;           // operand of the step
  int lines = 0;       // of planes: the operand that their copies take; zeros, if indirect
  RowNest matrices;    // n = 1
};

// Calls call(descriptor) of depthwise lines as float_depthwise_lines() is compiled for a geometry.
template <int kernel, int stride, class Call>
void with_filled_lanes(const rt::FloatConvShape& s, Call call) {
  if (s.group >= 16) return call(external::FloatDepthwiseLines<kernel, stride, 16>{});
  if (s.group >= 8) return call(external::FloatDepthwiseLines<kernel, stride, 8>{});
  call(external::FloatDepthwiseLines<kernel, stride, 4>{});
}
template <int kernel, class Call>
void with_stride(const rt::FloatConvShape& s, Call call) {
  if (s.axis[2].stride == 1) return with_filled_lanes<kernel, 1>(s, call);
  with_filled_lanes<kernel, 2>(s, call);
}
template <class Call>
void with_depthwise_line(const rt::FloatConvShape& s, Call call) {
  if (s.axis[2].kernel == 3) return with_stride<3>(s, call);
  if (s.axis[2].kernel == 5) return with_stride<5>(s, call);
  with_stride<7>(s, call);
}

// Calls call(descriptor) of depthwise planes with the tile that their geometry asks for.
template <int size, int rows, class Call>
void with_most_lanes(const rt::DepthwiseTile& tile, Call call) {
  if (tile.most == 16) return call(external::FloatDepthwisePlanes<size, rows, 16>{});
  if (tile.most == 8) return call(external::FloatDepthwisePlanes<size, rows, 8>{});
  call(external::FloatDepthwisePlanes<size, rows, 4>{});
}
template <int size, class Call>
void with_rows(const rt::DepthwiseTile& tile, Call call) {
  if constexpr (size == 0) {
    if (tile.rows == 7) return with_most_lanes<size, 7>(tile, call);
  }
  if (tile.rows == 4) return with_most_lanes<size, 4>(tile, call);
  if (tile.rows == 3) return with_most_lanes<size, 3>(tile, call);
  with_most_lanes<size, 1>(tile, call);
}
template <class Call>
void with_depthwise_tile(const rt::DepthwiseTile& tile, Call call) {
  if (tile.size == 3) return with_rows<3>(tile, call);
  if (tile.size == 5) return with_rows<5>(tile, call);
  with_rows<0>(tile, call);
}

template <class Form, class S>
void half_product_kernel(S& s, const FloatProductPlan& p) {
  const HalfWeights& h = p.halves;
  walk_rows(s, p.matrices, [&](const RowPlace<S>& at) {
    const auto x = pointer_to<float>(s, p.x) + at[0];
    const auto w = pointer_to<std::uint16_t>(s, p.w) + at[1];
    const auto c = pointer_to<float>(s, p.c);
    const auto y = s.template operand<float>(p.y) + at[2];
    if (h.widened < 0)
      return s.call(external::HalfProduct<Form>{}.with(p.steps), p.shape, p.end, x, w, c, y);
    s.call(external::WidenedConv<Form>{}.with(p.steps), p.shape, p.end, h.columns, x, w, c, y,
           s.template operand<float>(h.widened));
  });
}

template <class S>
void float_product_kernel(S& s, const FloatProductPlan& p) {
  if (p.halves.type == DType::kF16) return half_product_kernel<rt::WidenHalf>(s, p);
  if (p.halves.type == DType::kBF16) return half_product_kernel<rt::WidenBfloat>(s, p);
  walk_rows(s, p.matrices, [&](const RowPlace<S>& at) {
    const auto x = pointer_to<float>(s, p.x) + at[0];
    const auto w = pointer_to<float>(s, p.w) + at[1];
    const auto c = pointer_to<float>(s, p.c);
    const auto y = s.template operand<float>(p.y) + at[2];
    const auto lines = [&] { return s.template operand<float>(p.lines); };
    switch (p.kind) {
      case FloatProductKind::kColumns:
        return s.call(external::FloatConv<false>{}.with(p.steps), p.shape, p.end, x, w, c, y);
      case FloatProductKind::kIndirect:
        return s.call(external::FloatIndirect{}.with(p.steps), p.shape, p.end, x, w, c, y, lines());
      case FloatProductKind::kOneColumn:
        return s.call(external::FloatColumn{}.with(p.steps), p.shape, p.end, x, w, c, y);
      case FloatProductKind::kDepthwise:
        return s.call(external::FloatConv<true>{}.with(p.steps), p.shape, p.end, x, w, c, y);
      case FloatProductKind::kDepthwiseLines:
        return with_depthwise_line(p.shape, [&](const auto& function) {
          s.call(function.with(p.steps), p.shape, p.end, x, w, c, y);
        });
      case FloatProductKind::kPlanes:
        return s.call(external::FloatPlanes{}.with(p.steps), p.shape, p.end, x, w, c, y, lines());
      case FloatProductKind::kTransposedPlanes:
        return s.call(external::FloatTransposedPlanes{}.with(p.steps), p.shape, p.end, x, w, c, y,
                      lines());
      case FloatProductKind::kDepthwisePlanes:
        return with_depthwise_tile(rt::depthwise_tile_of(p.shape), [&](const auto& function) {
          s.call(function.with(p.steps), p.shape, p.end, x, w, c, y, lines());
        });
    }
  });
}

// Weights that are known at run time only, packed into panels: operands w and packed.
struct PackPlan {
  rt::PackShape shape{};
};

template <class S>
void pack_kernel(S& s, const PackPlan& p) {
  s.call(external::PackPanels{}, p.shape, s.template operand<const float>(0),
         s.template operand<float>(1));
}

}  // namespace etch
