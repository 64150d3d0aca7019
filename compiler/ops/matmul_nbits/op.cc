// Checks and shapes of MatMulNBits; see op.h.
#include "compiler/ops/matmul_nbits/op.h"

#include <bit>
#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kMatmulNbitsNames[] = {{kMicrosoft, "MatMulNBits", 1}, {kEtch, "MatMulNBits", 1}};

// An attribute that has to be in [least, most].
std::int64_t read(ResolveContext& context, const char* name, std::int64_t fallback,
                  std::int64_t least, std::int64_t most) {
  const std::int64_t value = context.int_attr(name, fallback);
  if (value < least || value > most)
    context.attr_error(name, cat("must be in [", least, ", ", most, "], got ", value));
  return value;
}

// ONNX Runtime has no integer product of 2 bits in other blocks, and takes floats there. In the
// domain of Etch the bits are those that the values need, and the file may have had more.
bool can_quantize_a(const MatMulNBits& params, bool own) {
  return own || params.bits > 2 || (params.block >= 32 && params.block <= 128);
}

MatMulNBits read_attributes(ResolveContext& context) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  MatMulNBits params;
  params.depth = read(context, "K", 0, 1, kMost);
  params.cols = read(context, "N", 0, 1, kMost);
  params.bits = read(context, "bits", 4, 2, 8);
  const bool own = context.node().domain == kEtch;
  params.block = read(context, "block_size", 0, own ? 1 : 16, kMost);
  params.quantizes_a = read(context, "accuracy_level", 0, 0, 4) == 4 && can_quantize_a(params, own);
  if (context.int_attr("weight_prepacked", 0) != 0)
    context.attr_error("weight_prepacked", "must be 0: other orders are those of one device");
  if (!std::has_single_bit(static_cast<std::uint64_t>(params.bits)))
    context.attr_error("bits", cat("must be 2, 4 or 8, got ", params.bits));
  if (!own && params.block > 0 && !std::has_single_bit(static_cast<std::uint64_t>(params.block)))
    context.attr_error("block_size", cat("must be a power of two, got ", params.block));
  return params;
}

bool check_constant(ResolveContext& context, int i, const char* role) {
  if (context.constant(i) != nullptr) return true;
  context.needs_constant(i, role);
  return false;
}

bool check_count(ResolveContext& context, int i, const char* role, std::int64_t count) {
  const Shape& shape = context.shape(i);
  if (element_count(shape) == count) return true;
  context.input_error(DiagKind::kShape, i, role,
                      cat("must have ", counted(count, "element"), ", got ", to_string(shape)));
  return false;
}

void check_finite(ResolveContext& context, int i, const char* role) {
  for (const float value : context.constant(i)->as<float>()) {
    if (std::isfinite(value)) continue;
    context.input_error(DiagKind::kQuant, i, role, "must be finite");
    return;
  }
}

void check_zero_points(ResolveContext& context, MatMulNBits& params) {
  constexpr const char* kRole = "zero_points";
  if (!context.has_input(3) || !check_dtype(context, 3, kRole, {DType::kU8, DType::kF32}) ||
      !check_constant(context, 3, kRole))
    return;
  const bool packed = context.dtype(3) == DType::kU8;
  const std::int64_t each = packed ? (params.blocks * params.bits + 7) / 8 : params.blocks;
  if (!check_count(context, 3, kRole, params.cols * each) || packed) return;
  check_finite(context, 3, kRole);
  params.quantizes_a = false;
}

void check_weights(ResolveContext& context, MatMulNBits& params) {
  const Shape packed{params.cols, params.blocks, params.block_bytes()};
  if (check_dtype(context, 1, "B", {DType::kU8}) && check_constant(context, 1, "B") &&
      context.shape(1) != packed && context.shape(1) != Shape{packed[0], packed[1] * packed[2]})
    context.input_error(DiagKind::kShape, 1, "B",
                        cat("must be ", to_string(packed), ", got ", to_string(context.shape(1))));
  if (check_float32(context, 2, "scales") && check_constant(context, 2, "scales") &&
      check_count(context, 2, "scales", params.cols * params.blocks))
    check_finite(context, 2, "scales");
  check_zero_points(context, params);
  if (context.has_input(5) && check_float32(context, 5, "bias"))
    check_count(context, 5, "bias", params.cols);
}

void resolve_matmul_nbits(ResolveContext& context) {
  MatMulNBits params = read_attributes(context);
  if (context.failed() || !check_float32(context, 0, "A")) return;
  params.blocks = (params.depth - 1) / params.block + 1;
  Shape shape = context.shape(0);
  if (shape.empty() || shape.back() != params.depth) {
    context.input_error(DiagKind::kShape, 0, "A",
                        cat("must end in ", params.depth, " (K), got ", to_string(shape)));
    return;
  }
  check_weights(context, params);
  if (context.failed()) return;
  shape.back() = params.cols;
  params.rows = element_count(context.shape(0)) / params.depth;
  context.set_output(0, DType::kF32, shape);
  context.set_params(params);
}

}  // namespace

int MatMulNBits::value_at(const Tensor& b, std::int64_t n, std::int64_t k) const {
  const std::int64_t bit = k % block * bits;
  const std::int64_t byte = (n * blocks + k / block) * block_bytes() + bit / 8;
  return (b.as<std::uint8_t>()[as_index(byte)] >> (bit % 8)) & ((1 << bits) - 1);
}

float MatMulNBits::zero_at(const Tensor* zeros, std::int64_t n, std::int64_t i) const {
  if (zeros == nullptr) return static_cast<float>(1 << (bits - 1));
  if (zeros->dtype() == DType::kF32) return zeros->as<float>()[as_index(n * blocks + i)];
  const std::int64_t bit = i * bits;
  const std::int64_t byte = n * ((blocks * bits + 7) / 8) + bit / 8;
  const int value = zeros->as<std::uint8_t>()[as_index(byte)] >> (bit % 8);
  return static_cast<float>(value & ((1 << bits) - 1));
}

extern const OpDef kOp_matmul_nbits = {.folder = "matmul_nbits",
                                       .names = kMatmulNbitsNames,
                                       .arity = {.min_inputs = 3, .max_inputs = 6},
                                       .resolve = resolve_matmul_nbits,
                                       .reference = reference_matmul_nbits,
                                       .lower = lower_matmul_nbits};

}  // namespace etch
