// What the kernels share that call functions of the runtime on whole rows: arguments that are
// memory or constants, and loops over any number of operands with any strides.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/etch_convert.h"
#include "templates/stage.h"

namespace etch {

// An input: operand `operand` of the step, or its constant array `name` when that is negative.
struct Argument {
  std::string name;
  int operand = -1;
  std::int64_t elements = 1;  // from the first to after the last that is used
  rt::Stored stored{0, 0};    // of 8-bit elements
};

template <class Element, class S>
auto pointer_to(S& s, const Argument& argument) {
  return argument.operand < 0 ? s.template constant<const Element>(argument.name)
                              : s.template operand<const Element>(argument.operand);
}

// Loops over axes around rows of n elements. Steps count elements, one per operand of the walk;
// 0 where an operand repeats.
inline constexpr std::size_t kRowOperands = 4;
using RowSteps = std::array<std::int64_t, kRowOperands>;

struct RowAxis {
  int count = 1;
  RowSteps step{};
};

struct RowNest {
  RowSteps start{};
  std::vector<RowAxis> axes;  // outermost first
  int n = 1;
  RowSteps step{};
};

template <class S>
using RowPlace = std::array<typename S::Index, kRowOperands>;

namespace row_detail {

// Of any body, so that there is one of it for each S.
template <class S>
void walk(S& s, const RowNest& nest, std::size_t axis, const RowPlace<S>& at,
          const std::function<void(const RowPlace<S>&)>& body) {
  static constexpr const char* kNames[] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
  if (axis == nest.axes.size()) {
    body(at);
    return;
  }
  s.loop(kNames[axis], nest.axes[axis].count, [&](const typename S::Index& i) {
    RowPlace<S> inner = at;
    for (std::size_t o = 0; o < kRowOperands; ++o) inner[o] = at[o] + i * nest.axes[axis].step[o];
    walk(s, nest, axis + 1, inner, body);
  });
}

}  // namespace row_detail

// Calls body(place) for every row; place[k] is where operand k's row begins.
template <class S, class Body>
void walk_rows(S& s, const RowNest& nest, Body body) {
  RowPlace<S> start;
  for (std::size_t o = 0; o < kRowOperands; ++o) start[o] = typename S::Index(nest.start[o]);
  row_detail::walk<S>(s, nest, 0, start, std::ref(body));
}

}  // namespace etch
