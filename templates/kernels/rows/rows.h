// Kernels that hand whole rows to the runtime: softmax in float, byte tables, and the filling of
// halos.
#pragma once

#include <cstdint>
#include <vector>

#include "templates/external/ops.h"
#include "templates/stage.h"

namespace etch {

struct SoftmaxPlan {
  int rows = 1, n = 1;
};

template <class S>
void softmax_kernel(S& s, const SoftmaxPlan& plan) {
  s.call(external::Softmax{}, s.template operand<const float>(0), s.template operand<float>(1),
         plan.rows, plan.n);
}

// Loops around runs of n bytes that are set to `value`: the halo of a tensor.
struct FillRun {
  std::int64_t offset = 0;  // bytes from the operand
  int repeat[3] = {1, 1, 1};
  std::int64_t step[3] = {};
  int n = 0;
};

struct FillPlan {
  int value = 0;
  std::vector<FillRun> runs;
};

// Calls body(y, n) for the bytes of every run.
template <class S, class Body>
void for_each_run(S& s, const FillPlan& plan, const typename S::template Ptr<std::uint8_t>& y,
                  Body body) {
  using Index = typename S::Index;
  for (const FillRun& run : plan.runs) {
    s.loop("i0", run.repeat[0], [&](const Index& i0) {
      s.loop("i1", run.repeat[1], [&](const Index& i1) {
        s.loop("i2", run.repeat[2], [&](const Index& i2) {
          body(y + Index(run.offset) + i0 * run.step[0] + i1 * run.step[1] + i2 * run.step[2],
               run.n);
        });
      });
    });
  }
}

template <class S>
void fill_kernel(S& s, const FillPlan& plan) {
  for_each_run(s, plan, s.template operand<std::uint8_t>(0),
               [&](const auto& y, int n) { s.call(external::Fill{}, y, plan.value, n); });
}

}  // namespace etch
