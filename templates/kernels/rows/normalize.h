// Softmax and LRN along an axis, and normalization of rows: calls of runtime/etch_normalize.h.
#pragma once

#include <cstdint>

#include "templates/external/normalize.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operands x and y, and so in the nest, whose rows run over what is not summed (n is 1).
struct RowsPlan {
  enum class Kind { kSoftmax, kLogarithm, kLrn };
  Kind kind = Kind::kSoftmax;
  rt::RowsShape shape{};
  rt::LrnShape lrn{};  // kLrn
  RowNest outer;
};

template <class S>
void rows_kernel(S& s, const RowsPlan& p) {
  walk_rows(s, p.outer, [&](const RowPlace<S>& at) {
    const auto x = s.template operand<const float>(0) + at[0];
    const auto y = s.template operand<float>(1) + at[1];
    if (p.kind == RowsPlan::Kind::kLrn) {
      s.call(external::LrnRows{}, p.shape, p.lrn, x, y);
    } else if (p.kind == RowsPlan::Kind::kLogarithm) {
      s.call(external::LogSoftmaxRows{}, p.shape, x, y);
    } else {
      s.call(external::SoftmaxRows{}, p.shape, x, y);
    }
  });
}

// InstanceNormalization and LayerNormalization. Operands of the nest (n is 1): x, factor, addend,
// y.
struct NormalizePlan {
  rt::RowsShape shape{};
  rt::RowAffine affine{};
  float epsilon = 0;
  Argument x, factor, addend;
  int y = 0;  // operand of the step
  RowNest outer;
};

template <class S>
void normalize_kernel(S& s, const NormalizePlan& p) {
  walk_rows(s, p.outer, [&](const RowPlace<S>& at) {
    s.call(external::NormalizeRows{}, p.shape, p.affine, p.epsilon,
           pointer_to<float>(s, p.x) + at[0], pointer_to<float>(s, p.factor) + at[1],
           pointer_to<float>(s, p.addend) + at[2], s.template operand<float>(p.y) + at[3]);
  });
}

}  // namespace etch
