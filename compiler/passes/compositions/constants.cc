// Operators whose result follows from shapes and constants:
//   EyeLike          ones on the diagonal k of a matrix of the input's shape
//   MelWeightMatrix  triangles over the bins of a spectrum, computed in doubles; each begins, has
//                    its top and ends at floor((length + 1) * frequency / rate), where frequencies
//                    are (upper - lower) / (bins + 2) mels apart
#include <algorithm>
#include <cmath>
#include <iterator>

#include "compiler/ir/op_def.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

// The element type with ONNX's number; nothing fits: false after a report.
bool type_numbered(Parts& parts, std::int64_t number, DType& out) {
  const auto found = dtype_from_onnx(number);
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64,
                              DType::kU8,  DType::kS8,  DType::kU16,  DType::kS16,
                              DType::kS32, DType::kS64, DType::kBool};
  if (found && std::ranges::find(kTypes, *found) != std::end(kTypes)) {
    out = *found;
    return true;
  }
  parts.fail(DiagKind::kType, cat("elements of ONNX's type ", number, " cannot be compiled"));
  return false;
}

void eye_like(Parts& parts) {
  const auto number =
      parts.take<std::int64_t>("dtype", std::int64_t{onnx_number_of(parts.dtype(0))});
  const auto k = parts.take<std::int64_t>("k", 0);
  DType type = DType::kF32;
  const Shape& shape = parts.shape(0);
  if (!type_numbered(parts, number, type)) return;
  if (shape.size() != 2 || element_count(shape) > 1'000'000) {
    parts.fail(DiagKind::kShape, cat("must have two axes, has shape ", to_string(shape)));
    return;
  }
  Tensor ones(DType::kF32, shape);
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    if (k <= -shape[0] || k >= shape[1] || row + k < 0 || row + k >= shape[1]) continue;
    ones.as<float>()[static_cast<std::size_t>(row * shape[1] + row + k)] = 1.0F;
  }
  parts.cast(parts.constant(std::move(ones)), type);
}

// What MelWeightMatrix is asked for.
struct MelBins {
  std::int64_t count = 0, length = 0, rate = 0;
  double lower = 0, upper = 0;  // hertz
};

// Reads the five numbers; false after a report.
bool read_mel_bins(Parts& parts, MelBins& out) {
  const char* const roles[] = {"num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz",
                               "upper_edge_hertz"};
  double values[5] = {};
  for (std::size_t i = 0; i < 5; ++i) {
    if (!parts.needs(i)) return false;
    const Tensor* tensor = parts.constant(i);
    if (tensor == nullptr || tensor->size() != 1) {
      parts.needs_constant(i, roles[i], "must be one number known at compile time");
      return false;
    }
    if (i < 3 && !parts.has_type(i, {DType::kS32, DType::kS64})) return false;
    if (i >= 3 && !parts.has_type(i, {DType::kF32})) return false;
    values[i] = i < 3 ? static_cast<double>(tensor->integer(0)) : tensor->real(0);
  }
  const auto is_size = [](double each) { return each >= 1 && each <= 1e6; };
  const bool fits = is_size(values[0]) && is_size(values[1]) && is_size(values[2]) &&
                    values[3] >= 0 && values[4] >= values[3] && values[4] <= values[2] / 2 &&
                    values[0] * (values[1] / 2 + 1) <= 4e6;
  if (!fits) {
    parts.fail(DiagKind::kShape,
               "must have 1 to 1000000 bins, samples and hertz, edges from 0 to half of "
               "sample_rate in their order, and at most 4000000 elements");
    return false;
  }
  out = {static_cast<std::int64_t>(values[0]), static_cast<std::int64_t>(values[1]),
         static_cast<std::int64_t>(values[2]), values[3], values[4]};
  return true;
}

// The bins of the spectrum at which the triangles begin, have their tops and end.
Ints mel_edges(const MelBins& mel) {
  const auto mels = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mels(mel.lower);
  const double step = (mels(mel.upper) - low) / static_cast<double>(mel.count + 2);
  Ints out;
  for (std::int64_t i = 0; i < mel.count + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    const double bin = static_cast<double>(mel.length + 1) * hertz / static_cast<double>(mel.rate);
    out.push_back(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(bin)), 0, mel.length / 2));
  }
  return out;
}

void mel_weight_matrix(Parts& parts) {
  const auto number = parts.take<std::int64_t>("output_datatype", 1);
  DType type = DType::kF32;
  MelBins mel;
  if (!type_numbered(parts, number, type) || !read_mel_bins(parts, mel)) return;
  const Ints edges = mel_edges(mel);
  Tensor out(DType::kF32, {mel.length / 2 + 1, mel.count});
  const auto set = [&](std::int64_t bin, std::size_t i, std::int64_t share, std::int64_t of) {
    out.as<float>()[static_cast<std::size_t>(bin * mel.count) + i] =
        static_cast<float>(static_cast<double>(share) / static_cast<double>(of));
  };
  for (std::size_t i = 0; i + 2 < edges.size(); ++i) {
    const std::int64_t begin = edges[i], top = edges[i + 1], end = edges[i + 2];
    if (begin == top) set(top, i, 1, 1);
    for (std::int64_t bin = begin; begin < top && bin <= top; ++bin)
      set(bin, i, bin - begin, top - begin);
    for (std::int64_t bin = top; bin < end; ++bin) set(bin, i, end - bin, end - top);
  }
  parts.cast(parts.constant(std::move(out)), type);
}

constexpr Rule kConstantRules[] = {{"EyeLike", eye_like, 1, 1, 9},
                                   {"MelWeightMatrix", mel_weight_matrix, 5, 1, 17}};
}  // namespace

std::span<const Rule> constant_rules() { return kConstantRules; }

}  // namespace etch
