// How code for aarch64-i8mm is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_aarch64_i8mm_machine{
    .kind = Machine::Kind::kLinux,
    .compiler = "aarch64-linux-gnu-g++",
    .link_flags = "-static",
    .compiler_packages = "g++-aarch64-linux-gnu",
    .emulator = "qemu-aarch64",
    .emulator_arguments = "-cpu max",
    .emulator_package = "qemu-user",
};

}  // namespace etch::isa
