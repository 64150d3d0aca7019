// Which loops are still open follows from the number of repetitions; see access_log.h.
#include "compiler/stage/access_log.h"

#include <algorithm>
#include <utility>

namespace etch {

// Audit says when a loop begins, not when it ends: inside of an open one there are at least as many
// repetitions as at its beginning, because every loop that is told of runs at least twice.
void AccessLog::leave(std::int64_t repetitions) {
  while (!open_.empty() && open_.back().all > repetitions) open_.pop_back();
}

void AccessLog::enter(std::int64_t count, std::int64_t repetitions) {
  leave(repetitions);
  open_.push_back({count, repetitions * count});
}

void AccessLog::add(AccessRecord record, std::int64_t repetitions) {
  constexpr std::size_t kLookBack = 64;  // unrolled code repeats what it did a moment ago
  leave(repetitions);
  for (const Open& loop : open_) record.loops.push_back(loop.count);
  const std::size_t from = records_.size() > kLookBack ? records_.size() - kLookBack : 0;
  const auto begin = records_.begin() + static_cast<std::ptrdiff_t>(from);
  if (std::find(begin, records_.end(), record) == records_.end())
    records_.push_back(std::move(record));
}

}  // namespace etch
