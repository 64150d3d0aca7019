// Divides the work of steps among threads: which loops of each step's function run in shares, and
// which steps are too small for that. Shares are fixed at compile time, so that every byte of the
// output is computed the same way whatever the number of threads is.
#pragma once

#include "compiler/program/step.h"

namespace etch {

inline constexpr int kMostThreads = 64;
// Statements that take 1 to 3 us; a fork and a join take 0.2 to 0.5 us.
inline constexpr double kLeastWork = 8000;

// Sets Program::shares, and Step::partition of the steps of at least `least_work` that can be cut
// into shares of about the same size. Run it before memory is planned: shares that work at the same
// time must not overwrite what others still read.
void divide_work(Program& program, int shares, double least_work = kLeastWork);

}  // namespace etch
