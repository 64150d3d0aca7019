// Constants that are given for graph inputs. Internal to import/.
#pragma once

#include <optional>
#include <string>

#include "compiler/import/declaration.h"
#include "compiler/ir/tensor.h"

namespace etch {

// Numbers of a command line, which are float64 without a type and a shape of their own, as the
// input is declared: each must be a value of that type, and a single one serves for all elements of
// a shape that is known. Other tensors as they are. Null and E-TYPE or E-SHAPE at `location`.
std::optional<Tensor> known_input(const Tensor& given, const Declaration& declared,
                                  const std::string& location, Sink& sink);

}  // namespace etch
