// Which memory runs make up the halo of a view.
#pragma once

#include "compiler/program/view.h"
#include "templates/kernels/rows/rows.h"

namespace etch {

bool has_halo(const View& view);

// Runs relative to element (0, ..., 0) of `view` that set its whole halo to `value`.
FillPlan plan_fill(const View& view, int value);

}  // namespace etch
