// Constants that are given for graph inputs. Internal to import/.
#pragma once

#include <optional>
#include <string>

#include "compiler/import/declaration.h"
#include "compiler/ir/tensor.h"

namespace etch {

// Float64 tensors of rank 0 or 1, as numbers of a command line are, as the input is declared: each
// number must be a value of that type, and a single one serves for all elements of a shape that is
// known. Other tensors as they are. Null and E-TYPE, E-SHAPE or E-LIMIT at `location`.
std::optional<Tensor> known_input(const Tensor& given, const Declaration& declared,
                                  const Limits& limits, const std::string& location, Sink& sink);

}  // namespace etch
