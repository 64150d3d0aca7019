// FlexAttention of ai.onnx.preview. The importer (compiler/import/flex_attention_reader.cc) makes
// three stages of it, between which are the bodies of score_mod and prob_mod:
//   0  queries [batch, heads, rows, size], keys [batch, key_heads, columns, size] -> scores
//   1  scores after score_mod, scores -> their softmax
//   2  shares after prob_mod, shares, values [batch, key_heads, columns, value_size], keys ->
//   result
#include "compiler/base/text.h"
#include "compiler/passes/functions/attention_core.h"
#include "compiler/passes/functions/functions.h"

namespace etch {

namespace {

const Shape kAnyHeads(4, -1);

void write_scores(Parts& parts) {
  if (!takes_softmax_precision(parts)) return;
  if (!parts.expects(0, DType::kF32, kAnyHeads) || !parts.expects(1, DType::kF32, kAnyHeads))
    return;
  const Shape q = parts.shape(0), k = parts.shape(1);
  if (k[0] != q[0] || k[1] == 0 || q[1] % k[1] != 0 || q[3] == 0 || k[3] != q[3]) {
    return parts.fail(DiagKind::kShape, cat("queries ", to_string(q), " and keys ", to_string(k),
                                            " must have one batch, one size of at least 1, and "
                                            "heads of which those of queries are a multiple"));
  }
  const AttentionShape shape{q[0], q[1], k[1], q[2], k[2], q[3], 1};
  const ValueId turned = parts.transpose(parts.input(1), {0, 1, 3, 2});
  const ValueId product =
      grouped_product(parts, shape, parts.input(0), turned, shape.size, shape.columns);
  const auto scale = parts.take<float>("scale", default_scale(shape.size));
  parts.add("Mul", {product, parts.scalar(scale)});
}

// That input 0, what a modifier gives, is like input 1, what it was given. False after a report.
bool keeps_shape(Parts& parts, const char* modifier) {
  if (!parts.needs(0)) return false;
  const Shape given = parts.shape(1);
  if (parts.dtype(0) == DType::kF32 && parts.shape(0) == given) return true;
  parts.fail(
      DiagKind::kShape,
      cat("attribute '", modifier, "' must give floats of the shape that it gets, ",
          to_string(given), ", gives ", name_of(parts.dtype(0)), " ", to_string(parts.shape(0))));
  return false;
}

void write_shares(Parts& parts) {
  if (!keeps_shape(parts, "score_mod")) return;
  parts.add("Softmax", {parts.input(0)}, {{"axis", std::int64_t{3}}});
}

void write_result(Parts& parts) {
  if (!keeps_shape(parts, "prob_mod")) return;
  const Shape s = parts.shape(0), k = parts.shape(3);
  if (!parts.expects(2, DType::kF32, {k[0], k[1], k[2], -1})) return;
  const AttentionShape shape{s[0], s[1], k[1], s[2], s[3], k[3], parts.shape(2)[3]};
  grouped_product(parts, shape, parts.input(0), parts.input(2), shape.columns, shape.value_size);
}

}  // namespace

void write_flex_attention(Parts& parts) {
  switch (parts.take<std::int64_t>("stage", 0)) {
    case 0:
      return write_scores(parts);
    case 1:
      return write_shares(parts);
    default:
      return write_result(parts);
  }
}

}  // namespace etch
