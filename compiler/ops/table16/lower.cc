// Lowering of Table16.
#include "compiler/base/text.h"
#include "compiler/kernels/rows/word_table.h"
#include "compiler/ops/op.h"
#include "compiler/ops/reference_math.h"
#include "compiler/ops/table16/op.h"

namespace etch {

std::int64_t table16_bytes(std::span<const std::int32_t> entries) {
  return word_table(entries, 0).bytes();
}

void lower_table16(Lowering& lowering, const Node& node) {
  const Tensor& entries = lowering.constant(node, 1);
  const auto least = static_cast<std::int32_t>(min_of(entries.dtype()));
  add_word_table(lowering, node, word_table(widened(entries), least),
                 cat(params_of<Table16>(node).of, " of ",
                     element_count(*lowering.value(node.outputs[0]).shape), " values of 16 bits"));
}

}  // namespace etch
