// Tries every depth of loops and keeps the one whose largest share is the smallest; see divide.h.
#include "compiler/schedule/divide.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/stage/recorder.h"

namespace etch {
namespace {

// A largest share of more than this part of the whole is not worth a fork.
constexpr double kMostUneven = 0.85;
// Dividing deeper loops has to pay that much.
constexpr double kGain = 0.95;
constexpr int kMostDepth = 3;

// The work of each share if `step` were divided like this; empty if it cannot be.
std::vector<double> work_of(Step& step, const IsaTraits& isa, const Partition& partition) {
  step.partition = partition;
  Recorder recorder(step);
  recorder.set_isa(isa);
  step.run(recorder);
  return recorder.work();
}

void divide(Step& step, const IsaTraits& isa, int shares, double least_work) {
  const double whole = work_of(step, isa, {}).front();
  Partition best;
  double least = whole * kMostUneven / kGain;
  for (int depth = 0; whole >= least_work && depth <= kMostDepth; ++depth) {
    const std::vector<double> work = work_of(step, isa, {shares, depth});
    if (work.empty()) continue;
    const double largest = *std::max_element(work.begin(), work.end());
    if (largest > least * kGain) continue;
    least = largest;
    best = {shares, depth};
  }
  step.partition = best;
  if (best.shares == 1) return;
  const auto percent = std::lround(100 * least / whole);
  step.facts.push_back(cat("divided among ", counted(shares, "thread"), "; the largest share is ",
                           percent, " % of the work"));
}

}  // namespace

void divide_work(Program& program, int shares, double least_work) {
  program.shares = shares;
  if (shares == 1) return;
  for (const auto& step : program.steps) {
    if (step->divisible) divide(*step, program.isa, shares, least_work);
  }
}

}  // namespace etch
