// How code for cortex-m0 is built and run here; see templates/isa/machine.h. The board's CPU is a
// Cortex-M3, which has all of its instructions and faults as it does on unaligned words, by what
// firmware_start.cc sets: the boards with a Cortex-M0 have 16 kB.
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
    .emulator_arguments = "-M mps2-an385",
    .emulator_package = "qemu-system-arm",
    .board = "mps2-an385",
    .rom = {0, 4 << 20},
    .ram = {0x21000000, 16 << 20},
};

}  // namespace etch::isa
