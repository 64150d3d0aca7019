// How code for riscv64-rvv is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_riscv64_rvv_machine{
    .kind = Machine::Kind::kLinux,
    .compiler = "clang++-19",
    .flags = "--target=riscv64-linux-gnu",
    .link_flags = "-static -fuse-ld=lld",
    .compiler_packages = "clang-19 lld-19 g++-riscv64-linux-gnu",
    .emulator = "qemu-riscv64",
    .emulator_arguments = "-cpu rv64,v=true,vlen=128,vext_spec=v1.0",
    .emulator_package = "qemu-user",
};

}  // namespace etch::isa
