// See work_shares.h.
#include "compiler/stage/work_shares.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace etch {

WorkShares::WorkShares(const Partition& partition)
    : depth_(partition.depth), work_(static_cast<std::size_t>(partition.shares), 0) {
  places_.push_back({std::vector<double>(work_.size(), 1), 0, partition.shares == 1});
}

bool WorkShares::divides(std::int64_t iterations) const {
  const Place& here = places_.back();
  return !here.divided && here.loops >= depth_ && iterations >= count();
}

void WorkShares::enter_loop(std::int64_t iterations) {
  const bool divide = divides(iterations);
  add(divide ? 4 : 1);  // the loop's own instructions, more if its limits are computed
  Place inside = places_.back();
  for (int share = 0; share < count(); ++share) {
    const std::int64_t mine = first_iteration(iterations, share + 1, count()) -
                              first_iteration(iterations, share, count());
    inside.times[static_cast<std::size_t>(share)] *=
        static_cast<double>(divide ? mine : iterations);
  }
  ++inside.loops;
  inside.divided = inside.divided || divide;
  places_.push_back(std::move(inside));
}

void WorkShares::begin_function() {
  callers_.push_back(work_);
  std::fill(work_.begin(), work_.end(), 0);
  places_.push_back({std::vector<double>(work_.size(), 1), 0, true});
}

double WorkShares::end_function() {
  const double work = work_.front();  // all are equal
  work_ = std::move(callers_.back());
  callers_.pop_back();
  places_.pop_back();
  return work;
}

int WorkShares::add_effect(double work) {
  const Place& here = places_.back();
  if (here.divided) {
    add(work);
    return -1;
  }
  add(1);  // the question whose turn it is
  const auto least = std::min_element(work_.begin(), work_.end()) - work_.begin();
  const auto share = static_cast<std::size_t>(least);
  work_[share] += work * here.times[share];
  return static_cast<int>(share);
}

void WorkShares::add(double work) {
  for (std::size_t share = 0; share < work_.size(); ++share) {
    work_[share] += work * places_.back().times[share];
  }
}

}  // namespace etch
