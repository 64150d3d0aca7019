// How code for cortex-r5 is built and run here; see templates/isa/machine.h. QEMU's boards have no
// Cortex-R5 by itself: programs of Linux run on a CPU that has all of its instructions, with a C
// library for such CPUs.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_cortex_r5_machine{
    .kind = Machine::Kind::kLinux,
    .compiler = "arm-linux-gnueabihf-g++",
    .flags = "-mcpu=cortex-r5 -mfpu=vfpv3-d16",
    .link_flags = "-static -Wl,--no-warn-mismatch",
    .compiler_packages = "g++-arm-linux-gnueabihf",
    .emulator = "qemu-arm",
    .emulator_arguments = "-cpu cortex-a15",
    .emulator_package = "qemu-user",
};

}  // namespace etch::isa
