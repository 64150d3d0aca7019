// How code for armv7-neon is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_armv7_neon_machine{
    .kind = Machine::Kind::kLinux,
    .compiler = "arm-linux-gnueabihf-g++",
    .flags = "-mcpu=cortex-a9",
    .link_flags = "-static",
    .compiler_packages = "g++-arm-linux-gnueabihf",
    .emulator = "qemu-arm",
    .emulator_arguments = "-cpu cortex-a9",
    .emulator_package = "qemu-user",
};

}  // namespace etch::isa
