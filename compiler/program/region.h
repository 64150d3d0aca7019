// Steps that run several times, or perhaps not at all: the bodies of loops and branches. The steps
// of a Program stay one list; a region is a range of it. Regions nest or are apart.
#pragma once

#include <cstdint>
#include <functional>

namespace etch {

struct Program;

struct Region {
  int first = 0, last = -1;  // indices of Program::steps, inclusive
  std::int64_t trips = 1;    // or at most, with a flag
  int flag = -1;             // buffer; its byte 0 is looked at before each trip; -1: none
  bool when = true;          // whether the trip is made where the byte is not 0, or where it is
  bool is_branch = false;    // at most one trip

  bool has(int step) const { return first <= step && step <= last; }
};

// Lets the memory that loops use live as long as they need it: what was written before a loop
// through all of its trips, what is read after it from its first step on.
void extend_live_ranges(Program& program);

// Calls `run` with the index of each step, in the order and as often as the regions say; `flag`
// reads byte 0 of a buffer.
void for_each_execution(const Program& program, const std::function<void(int)>& run,
                        const std::function<bool(int)>& flag);

// How often step `index` runs, at most.
std::int64_t executions_of(const Program& program, int index);

}  // namespace etch
