// Which CPUs a package is for, in the words of each build system, so that none builds the code for
// another CPU without a word: there it would be refused by #error or take many times as long.
#pragma once

#include <string>
#include <string_view>

#include "compiler/program/step.h"

namespace etch {

// What a Cortex-M has to have for the code of a target, for the conditions of CMSIS packs.
enum class CortexM {
  kNone,   // the code is for other CPUs
  kAny,    // any CPU at all
  kBase,   // Thumb of ARMv6-M
  kV7,     // of ARMv7-M or ARMv8-M Mainline
  kDsp,    // DSP instructions
  kHelium  // MVE for integers and floats
};

struct PackageFit {
  std::string_view zephyr = {};      // what Kconfig has to depend on; empty: nothing
  std::string_view zephyr_cpu = {};  // the same for people: "a Cortex-M with DSP instructions"
  // Chips of ESP-IDF's `targets:`, or "*".
  std::string_view espressif = {};        // empty: none has such a CPU
  std::string_view arduino = "*";         // `architectures=`; families of boards with such a CPU
  std::string_view platformio = "\"*\"";  // `platforms` as JSON
  CortexM cortex_m = CortexM::kNone;
};

// By the target alone.
PackageFit package_fit(std::string_view target);

// Whether the code of `program` is asked to be built for a CPU with an FPU.
bool asks_for_fpu(const Program& program);

}  // namespace etch
