// How code for wasm32-simd128 is built and run here; see templates/isa/machine.h.
#pragma once

#include "templates/isa/machine.h"

namespace etch::isa {

inline constexpr Machine k_wasm32_simd128_machine{
    .kind = Machine::Kind::kWasi,
    .compiler = "clang++-19",
    .flags = "--target=wasm32-wasi -fno-exceptions",
    .compiler_packages =
        "clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 "
        "libclang-rt-19-dev-wasm32",
    .emulator = "node",
    .emulator_arguments = "--no-warnings --experimental-wasi-unstable-preview1 run_wasi.mjs",
    .emulator_package = "nodejs",
};

}  // namespace etch::isa
