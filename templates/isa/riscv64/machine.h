// How code for riscv64 is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_riscv64_machine{
    .kind = Machine::Kind::kLinux,
    .compiler = "riscv64-linux-gnu-g++",
    .link_flags = "-static",
    .compiler_packages = "g++-riscv64-linux-gnu",
    .emulator = "qemu-riscv64",
    .emulator_package = "qemu-user",
};

}  // namespace etch::isa
