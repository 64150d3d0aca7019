// Resolves NonZero of a constant; see op.h.
#include "compiler/ops/nonzero/op.h"

#include <cstring>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
bool is_zero(const Tensor& x, std::int64_t i) {
  if (x.dtype() == DType::kF64) return x.as<double>()[as_index(i)] == 0.0;
  const bool real =
      x.dtype() == DType::kF32 || x.dtype() == DType::kF16 || x.dtype() == DType::kBF16;
  return real ? x.real(i) == 0.0F : x.integer(i) == 0;
}

// The coordinates of the `count` elements that are not 0: a row per axis.
void fill(const Tensor& x, std::int64_t count, Tensor& out) {
  const std::vector<std::int64_t> dense = dense_strides(x.shape());
  const auto positions = out.as<std::int64_t>();
  std::int64_t column = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (is_zero(x, i)) continue;
    for (std::size_t d = 0; d < dense.size(); ++d) {
      positions[d * as_index(count) + as_index(column)] = i / dense[d] % x.shape()[d];
    }
    ++column;
  }
}

void resolve_nonzero(ResolveContext& context) {
  const Tensor* x = context.constant(0);
  if (x == nullptr) {
    context.needs_constant(0, "X",
                           "must be known at compile time: it decides the shape of the output");
    return;
  }
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < x->size(); ++i) count += is_zero(*x, i) ? 0 : 1;
  const Shape shape = {rank_of(x->shape()), count};
  context.set_constant_output(0, DType::kS64, shape, [&](Tensor& out) { fill(*x, count, out); });
}

constexpr OpName kNonzeroNames[] = {{kOnnx, "NonZero", 9}};
}  // namespace

extern const OpDef kOp_nonzero = {.folder = "nonzero",
                                  .names = kNonzeroNames,
                                  .arity = {.min_inputs = 1, .max_inputs = 1},
                                  .resolve = resolve_nonzero};

}  // namespace etch
