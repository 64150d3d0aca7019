// What a network takes of a device's RAM and flash on one target, and if that is too much, what
// would make it fit: the answers of `etch fit`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/host/reporter.h"
#include "compiler/options.h"
#include "templates/isa/traits.h"

namespace etch::cli {

// What the device has, and how to find out what is needed.
struct FitQuestion {
  std::int64_t ram_bytes = 0, flash_bytes = 0;
  bool build = true;                // with the compilers that are here; else estimates only
  bool count_instructions = false;  // in the emulators of microcontrollers that are here
};

struct TargetFit {
  const IsaTraits* isa = nullptr;
  std::string refused;  // why there is no code for the target; then the rest means nothing

  std::int64_t weight_bytes = 0;  // and tables
  std::int64_t code_bytes = 0;
  bool code_is_measured = false;

  std::int64_t arena_bytes = 0;
  std::int64_t state_bytes = 0;
  std::int64_t port_bytes = 0;              // of the inputs and outputs, which the caller has
  std::optional<std::int64_t> stack_bytes;  // a bound; null: not known

  std::optional<std::int64_t> instructions;  // of one inference
  bool fits = false;
  std::vector<std::string> advice;  // what it needs, and what would save how much

  std::int64_t flash_bytes() const { return weight_bytes + code_bytes; }
  std::int64_t ram_bytes() const {
    return arena_bytes + state_bytes + port_bytes + stack_bytes.value_or(0);
  }
};

// `model` are the bytes of the file `path`, whose test data gives the sample that is counted.
// options.target is the target. What goes wrong while building is reported, and estimated instead.
TargetFit fit(std::string_view model, const std::string& path, const CompileOptions& options,
              const FitQuestion& question, Reporter& reporter);

}  // namespace etch::cli
