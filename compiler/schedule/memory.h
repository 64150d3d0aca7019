// The memory planner: one static arena in which buffers share bytes over time. Buffers that live
// at the same time are disjoint, with one exception: an output may run over an input that dies in
// the same step, as far as the step's Overlap entries allow.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/step.h"

namespace etch {

// The arena has to be aligned to arena_alignment() (program/arena.h), and so are the offsets of
// buffers from kLargeBuffer bytes on: what the target's vectors need. Smaller ones would mostly be
// padding: their offsets are multiples of the largest power of two up to 8 that divides their size,
// which suits every element type, and of Buffer::alignment.
inline constexpr std::int64_t kLargeBuffer = 512;
std::int64_t buffer_alignment(const Program& program, std::int64_t bytes);

// Requires the live range of every kArena buffer of `program` (and that no step uses a buffer
// outside of its range). With Program::shares > 1 buffers have gaps between them, and if they are
// small no two share bytes. Sets arena_offset of each, arena_bytes (highest end + kArenaSlack) and
// most_live_bytes (the largest sum of bytes live at once, which an arena without overlaps needs).
// Deterministic. Returns how many pairs of buffers it looked at, with which its time grows: pairs
// that live at the same time, or where most do, those of a buffer and one below its place.
std::int64_t plan_memory(Program& program);

// Bytes by which the planned arena, without its slack, is smaller than what lives at once: outputs
// be placed over dying inputs. 0 if it is not smaller.
std::int64_t saved_in_place(const Program& program);

// How far apart two buffers have to be: a rule for the pair (output, input) of one step.
struct OverlapRule {
  int output = 0;  // buffer indices
  int input = 0;
  std::int64_t distance = 0;  // output's start + distance <= input's start is enough
  bool backwards = false;     // no: input's start + distance <= output's start is
};

// The pairs of arena buffers that may overlap: the input dies in the very step that begins the
// output's life, the step is not divided among threads, and every pair of operands through which
// that step reads the one and writes the other has an Overlap entry, all of one direction.
// Overlap::distance counts between the starts of the buffers, not of the operands: an operand's
// offset into its buffer does not enter.
std::vector<OverlapRule> overlap_rules(const Program& program);

}  // namespace etch
