// See region.h.
#include "compiler/program/region.h"

#include <algorithm>
#include <cstddef>

#include "compiler/base/checked.h"
#include "compiler/program/step.h"

namespace etch {

namespace {

class Executor {
 public:
  Executor(const Program& program, const std::function<void(int)>& run,
           const std::function<bool(int)>& flag)
      : regions_(program.regions), run_(run), flag_(flag) {}

  // The steps from `first` to `last`; regions before number `next` are around them.
  void run(int first, int last, std::size_t next) {
    for (int at = first; at <= last;) {
      while (next < regions_.size() && regions_[next].first < at) ++next;
      if (next < regions_.size() && regions_[next].first == at) {
        run(regions_[next], next);
        at = regions_[next].last + 1;
      } else {
        run_(at++);
      }
    }
  }

 private:
  void run(const Region& region, std::size_t number) {
    for (std::int64_t trip = 0; trip < region.trips; ++trip) {
      if (region.flag >= 0 && flag_(region.flag) != region.when) break;
      run(region.first, region.last, number + 1);
    }
  }

  const std::vector<Region>& regions_;
  const std::function<void(int)>& run_;
  const std::function<bool(int)>& flag_;
};

}  // namespace

void extend_live_ranges(Program& program) {
  // From the inside: what a loop keeps alive may reach into the one around it.
  for (auto region = program.regions.rbegin(); region != program.regions.rend(); ++region) {
    if (region->is_branch) continue;
    if (region->flag >= 0) {  // looked at before each trip, also where no trip writes it
      int& last = program.buffers[static_cast<std::size_t>(region->flag)].last_step;
      last = std::max(last, region->last);
    }
    for (Buffer& buffer : program.buffers) {
      const bool before = buffer.first_step < region->first;
      const bool after = buffer.last_step > region->last;
      if (before && region->has(buffer.last_step)) buffer.last_step = region->last;
      if (after && region->has(buffer.first_step)) buffer.first_step = region->first;
    }
  }
}

void for_each_execution(const Program& program, const std::function<void(int)>& run,
                        const std::function<bool(int)>& flag) {
  Executor(program, run, flag).run(0, static_cast<int>(program.steps.size()) - 1, 0);
}

std::int64_t executions_of(const Program& program, int index) {
  std::int64_t times = 1;
  for (const Region& region : program.regions) {
    if (region.has(index)) times = checked_mul(times, region.trips).value_or(INT64_MAX);
  }
  return times;
}

}  // namespace etch
