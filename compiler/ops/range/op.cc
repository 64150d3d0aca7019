// Resolves Range: the output is known when compiling; see op.h.
#include "compiler/ops/range/op.h"

#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
constexpr std::int64_t kMost = std::int64_t{1} << 20;  // elements

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
      context.input_error(DiagKind::kUnsupported, i, role, "must be known at compile time");
      return false;
    }
  }
  return true;
}

// How many elements; nothing when delta is 0 or there are too many.
std::optional<std::int64_t> count_of(double start, double limit, double delta) {
  if (delta == 0.0) return std::nullopt;
  const double count = std::ceil((limit - start) / delta);
  if (!(count <= static_cast<double>(kMost))) return std::nullopt;
  return count < 0.0 ? 0 : static_cast<std::int64_t>(count);
}

Tensor floats(ResolveContext& context, std::int64_t count) {
  Tensor out(DType::kF32, {count});
  float value = context.constant(0)->real(0);
  for (float& element : out.as<float>()) {
    element = value;
    value += context.constant(2)->real(0);  // as ONNX Runtime does: step by step
  }
  return out;
}

Tensor integers(ResolveContext& context, std::int64_t count) {
  // Unsigned: near the ends of the type the count, a double, can be one too many, and wraps.
  const auto start = static_cast<std::uint64_t>(context.constant(0)->integer(0));
  const auto delta = static_cast<std::uint64_t>(context.constant(2)->integer(0));
  Tensor out(context.dtype(0), {count});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto value = static_cast<std::int64_t>(start + at * delta);
    if (out.dtype() == DType::kS32) {
      out.as<std::int32_t>()[at] = static_cast<std::int32_t>(value);
    } else {
      out.as<std::int64_t>()[at] = value;
    }
  }
  return out;
}

void resolve(ResolveContext& context) {
  if (!check_inputs(context)) return;
  const bool real = context.dtype(0) == DType::kF32;
  const auto number = [&](int i) {
    const Tensor& tensor = *context.constant(i);
    return real ? double{tensor.real(0)} : static_cast<double>(tensor.integer(0));
  };
  const auto count = count_of(number(0), number(1), number(2));
  if (!count) {
    context.error(DiagKind::kLimit, cat("delta is 0, or there are more than ", kMost, " elements"));
    return;
  }
  context.set_constant_output(0, real ? floats(context, *count) : integers(context, *count));
}

constexpr OpName kNames[] = {{kOnnx, "Range", 11}};
}  // namespace

extern const OpDef kOp_range = {.folder = "range",
                                .names = kNames,
                                .arity = {.min_inputs = 3, .max_inputs = 3},
                                .resolve = resolve};

}  // namespace etch
