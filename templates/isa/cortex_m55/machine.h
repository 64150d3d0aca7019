// How code for cortex-m55 is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_cortex_m55_machine{
    .kind = Machine::Kind::kFirmware,
    .compiler = "arm-none-eabi-gcc",
    .flags = "-mthumb -mcpu=cortex-m55 -mfloat-abi=hard",
    .link_flags = "--specs=nano.specs",
    .compiler_packages = "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    .emulator = "qemu-system-arm",
    .emulator_arguments = "-M mps3-an547",
    .emulator_package = "qemu-system-arm",
    .board = "mps3-an547",
    // Halves of 128 MB of the DDR memory, at its secure address: the SRAM of 2 and 4 MB is less
    // than what some networks need.
    .rom = {0x70000000, 64 << 20},
    .ram = {0x74000000, 64 << 20},
};

}  // namespace etch::isa
