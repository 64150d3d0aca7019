// How code for riscv32imac is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_riscv32imac_machine{
    .kind = Machine::Kind::kFirmware,
    .compiler = "riscv64-unknown-elf-gcc",
    .flags = "-misa-spec=2.2 -march=rv32imac -mabi=ilp32 -mcmodel=medany --specs=picolibc.specs",
    .compiler_packages = "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
    .emulator = "qemu-system-riscv32",
    .emulator_arguments = "-M virt -bios none",
    .emulator_package = "qemu-system-misc",
    .board = "virt",
    .rom = {0x80000000, 16 << 20},
    .ram = {0x81000000, 16 << 20},
};

}  // namespace etch::isa
