// Which memory runs make up the halo of a view.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/view.h"
#include "templates/kernels/rows/rows.h"

namespace etch {

bool has_halo(const View& view);

// The part of `shape` from `start` on, with the halo of the whole where it reaches the border. A
// halo whose value is known at run time is filled by its first reader, who would not see the whole.
View part_with_halo(const View& whole, const std::vector<std::int64_t>& start, const Shape& shape);

// Runs relative to element (0, ..., 0) of `view` that set its whole halo to `value`.
FillPlan plan_fill(const View& view, int value);

}  // namespace etch
