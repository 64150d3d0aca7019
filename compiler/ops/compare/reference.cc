// Comparisons and logic by plain loops; see op.h.
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/compare/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
template <class T>
bool holds(Compare::Kind kind, T a, T b) {
  switch (kind) {
    case Compare::Kind::kEqual:
      return a == b;
    case Compare::Kind::kLess:
      return a < b;
    case Compare::Kind::kLessOrEqual:
      return a <= b;
    case Compare::Kind::kGreater:
      return a > b;
    case Compare::Kind::kGreaterOrEqual:
      return a >= b;
    case Compare::Kind::kAnd:
      return a != 0 && b != 0;
    case Compare::Kind::kOr:
      return a != 0 || b != 0;
    case Compare::Kind::kXor:
      return (a != 0) != (b != 0);
    case Compare::Kind::kNot:
      return a == 0;
  }
  ETCH_CHECK(false);
}

bool element_holds(Compare::Kind kind, const Tensor& a, std::int64_t i, const Tensor& b,
                   std::int64_t j) {
  switch (a.dtype()) {
    case DType::kF64:
      return holds(kind, a.as<double>()[as_index(i)], b.as<double>()[as_index(j)]);
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      return holds(kind, a.real(i), b.real(j));
    case DType::kU64:
      return holds(kind, a.as<std::uint64_t>()[as_index(i)], b.as<std::uint64_t>()[as_index(j)]);
    default:
      return holds(kind, a.integer(i), b.integer(j));
  }
}
}  // namespace

std::vector<Tensor> compare_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const auto& params = params_of<Compare>(node);
  const Tensor& a = *inputs[0];
  const Tensor& b = *inputs[params.kind == Compare::Kind::kNot ? 0 : 1];
  const StridedView a_view = broadcast_view(a.shape(), params.shape);
  const StridedView b_view = broadcast_view(b.shape(), params.shape);
  Tensor y(DType::kBool, params.shape);
  std::size_t to = 0;
  for_each<2>(params.shape, {&a_view, &b_view}, [&](const std::array<std::int64_t, 2>& at) {
    y.as<std::uint8_t>()[to++] = element_holds(params.kind, a, at[0], b, at[1]) ? 1 : 0;
  });
  return {y};
}

}  // namespace etch
