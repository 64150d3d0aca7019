// Resolves NonZero of a constant; see op.h.
#include "compiler/ops/nonzero/op.h"

#include <cstring>

#include "compiler/ops/op.h"
#include "compiler/ops/strided.h"

namespace etch {

namespace {
bool is_zero(const Tensor& x, std::int64_t i) {
  if (x.dtype() == DType::kF64) return x.as<double>()[as_index(i)] == 0.0;
  const bool real =
      x.dtype() == DType::kF32 || x.dtype() == DType::kF16 || x.dtype() == DType::kBF16;
  return real ? x.real(i) == 0.0F : x.integer(i) == 0;
}

void resolve(ResolveContext& context) {
  const Tensor* x = context.constant(0);
  if (x == nullptr) {
    context.input_error(DiagKind::kUnsupported, 0, "X",
                        "must be known at compile time: it decides the shape of the output");
    return;
  }
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < x->size(); ++i) {
    if (!is_zero(*x, i)) found.push_back(i);
  }
  const std::int64_t rank = rank_of(x->shape());
  const std::vector<std::int64_t> dense = dense_strides(x->shape());
  std::vector<std::int64_t> positions;
  for (std::size_t d = 0; d < dense.size(); ++d) {
    for (const std::int64_t at : found) positions.push_back(at / dense[d] % x->shape()[d]);
  }
  const auto count = static_cast<std::int64_t>(found.size());
  context.set_constant_output(0, Tensor::of<std::int64_t>({rank, count}, positions));
}

constexpr OpName kNames[] = {{kOnnx, "NonZero", 9}};
}  // namespace

extern const OpDef kOp_nonzero = {.folder = "nonzero",
                                  .names = kNames,
                                  .arity = {.min_inputs = 1, .max_inputs = 1},
                                  .resolve = resolve};

}  // namespace etch
