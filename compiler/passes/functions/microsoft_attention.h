// What the operators of attention of com.microsoft share: masks as lengths or as 0 and 1. Hidden
// keys get `mask_filter_value`, which is finite, so rows without any key are like those with all.
#pragma once

#include <optional>

#include "compiler/passes/functions/attention_core.h"

namespace etch {

struct MicrosoftAttention {
  std::int64_t heads = 0;
  float scale = 0;  // 0: the default
  float hidden = -10000;
  bool causal = false;
};

// Takes the attributes; reports what is wrong with them.
std::optional<MicrosoftAttention> take_common(Parts& parts);

// The mask of input `mask`, the order of positions, and what input `bias` adds to the scores.
std::optional<AttentionMask> mask_of(Parts& parts, const MicrosoftAttention& common,
                                     const AttentionShape& s, std::size_t mask, std::size_t bias);

AttentionOptions options_of(const MicrosoftAttention& common, const AttentionShape& s);

}  // namespace etch
