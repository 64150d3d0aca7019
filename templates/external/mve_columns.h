// The descriptor of the function of runtime/etch_mve_columns.h; see templates/external.h.
#pragma once

#include "runtime/etch_mve_columns.h"
#include "templates/external.h"

namespace etch::external {

struct MvePackColumns : RuntimeFunction {
  MvePackColumns() : RuntimeFunction("mve_pack_columns", "etch_mve_columns.h", FloatUse::kNone) {}
  void operator()(const rt::MveColumns& s, const std::uint8_t* b, const float* scale,
                  std::int32_t* stream) const {
    rt::mve_pack_columns(s, b, scale, stream);
  }
  auto spans(const rt::MveColumns& s, const std::uint8_t* b, const float* scale,
             std::int32_t* stream) const {
    const rt::MveTile tile{0, 0, s.block, s.cols, false, 0};
    const std::int32_t whole = (s.cols - 1) / s.block;
    const std::int64_t factors = std::int64_t{whole} * rt::mve_factor_words(tile, false, s.block) +
                                 rt::mve_factor_words(tile, false, s.cols - whole * s.block);
    return spans_of(span(b, {{s.depth, s.depth_step}, {s.cols, s.col_step}}),
                    span(scale, {{s.cols, s.scale_step}}),
                    span(stream, {}, std::int64_t{s.depth + 15} / 16 * 4 * s.cols + factors));
  }
};

}  // namespace etch::external
