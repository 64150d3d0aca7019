// Kernels for products whose weights, scales or zero points are known at run time: calls of the
// runtime's plain loops (runtime/etch_products.h). Constant weights have kernels of their own in
// conv.h and depthwise.h.
#pragma once

#include <cstdint>
#include <vector>

#include "templates/external/products.h"
#include "templates/kernels/arguments.h"
#include "templates/kernels/rows/rows.h"

namespace etch {

// Scales and biases of an operator with 8-bit output.
struct RequantizeArguments {
  rt::Requantized how{};
  Argument x_scale, w_scale, y_scale, y_zero, bias;
};

// ConvInteger, QLinearConv and QLinearConvTranspose.
struct GeneralConvPlan {
  bool requantized = false;  // 8-bit output, else int32
  rt::ConvShape shape{};
  Argument x, x_zero, w, w_zero;
  RequantizeArguments out;
  int y = 0;  // operand of the step
};

template <class S>
void general_conv_kernel(S& s, const GeneralConvPlan& p) {
  using Byte = std::uint8_t;
  if (!p.requantized) {
    s.call(external::ConvInteger{}, p.shape, pointer_to<Byte>(s, p.x),
           pointer_to<Byte>(s, p.x_zero), pointer_to<Byte>(s, p.w), pointer_to<Byte>(s, p.w_zero),
           s.template operand<std::int32_t>(p.y));
    return;
  }
  s.call(external::QLinearConv{}, p.shape, p.out.how, pointer_to<Byte>(s, p.x),
         pointer_to<float>(s, p.out.x_scale), pointer_to<Byte>(s, p.x_zero),
         pointer_to<Byte>(s, p.w), pointer_to<float>(s, p.out.w_scale),
         pointer_to<Byte>(s, p.w_zero), pointer_to<float>(s, p.out.y_scale),
         pointer_to<Byte>(s, p.out.y_zero), pointer_to<std::int32_t>(s, p.out.bias),
         s.template operand<Byte>(p.y));
}

// MatMulInteger and QLinearMatMul. Operands of `matrices`, one iteration per pair of matrices: a,
// b, y; then the steps of the parameters that belong to rows of a (zero point) and columns of b
// (zero point, scale), in `parameters`.
struct GeneralMatMulPlan {
  bool requantized = false;
  rt::MatMulShape shape{};
  Argument a, a_zero, b, b_zero;
  RequantizeArguments out;  // w_scale belongs to b
  int y = 0;
  RowNest matrices;                  // n = 1; operand 3: unused
  std::vector<RowSteps> parameters;  // per axis of `matrices`: a_zero, b_zero, b_scale, unused
};

namespace products_detail {

template <class S>
void matrices(S& s, const GeneralMatMulPlan& p, std::size_t axis, const RowPlace<S>& at,
              const RowPlace<S>& parameter) {
  static constexpr const char* kNames[] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
  if (axis < p.matrices.axes.size()) {
    const RowAxis& here = p.matrices.axes[axis];
    s.loop(kNames[axis], here.count, [&](const typename S::Index& i) {
      RowPlace<S> inner = at;
      RowPlace<S> moved = parameter;
      for (std::size_t o = 0; o < kRowOperands; ++o) {
        inner[o] = at[o] + i * here.step[o];
        moved[o] = parameter[o] + i * p.parameters[axis][o];
      }
      matrices(s, p, axis + 1, inner, moved);
    });
    return;
  }
  using Byte = std::uint8_t;
  const rt::MatMulShape& m = p.shape;
  const auto pa = pointer_to<Byte>(s, p.a) + at[0];
  const auto pb = pointer_to<Byte>(s, p.b) + at[1];
  const auto pa_zero = pointer_to<Byte>(s, p.a_zero) + parameter[0];
  const auto pb_zero = pointer_to<Byte>(s, p.b_zero) + parameter[1];
  if (!p.requantized) {
    s.call(external::MatMulInteger{}, m, pa, pa_zero, pb, pb_zero,
           s.template operand<std::int32_t>(p.y) + at[2]);
    return;
  }
  s.call(external::QLinearMatMul{}, m, p.out.how, pa, pointer_to<float>(s, p.out.x_scale), pa_zero,
         pb, pointer_to<float>(s, p.out.w_scale) + parameter[2], pb_zero,
         pointer_to<float>(s, p.out.y_scale), pointer_to<Byte>(s, p.out.y_zero),
         s.template operand<Byte>(p.y) + at[2]);
}

}  // namespace products_detail

template <class S>
void general_matmul_kernel(S& s, const GeneralMatMulPlan& plan) {
  RowPlace<S> start;
  RowPlace<S> parameter;
  for (std::size_t o = 0; o < kRowOperands; ++o) start[o] = parameter[o] = typename S::Index(0);
  products_detail::matrices(s, plan, 0, start, parameter);
}

// The start values of a convolution with constant weights: operands zero point and start, and the
// constant "factors".
struct FoldPlan {
  Argument zero_point;
  int offset = 0;
  int n = 0;
  int start = 1;  // operand of the step
};

template <class S>
void fold_kernel(S& s, const FoldPlan& plan) {
  s.call(external::FoldZeroPoint{}, pointer_to<std::uint8_t>(s, plan.zero_point),
         plan.zero_point.stored, plan.offset, s.template constant<const std::int32_t>("factors"),
         s.template operand<std::int32_t>(plan.start), plan.n);
}

// Adds the same numbers to every row of y.
struct AddToRowsPlan {
  Argument start;
  int rows = 1, channels = 1;
  int y = 1;  // operand of the step, read and written
};

template <class S>
void add_to_rows_kernel(S& s, const AddToRowsPlan& plan) {
  s.call(external::AddToRows{}, pointer_to<std::int32_t>(s, plan.start),
         s.template operand<std::int32_t>(plan.y), plan.rows, plan.channels);
}

// The halo of x, where its value is known at run time.
struct FillZeroPointPlan {
  Argument zero_point;
  int offset = 0;
  FillPlan halo;
  int x = 1;  // operand of the step
};

template <class S>
void fill_zero_point_kernel(S& s, const FillZeroPointPlan& plan) {
  const auto zero = pointer_to<std::uint8_t>(s, plan.zero_point);
  for_each_run(s, plan.halo, s.template operand<std::uint8_t>(plan.x), [&](const auto& y, int n) {
    s.call(external::FillZeroPoint{}, zero, plan.zero_point.stored, plan.offset, y, n);
  });
}

// MaxPool and AveragePool of floats: operands x, y.
struct FloatPoolPlan {
  bool averages = false;
  bool lines = false;  // both tensors have neighbouring positions on the last axis
  rt::PoolShape shape{};
};

template <class S>
void float_pool_kernel(S& s, const FloatPoolPlan& plan) {
  const auto x = s.template operand<const float>(0);
  const auto y = s.template operand<float>(1);
  if (plan.averages && plan.lines) {
    s.call(external::FloatPool<true, true>{}, plan.shape, x, y);
  } else if (plan.averages) {
    s.call(external::FloatPool<true, false>{}, plan.shape, x, y);
  } else if (plan.lines) {
    s.call(external::FloatPool<false, true>{}, plan.shape, x, y);
  } else {
    s.call(external::FloatPool<false, false>{}, plan.shape, x, y);
  }
}

}  // namespace etch
