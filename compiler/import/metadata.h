// What a file says to Etch besides its graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/limits.h"

namespace etch {

// The value of `key` in the model's metadata_props, the last one if there are several. Null where
// it has none, and for bytes that are no model.
std::optional<std::string> metadata_of(std::string_view model, std::string_view key,
                                       const Limits& limits);

}  // namespace etch
