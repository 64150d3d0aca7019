// How code for cortex-m33-nofp is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_cortex_m33_nofp_machine{
    .kind = Machine::Kind::kFirmware,
    .compiler = "arm-none-eabi-gcc",
    .flags = "-mthumb -mcpu=cortex-m33+nofp -mfloat-abi=soft",
    .link_flags = "--specs=nano.specs",
    .compiler_packages = "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    .emulator = "qemu-system-arm",
    .emulator_arguments = "-M mps2-an505",
    .emulator_package = "qemu-system-arm",
    .board = "mps2-an505",
    .rom = {0x10000000, 4 << 20},
    .ram = {0x38000000, 2 << 20},
};

}  // namespace etch::isa
