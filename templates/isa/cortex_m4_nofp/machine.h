// How code for cortex-m4-nofp is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_cortex_m4_nofp_machine{
    .kind = Machine::Kind::kFirmware,
    .compiler = "arm-none-eabi-gcc",
    .flags = "-mthumb -mcpu=cortex-m4+nofp -mfloat-abi=soft",
    .link_flags = "--specs=nano.specs",
    .compiler_packages = "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    .emulator = "qemu-system-arm",
    .emulator_arguments = "-M mps2-an386",
    .emulator_package = "qemu-system-arm",
    .board = "mps2-an386",
    .rom = {0, 4 << 20},
    .ram = {0x20000000, 4 << 20},
};

}  // namespace etch::isa
