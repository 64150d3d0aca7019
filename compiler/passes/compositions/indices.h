// Lists of coordinates as positions in memory: what GatherND, ScatterND and ScatterElements share.
// Coordinates below 0 count from the end, those outside of their axis are limited to it.
#pragma once

#include "compiler/passes/compositions/parts.h"

namespace etch {

// Reports constant coordinates outside of [-size, size - 1]; `sizes` are those of the axes that one
// list of coordinates names. False after a report.
bool coordinates_in_range(Parts& parts, std::size_t input, const Ints& sizes);

// The coordinate x, int64 of any shape, counted from 0 and inside of an axis of each of `sizes`,
// which has the length of x's last axis or one element.
ValueId wrapped(Parts& parts, ValueId x, const Ints& sizes);

// For input `i`, int64 of shape [..., k]: the row of a tensor of `sizes` (k of them) that each list
// of coordinates names, of shape [...], where the first `batch` of those axes have a tensor each.
ValueId row_numbers(Parts& parts, std::size_t i, const Ints& sizes, std::size_t batch);

// data of shape [rows, width] where rows `at` are replaced by, or combined with, those of `updates`
// of shape [n, width], in order. Any type; reduction as ScatterND has it.
ValueId scattered(Parts& parts, DType type, ValueId data, ValueId at, ValueId updates,
                  const std::string& reduction);

}  // namespace etch
