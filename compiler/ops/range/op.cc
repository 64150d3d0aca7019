// Resolves Range: the output is known when compiling; see op.h.
#include "compiler/ops/range/op.h"

#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
constexpr const char* kRoles[] = {"start", "limit", "delta"};

bool check_inputs(ResolveContext& context) {
  if (!check_same_dtype(context, 3)) return false;
  if (!check_dtype(context, 0, "start", {DType::kF32, DType::kS32, DType::kS64})) return false;
  for (int i = 0; i < 3; ++i) {
    const char* const role = kRoles[i];
    if (element_count(context.shape(i)) != 1) {
      context.input_error(DiagKind::kShape, i, role, "must be a scalar");
      return false;
    }
    if (context.constant(i) == nullptr) {
      context.needs_constant(i, role);
      return false;
    }
  }
  return true;
}

// How many elements there are between the bounds; at most INT64_MAX, which no limit allows.
std::int64_t count_of(double start, double limit, double delta) {
  constexpr double kMost = 0x1p62;
  const double count = std::ceil((limit - start) / delta);
  if (count > kMost) return INT64_MAX;
  return count < 0.0 ? 0 : static_cast<std::int64_t>(count);
}

void fill_floats(const ResolveContext& context, Tensor& out) {
  float value = context.constant(0)->real(0);
  for (float& element : out.as<float>()) {
    element = value;
    value += context.constant(2)->real(0);  // as ONNX Runtime does: step by step
  }
}

void fill_integers(const ResolveContext& context, Tensor& out) {
  // Unsigned: near the ends of the type the count, a double, can be one too many, and wraps.
  const auto start = static_cast<std::uint64_t>(context.constant(0)->integer(0));
  const auto delta = static_cast<std::uint64_t>(context.constant(2)->integer(0));
  const auto count = static_cast<std::size_t>(element_count(out.shape()));
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<std::int64_t>(start + i * delta);
    if (out.dtype() == DType::kS32) {
      out.as<std::int32_t>()[i] = static_cast<std::int32_t>(value);
    } else {
      out.as<std::int64_t>()[i] = value;
    }
  }
}

// The input as a number; nothing, with a report, if it is none.
std::optional<double> number_of(ResolveContext& context, int i) {
  const Tensor& tensor = *context.constant(i);
  const double number = tensor.dtype() == DType::kF32 ? double{tensor.real(0)}
                                                      : static_cast<double>(tensor.integer(0));
  if (std::isfinite(number) && !(i == 2 && number == 0.0)) return number;
  context.input_error(DiagKind::kTensor, i, kRoles[i],
                      number == 0.0 ? "must not be 0" : "must be finite");
  return std::nullopt;
}

void resolve_range(ResolveContext& context) {
  if (!check_inputs(context)) return;
  const auto start = number_of(context, 0);
  const auto limit = number_of(context, 1);
  const auto delta = number_of(context, 2);
  if (!start || !limit || !delta) return;
  const DType dtype = context.dtype(0);
  context.set_constant_output(0, dtype, {count_of(*start, *limit, *delta)}, [&](Tensor& out) {
    dtype == DType::kF32 ? fill_floats(context, out) : fill_integers(context, out);
  });
}

constexpr OpName kRangeNames[] = {{kOnnx, "Range", 11}};
}  // namespace

extern const OpDef kOp_range = {.folder = "range",
                                .names = kRangeNames,
                                .arity = {.min_inputs = 3, .max_inputs = 3},
                                .resolve = resolve_range};

}  // namespace etch
