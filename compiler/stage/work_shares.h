// How the statements of one step's function are divided among the threads that call it, and how
// much each of them gets. The Recorder asks while it prints.
//
// All shares run the same function with their number. Outside of tile functions and divided loops
// values are computed by every share, and what has effects is done by one: that with the least
// work so far. Partition::depth says which loops are divided: those with so many loops around
// them. Loops with fewer iterations than shares stay whole, and what is in them may be divided.
//
// Work is counted in statements executed, which is close enough to instructions to compare shares
// and to tell steps that are not worth a fork.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/step.h"

namespace etch {

class WorkShares {
 public:
  explicit WorkShares(const Partition& partition);

  int count() const { return static_cast<int>(work_.size()); }
  // Whether the next loop, of `iterations`, is to be divided; then enter_loop() divides it.
  bool divides(std::int64_t iterations) const;
  bool in_divided_loop() const { return places_.back().divided; }
  void enter_loop(std::int64_t iterations);
  void leave_loop() { places_.pop_back(); }

  // A tile function: runs whole in the share that calls it. end_function() returns its work.
  void begin_function();
  double end_function();

  // A statement without effects.
  void add_value() { add(1); }
  // A statement with effects. Returns the share that has to do it, or -1: any share that gets
  // there.
  int add_effect(double work);

  // Of each share so far.
  const std::vector<double>& work() const { return work_; }

 private:
  struct Place {
    std::vector<double> times;  // how often each share executes a statement here
    int loops = 0;              // around it
    bool divided = false;       // every iteration belongs to one share
  };

  void add(double work);

  const int depth_;
  std::vector<double> work_;
  std::vector<std::vector<double>> callers_;  // work_ of the functions around this one
  std::vector<Place> places_;                 // innermost last
};

// The first iteration of `share` when `iterations` are divided among `shares`.
inline std::int64_t first_iteration(std::int64_t iterations, int share, int shares) {
  return iterations * share / shares;
}

}  // namespace etch
