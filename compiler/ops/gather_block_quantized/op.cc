// Checks and shapes of GatherBlockQuantized; see op.h.
#include "compiler/ops/gather_block_quantized/op.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kGatherBlockQuantizedNames[] = {{kMicrosoft, "GatherBlockQuantized", 1}};

// What one byte of the file's data holds; types of 4 bits have one value per element here.
std::int64_t per_element(const GatherBlockQuantized& p) {
  return p.type == DType::kU8 ? 8 / p.bits : 1;
}

bool read_attributes(ResolveContext& context, GatherBlockQuantized& p) {
  p.bits = context.int_attr("bits", 4);
  p.block = context.int_attr("block_size", 128);
  const auto rank = rank_of(context.shape(0));
  const auto gather = axis_attr(context, "gather_axis", 0, rank);
  const auto quantize = axis_attr(context, "quantize_axis", 1, rank);
  if (p.bits != 2 && p.bits != 4 && p.bits != 8)
    context.attr_error("bits", cat("must be 2, 4 or 8, got ", p.bits));
  if (p.block < 16 || !std::has_single_bit(static_cast<std::uint64_t>(p.block)))
    context.attr_error("block_size", cat("must be a power of two from 16 on, got ", p.block));
  if (gather && *gather != 0)
    context.error(DiagKind::kUnsupported, cat("gather_axis must be 0, got ", *gather));
  if (quantize && (*quantize != rank - 1 || rank < 2))
    context.error(DiagKind::kUnsupported,
                  cat("quantize_axis must be the last one and not gather_axis, got ", *quantize));
  return !context.failed();
}

// int8 is what the pass that widens 4 bits makes of int4 and uint4, and of nothing else.
bool has_four_bits(const Tensor& data) {
  const std::vector<std::int64_t> values = data.integers();
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return values.empty() || (*low >= -8 && *high <= (*low < 0 ? 7 : 15));
}

bool check_constants(ResolveContext& context) {
  constexpr const char* kRoles[] = {"data", "indices", "scales", "zero_points"};
  for (const int i : {0, 2, 3}) {
    if (!context.has_input(i) || context.constant(i) != nullptr) continue;
    context.needs_constant(i, kRoles[i]);
  }
  if (context.failed()) return false;
  if (context.dtype(0) == DType::kS8 && !has_four_bits(*context.constant(0)))
    context.input_error(DiagKind::kType, 0, "data", "must be uint8, uint4 or int4, got int8");
  return !context.failed();
}

bool check_shapes(ResolveContext& context, const GatherBlockQuantized& p, const Shape& values) {
  Shape scales = values;
  scales.back() = (p.last - 1) / p.block + 1;
  if (context.shape(2) != scales)
    context.input_error(DiagKind::kShape, 2, "scales",
                        cat("must be ", to_string(scales), ", got ", to_string(context.shape(2))));
  if (p.inner != p.last && p.last % p.block != 0)
    context.error(DiagKind::kUnsupported, "rows of more than one axis must be whole blocks");
  if (!context.has_input(3)) return !context.failed();
  Shape zeros = scales;
  zeros.back() = (zeros.back() - 1) / per_element(p) + 1;
  if (context.dtype(3) != p.type)
    context.input_error(DiagKind::kType, 3, "zero_points", "must have the type of data");
  if (context.shape(3) != zeros)
    context.input_error(DiagKind::kShape, 3, "zero_points",
                        cat("must be ", to_string(zeros), ", got ", to_string(context.shape(3))));
  return !context.failed();
}

void resolve_gather_block_quantized(ResolveContext& context) {
  GatherBlockQuantized p;
  const bool types =
      check_dtype(context, 0, "data", {DType::kU8, DType::kU4, DType::kS4, DType::kS8});
  const bool indices = check_dtype(context, 1, "indices", {DType::kS32, DType::kS64});
  if (!types || !indices || !check_float32(context, 2, "scales")) return;
  p.type = context.dtype(0);
  if (!read_attributes(context, p) || !check_constants(context)) return;
  Shape values = context.shape(0);
  values.back() *= per_element(p);
  if (element_count(values) == 0) return context.error(DiagKind::kShape, "data must not be empty");
  if (p.type != DType::kU8) p.bits = 4;
  p.size = values[0];
  p.inner = element_count(values) / p.size;
  p.last = values.back();
  if (!check_shapes(context, p, values)) return;
  for (const float scale : context.constant(2)->as<float>()) {
    if (std::isfinite(scale)) continue;
    return context.input_error(DiagKind::kQuant, 2, "scales", "must be finite");
  }
  p.shape = context.shape(1);
  p.shape.insert(p.shape.end(), values.begin() + 1, values.end());
  context.set_output(0, DType::kF32, p.shape);
  context.set_params(p);
}

// Value i of those that are packed from byte `start` on.
int unpacked(const Tensor& from, std::int64_t start, std::int64_t i, std::int64_t bits) {
  const std::int64_t bit = i * bits;
  return (from.as<std::uint8_t>()[as_index(start + bit / 8)] >> (bit % 8)) & ((1 << bits) - 1);
}

}  // namespace

int GatherBlockQuantized::value_at(const Tensor& data, std::int64_t row, std::int64_t k) const {
  if (type == DType::kU8) return unpacked(data, row * inner * bits / 8, k, bits);
  return static_cast<int>(data.integer(row * inner + k));
}

int GatherBlockQuantized::zero_at(const Tensor* zeros, std::int64_t row, std::int64_t i) const {
  if (zeros == nullptr) return type == DType::kU8 ? 1 << (bits - 1) : 0;
  const std::int64_t entry = row * row_scales() + i;
  if (type != DType::kU8) return static_cast<int>(zeros->integer(entry));
  const std::int64_t of_axis = (last - 1) / block + 1;
  const std::int64_t bytes = (of_axis * bits + 7) / 8;
  return unpacked(*zeros, entry / of_axis * bytes, entry % of_axis, bits);
}

extern const OpDef kOp_gather_block_quantized = {.folder = "gather_block_quantized",
                                                 .names = kGatherBlockQuantizedNames,
                                                 .arity = {.min_inputs = 3, .max_inputs = 4},
                                                 .resolve = resolve_gather_block_quantized,
                                                 .reference = reference_gather_block_quantized,
                                                 .lower = lower_gather_block_quantized};

}  // namespace etch
