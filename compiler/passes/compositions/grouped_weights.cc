// See grouped_weights.h.
#include "compiler/passes/compositions/grouped_weights.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/ir/op_def.h"

namespace etch {

namespace {

constexpr std::size_t kPackedB = 1, kScalesOfB = 2, kZerosOfB = 3, kGroupIndices = 4, kBiasOfY = 5;

struct GroupedSizes {
  std::int64_t depth = 0, cols = 0, block = 0, blocks = 0;
  std::int64_t column_bytes() const { return blocks * (block / 2); }
};

// False after a report.
bool read_grouped_sizes(Parts& parts, GroupedSizes& out) {
  const auto bits = parts.take<std::int64_t>("bits", 4);
  out.depth = parts.take<std::int64_t>("K", 0);
  out.cols = parts.take<std::int64_t>("N", 0);
  out.block = parts.take<std::int64_t>("block_size", 0);
  const auto level = parts.take<std::int64_t>("accuracy_level", 0);
  const auto is_size = [](std::int64_t each) { return each >= 1 && each <= 1 << 30; };
  if (bits != 4) {
    parts.fail(DiagKind::kUnsupported, cat("g_idx is taken with 4 bits, got ", bits));
  } else if (parts.has_input(kZerosOfB)) {
    parts.fail(DiagKind::kUnsupported,
               "g_idx is taken without zero_points: ONNX Runtime leaves these out beside it");
  } else if (!is_size(out.depth) || !is_size(out.cols) || !is_size(out.block) ||
             out.block % 2 != 0) {
    parts.fail(DiagKind::kAttr,
               "K, N and block_size must be in [1, 1073741824], the last one even");
  } else if (level < 0 || level > 4) {
    parts.fail(DiagKind::kAttr, cat("accuracy_level must be in [0, 4], got ", level));
  } else {
    out.blocks = (out.depth - 1) / out.block + 1;
  }
  return !parts.failed();
}

// Where the values of each block are, one block after the other; empty after a report.
Ints depths_by_group(Parts& parts, const GroupedSizes& sizes) {
  Ints groups;
  if (!parts.expects(kGroupIndices, DType::kS32, {-1}) ||
      !parts.read(kGroupIndices, "g_idx", groups))
    return {};
  // Those of the last block's padding have no values.
  if (std::ssize(groups) == sizes.blocks * sizes.block)
    groups.resize(static_cast<std::size_t>(sizes.depth));
  Ints counts(static_cast<std::size_t>(sizes.blocks), 0);
  bool fits = std::ssize(groups) == sizes.depth;
  for (const std::int64_t group : groups) {
    fits = fits && group >= 0 && group < sizes.blocks;
    if (fits) ++counts[static_cast<std::size_t>(group)];
  }
  for (std::int64_t i = 0; i < sizes.blocks; ++i) {
    const std::int64_t full = std::min(sizes.block, sizes.depth - i * sizes.block);
    fits = fits && counts[static_cast<std::size_t>(i)] == full;
  }
  if (!fits) {
    parts.fail(DiagKind::kUnsupported, cat("g_idx must name each of the ", sizes.blocks,
                                           " blocks as often as it has values"));
    return {};
  }
  Ints depths(groups.size());
  std::iota(depths.begin(), depths.end(), 0);
  std::ranges::stable_sort(depths, {},
                           [&](std::int64_t k) { return groups[static_cast<std::size_t>(k)]; });
  return depths;
}

// Null after a report.
const Tensor* checked_weights(Parts& parts, const GroupedSizes& sizes) {
  const Tensor* const b = parts.constant(kPackedB);
  if (b == nullptr) {
    parts.needs_constant(kPackedB, "B");
  } else if (b->dtype() != DType::kU8 || b->size() != sizes.cols * sizes.column_bytes()) {
    parts.fail(DiagKind::kShape, cat("B must have ", sizes.cols * sizes.column_bytes(),
                                     " bytes of uint8, has shape ", to_string(b->shape())));
  }
  return parts.failed() ? nullptr : b;
}

// B with the value of depths[k] at depth k.
Tensor sorted_weights(const Tensor& b, const GroupedSizes& sizes, const Ints& depths) {
  Tensor out(DType::kU8, b.shape());
  const auto from = b.as<std::uint8_t>();
  const auto to = out.as<std::uint8_t>();
  for (std::int64_t n = 0; n < sizes.cols; ++n) {
    for (std::size_t k = 0; k < depths.size(); ++k) {
      const auto column = static_cast<std::size_t>(n * sizes.column_bytes());
      const auto at = static_cast<std::size_t>(depths[k]);
      const int value = from[column + at / 2] >> (at % 2 * 4) & 15;
      to[column + k / 2] |= static_cast<std::uint8_t>(value << (k % 2 * 4));
    }
  }
  return out;
}

}  // namespace

bool has_grouped_weights(const Graph& /*graph*/, const Node& node) {
  return node.inputs.size() > kGroupIndices && node.inputs[kGroupIndices] != kNoValue;
}

void write_grouped_weights(Parts& parts) {
  GroupedSizes sizes;
  if (!parts.needs(kScalesOfB) || !read_grouped_sizes(parts, sizes)) return;
  const Shape a = parts.shape(0);
  if (a.empty() || a.back() != sizes.depth) {
    parts.fail(DiagKind::kShape, cat("A must end in ", sizes.depth, " (K), got ", to_string(a)));
    return;
  }
  const Ints depths = depths_by_group(parts, sizes);
  const Tensor* const b = depths.empty() ? nullptr : checked_weights(parts, sizes);
  if (b == nullptr) return;
  Attributes attributes = parts.take_all();
  attributes["K"] = sizes.depth;
  attributes["N"] = sizes.cols;
  attributes["block_size"] = sizes.block;
  const ValueId weights = parts.constant(sorted_weights(*b, sizes, depths));
  const ValueId columns = std::ranges::is_sorted(depths)
                              ? parts.input(0)
                              : parts.gather(parts.input(0), parts.ints(depths), std::ssize(a) - 1);
  std::vector<ValueId> inputs{columns, weights, parts.input(kScalesOfB)};
  if (parts.has_input(kBiasOfY))
    inputs.insert(inputs.end(), {kNoValue, kNoValue, parts.input(kBiasOfY)});
  parts.add("MatMulNBits", std::move(inputs), std::move(attributes), kMicrosoft.data());
}

}  // namespace etch
