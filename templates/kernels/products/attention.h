// Attention in floats: of a few rows at a time the scores, what changes them, their softmax, and
// its product with the values. So scores stay in a cache, and their memory is that of a few rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "templates/external/ops.h"
#include "templates/external/products.h"
#include "templates/kernels/arguments.h"
#include "templates/kernels/rows/arithmetic.h"

namespace etch {

inline constexpr std::size_t kMostScoreChanges = 3;

// One operation on the scores and another operand; steps in its elements.
struct ScoreChange {
  CombinePlan::Kind kind = CombinePlan::Kind::kMul;  // or kAdd, kSub, kDiv
  bool scores_first = true;
  Argument other;
  std::int64_t row_step = 0, column_step = 0;
};

// Operands of `matrices`, one iteration per pair of matrices: queries, keys, values, y. Keys and
// values are in panels; `scores` and `mixed` have shapes of one row.
struct AttentionPlan {
  rt::FloatConvShape scores{}, mixed{};
  FloatSteps steps = FloatSteps::kSeparate;
  std::vector<ScoreChange> changes;
  int rows = 1;
  int block = 1;  // rows at a time
  Argument queries, keys, values, nothing;
  int room = 0, y = 0;  // operands of the step: the scores of a block, and the result
  RowNest matrices;     // n = 1
};

namespace attention_detail {

template <class Operation, class S, class Ptr, class Other>
void change(S& s, const ScoreChange& c, const Ptr& scores, const Other& other, int n) {
  const int step = static_cast<int>(c.column_step);
  if (c.scores_first) {
    s.call(external::Combine<Operation, float>{}, scores, 1, other, step, scores, n);
  } else {
    s.call(external::Combine<Operation, float>{}, other, step, scores, 1, scores, n);
  }
}

template <class S, class Ptr, class Other>
void change_by_kind(S& s, const ScoreChange& c, const Ptr& scores, const Other& other, int n) {
  switch (c.kind) {
    case CombinePlan::Kind::kAdd:
      return change<rt::Add>(s, c, scores, other, n);
    case CombinePlan::Kind::kSub:
      return change<rt::Sub>(s, c, scores, other, n);
    case CombinePlan::Kind::kMul:
      return change<rt::Mul>(s, c, scores, other, n);
    default:
      return change<rt::Div>(s, c, scores, other, n);
  }
}

// Rows [first, first + rows) of the matrices.
template <class S>
void change_scores(S& s, const AttentionPlan& p, const ScoreChange& c,
                   const typename S::Index& first, int rows) {
  const auto scores = s.template operand<float>(p.room);
  const auto other = pointer_to<float>(s, c.other) + first * c.row_step;
  const int n = p.scores.out;
  // Without steps, or with those of a dense matrix, rows are one.
  if (c.row_step == n * c.column_step) return change_by_kind(s, c, scores, other, rows * n);
  s.loop("row", rows, [&](const typename S::Index& row) {
    change_by_kind(s, c, scores + row * n, other + row * c.row_step, n);
  });
}

template <class S>
void attend(S& s, const AttentionPlan& p, const RowPlace<S>& at, const typename S::Index& first,
            int rows) {
  const auto room = s.template operand<float>(p.room);
  const auto nothing = pointer_to<float>(s, p.nothing);
  const rt::FloatEnd end{1, 1, 0, 0, 0};
  rt::FloatConvShape scores = p.scores, mixed = p.mixed;
  scores.axis[2].in = scores.axis[2].out = mixed.axis[2].in = mixed.axis[2].out = rows;
  s.call(external::FloatConv<false>{}.with(p.steps), scores, end,
         pointer_to<float>(s, p.queries) + (at[0] + first * p.scores.axis[2].x_step),
         pointer_to<float>(s, p.keys) + at[1], nothing, room);
  for (const ScoreChange& each : p.changes) change_scores(s, p, each, first, rows);
  s.call(external::Softmax{}, room, room, rows, p.scores.out);
  s.call(external::FloatConv<false>{}.with(p.steps), mixed, end, room,
         pointer_to<float>(s, p.values) + at[2], nothing,
         s.template operand<float>(p.y) + (at[3] + first * p.mixed.axis[2].y_step));
}

}  // namespace attention_detail

template <class S>
void attention_kernel(S& s, const AttentionPlan& p) {
  using Index = typename S::Index;
  const int blocks = p.rows / p.block, rest = p.rows % p.block;
  walk_rows(s, p.matrices, [&](const RowPlace<S>& at) {
    s.loop("block", blocks, [&](const Index& block) {
      attention_detail::attend(s, p, at, block * p.block, p.block);
    });
    if (rest > 0) attention_detail::attend(s, p, at, Index(blocks * p.block), rest);
  });
}

}  // namespace etch
