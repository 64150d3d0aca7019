// Loop nests over views, for kernels that treat elements one by one (templates/kernels/
// elementwise.h): dimensions become axes, contiguous neighbours are merged,
// and the axis along which the inputs are dense becomes the run.
#pragma once

#include <optional>
#include <span>

#include "compiler/program/step.h"
#include "compiler/program/view.h"
#include "templates/kernels/rows/elementwise.h"

namespace etch {

// All views have the same logical shape; the last is the output. With two views they are
// operands 0 and 2 of the nest. Falls back to runs of one element.
enum class Repeats { kNo, kAllowed };  // of an input's one element along the run
Nest make_nest(std::span<const View* const> views, Repeats repeats = Repeats::kNo);

// Lets the nest of a copy with one input write 2 to 4 channels side by side, where it has runs
// along the image and writes every second to fourth byte (channels first -> channels last).
void interleave_planes(Nest& nest);

// The same memory as bytes: one more dimension for the bytes of an element.
View as_bytes(const View& view);

// A copy between two views of the same shape; flips where one is int8 and the other stored uint8.
CopyPlan make_copy(const View& from, const View& to);

// Makes a copy start at its end, and says how far after the dying input its output has to start so
// that the two may overlap. Nothing, and no change, for a copy that cannot go backwards. Operand 0
// is the input, 1 the output.
std::optional<Overlap> copy_from_the_end(CopyPlan& plan, const View& from, const View& to);

// The overlap that lets the nest's output reuse the memory of the dying input `operand`.
Overlap nest_overlap(const Nest& nest, int nest_operand, const View& input, const View& output,
                     int input_operand, int output_operand);

}  // namespace etch
