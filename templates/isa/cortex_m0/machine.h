// How code for cortex-m0 is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_cortex_m0_machine{
    .kind = Machine::Kind::kFirmware,
    .compiler = "arm-none-eabi-gcc",
    .flags = "-mthumb -mcpu=cortex-m0",
    .link_flags = "--specs=nano.specs",
    .compiler_packages = "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    .emulator = "qemu-system-arm",
    .emulator_arguments = "-M microbit",
    .emulator_package = "qemu-system-arm",
    .board = "microbit",
    .rom = {0, 256 << 10},
    .ram = {0x20000000, 16 << 10},
    .stack_bytes = 3 << 10,
};

}  // namespace etch::isa
