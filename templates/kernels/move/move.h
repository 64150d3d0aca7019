// The kernel of operators that move elements without computing: a list of moves, each of which
// fills one rectangle of the output by copying, by a table of 256 bytes, by picking positions from
// a table, or with one value. Everything is in bytes: see MoveBuilder in
// compiler/kernels/move/move.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "templates/external/move.h"
#include "templates/external/ops.h"
#include "templates/kernels/rows/elementwise.h"
#include "templates/stage.h"

namespace etch {

struct Move {
  enum class Kind { kCopy, kFill, kLookup, kPick };
  Kind kind = Kind::kCopy;
  std::string comment;
  int operand = -1;    // the source; negative: the constant array `source`
  std::string source;  //
  int flip = 0;        // kCopy: xor of every byte
  int value = 0;       // kFill
  std::string table;   // kLookup: 256 bytes; kPick: int32 positions
  // Loops over source (operand 0) and output (the last); kPick: around each call, with a run of 1.
  Nest nest;
  rt::Picked picked{};
};

struct MovePlan {
  std::vector<Move> moves;
  int y = 0;  // operand
};

namespace move_detail {

template <class S>
auto source_of(S& s, const Move& move) {
  return move.operand < 0 ? s.template constant<const std::uint8_t>(move.source)
                          : s.template operand<const std::uint8_t>(move.operand);
}

// Calls body(x, y) for every start of a run.
template <class S, class Body>
void rows(S& s, const Nest& nest, const Move& move, int output, Body body) {
  nest_detail::At<S> start;
  for (int o = 0; o < kNestOperands; ++o) start.i[o] = typename S::Index(nest.offset[o]);
  nest_detail::walk(s, nest, 0, start, [&](const nest_detail::At<S>& at) {
    const auto y = s.template operand<std::uint8_t>(output) + at.i[kNestOperands - 1];
    body(source_of(s, move) + at.i[0], y);
  });
}

// Runs too short for vectors are better off with the axis around them: a loop over elements.
inline bool is_spread(const Move& move) {
  constexpr int kShort = 8;
  const Nest& nest = move.nest;
  return move.flip == 0 && nest.run <= kShort && (nest.run == 1 || nest.out_step == 1) &&
         !nest.axes.empty() && nest.axes.back().step[0] >= 0;
}

// Runs that no second-level cache holds beside what they are copied to: there the memcpy of C
// libraries for CPUs with vectors takes 0.8 to 0.9 of the time of loads and stores.
inline bool is_block(const Move& move, const IsaTraits& isa) {
  constexpr int kLeast = 512 * 1024;
  const bool copies_fast = isa.vectorized && isa.assembly == Assembly::kNone;
  return copies_fast && move.flip == 0 && move.nest.run >= kLeast && move.nest.out_step == 1;
}

// In strips, which threads divide.
template <class S>
void copy_blocks(S& s, const Move& move, int output) {
  constexpr int kStrip = 64 * 1024;
  const int full = move.nest.run / kStrip, rest = move.nest.run % kStrip;
  rows(s, move.nest, move, output, [&](const auto& x, const auto& y) {
    s.loop("strip", full, [&](const typename S::Index& i) {
      s.call(external::CopyBlock{}, x + i * kStrip, y + i * kStrip, kStrip);
    });
    if (rest > 0) s.call(external::CopyBlock{}, x + full * kStrip, y + full * kStrip, rest);
  });
}

template <class S>
void copy_spread(S& s, const Move& move, int output) {
  Nest nest = move.nest;
  const NestAxis axis = nest.axes.back();
  nest.axes.pop_back();
  const std::int64_t x_step = axis.step[0], y_step = axis.step[kNestOperands - 1];
  rows(s, nest, move, output, [&](const auto& x, const auto& y) {
    s.call(external::CopySpread{}, x, static_cast<int>(x_step), y, static_cast<int>(y_step),
           nest.run, axis.count);
  });
}

// The copy as `elements` neighbours of `run` bytes that are each written `count` times side by
// side, with loops around that.
struct Repetition {
  Nest nest;
  int count = 1;
  int elements = 1;
};

// Takes the axis along which both the elements and what is written of them are side by side.
inline void take_elements(Repetition& found) {
  std::vector<NestAxis>& axes = found.nest.axes;
  const std::int64_t run = found.nest.run;
  const auto axis = std::find_if(axes.begin(), axes.end(), [&](const NestAxis& each) {
    return each.step[0] == run && each.step[kNestOperands - 1] == run * found.count;
  });
  if (axis == axes.end()) return;
  found.elements = axis->count;
  axes.erase(axis);
}

inline std::optional<Repetition> repetition_of(const Move& move) {
  constexpr int kOut = kNestOperands - 1;
  if (move.flip != 0) return std::nullopt;
  Repetition found{move.nest, 1};
  Nest& nest = found.nest;
  if (nest.out_step != 1) {  // the run is a loop like others: its elements are far apart
    nest.axes.push_back({nest.run, {1, 0, nest.out_step}});
    nest.run = 1;
    nest.out_step = 1;
  }
  for (std::size_t a = 0; a < nest.axes.size(); ++a) {
    if (nest.axes[a].step[0] != 0 || nest.axes[a].step[kOut] != nest.run) continue;
    found.count = nest.axes[a].count;
    nest.axes.erase(nest.axes.begin() + static_cast<std::ptrdiff_t>(a));
    take_elements(found);
    return found;
  }
  return std::nullopt;
}

template <class S>
void repeat(S& s, const Move& move, const Repetition& found, int output) {
  rows(s, found.nest, move, output, [&](const auto& x, const auto& y) {
    if (found.elements == 1) {
      s.call(external::RepeatElement{}, x, y, found.nest.run, found.count);
    } else {
      s.call(external::RepeatEach{}, x, y, found.nest.run, found.count, found.elements);
    }
  });
}

template <class S>
void copy(S& s, const Move& move, int output) {
  const auto found = repetition_of(move);
  if (found && (found->nest.run <= 2 || found->nest.run == 4 || found->nest.run == 8)) {
    repeat(s, move, *found, output);
    return;
  }
  if (const auto part = nest_detail::transposed_part(move.nest, move.flip, s.isa())) {
    nest_detail::transpose(s, move.nest, *part, move.flip, source_of(s, move),
                           s.template operand<std::uint8_t>(output));
    return;
  }
  if (is_spread(move)) {
    copy_spread(s, move, output);
    return;
  }
  if (is_block(move, s.isa())) {
    copy_blocks(s, move, output);
    return;
  }
  if (nest_detail::is_run_for_words(move.nest, move.flip, s.isa())) {
    rows(s, move.nest, move, output, [&](const auto& x, const auto& y) {
      nest_detail::copy_run(s, x, y, move.nest.run, move.flip);
    });
    return;
  }
  nest_detail::chunks(s, move.nest, 4 * s.isa().lanes, [&](const nest_detail::At<S>& at, int n) {
    const auto y = s.template operand<std::uint8_t>(output) + at.i[kNestOperands - 1];
    auto bytes = nest_detail::load(s, "bytes", source_of(s, move) + at.i[0], n);
    if (move.flip != 0) bytes = s.xor_bytes("flipped", bytes, s.splat_bytes("flip", move.flip));
    nest_detail::store(s, move.nest, y, bytes, n);
  });
}

template <class S>
void lookup(S& s, const Move& move, int output) {
  Nest nest = move.nest;
  int n = nest.run;
  std::int64_t x_step = 1, y_step = nest.out_step;
  if (n == 1 && !nest.axes.empty()) {
    n = nest.axes.back().count;
    x_step = nest.axes.back().step[0];
    y_step = nest.axes.back().step[kNestOperands - 1];
    nest.axes.pop_back();
  }
  const auto table = s.template constant<const std::uint8_t>(move.table);
  const bool dense = x_step == 1 && y_step == 1;
  rows(s, nest, move, output, [&](const auto& x, const auto& y) {
    if (dense) {
      s.call(external::Lookup{}, x, y, table, n);
      return;
    }
    s.call(external::LookupSpread{}, x, static_cast<int>(x_step), y, static_cast<int>(y_step),
           table, n);
  });
}

template <class S>
void pick(S& s, const Move& move, int output) {
  const auto table = s.template constant<const std::int32_t>(move.table);
  rows(s, move.nest, move, output,
       [&](const auto& x, const auto& y) { s.call(external::Pick{}, x, y, table, move.picked); });
}

template <class S>
void fill(S& s, const Move& move, int output) {
  nest_detail::At<S> start;
  for (int o = 0; o < kNestOperands; ++o) start.i[o] = typename S::Index(move.nest.offset[o]);
  nest_detail::walk(s, move.nest, 0, start, [&](const nest_detail::At<S>& at) {
    s.call(external::Fill{}, s.template operand<std::uint8_t>(output) + at.i[kNestOperands - 1],
           move.value, move.nest.run);
  });
}

}  // namespace move_detail

// Operands: the sources that are memory, then y.
template <class S>
void move_kernel(S& s, const MovePlan& plan) {
  for (const Move& move : plan.moves) {
    if (!move.comment.empty()) s.comment(move.comment);
    s.block([&] {
      if (move.kind == Move::Kind::kCopy) move_detail::copy(s, move, plan.y);
      if (move.kind == Move::Kind::kLookup) move_detail::lookup(s, move, plan.y);
      if (move.kind == Move::Kind::kPick) move_detail::pick(s, move, plan.y);
      if (move.kind == Move::Kind::kFill) move_detail::fill(s, move, plan.y);
    });
  }
}

}  // namespace etch
