// How code for s390x is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_s390x_machine{
    .kind = Machine::Kind::kLinux,
    .compiler = "s390x-linux-gnu-g++",
    .link_flags = "-static",
    .compiler_packages = "g++-s390x-linux-gnu",
    .emulator = "qemu-s390x",
    .emulator_package = "qemu-user",
};

}  // namespace etch::isa
