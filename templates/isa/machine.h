// How code for a machine that is not this one is built and run here: plain facts, filled in by
// templates/isa/<isa>/machine.h and read by compiler/host/toolchain.cc. The flags here say which
// machine it is and are for our own programs only; what generated code needs besides a user's own
// toolchain is in flags.cmake.
#pragma once

#include <cstdint>
#include <string_view>

namespace etch {

struct MemoryRange {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

struct Machine {
  enum class Kind {
    kLinux,     // static programs in a user-mode emulator
    kFirmware,  // images with a start-up of their own, which talk through semihosting
    kWasi,      // modules that node runs
  };
  Kind kind = Kind::kLinux;
  std::string_view compiler = {};            // compiles and links C++
  std::string_view flags = {};               // separated by spaces, as all lists here
  std::string_view link_flags = {};          // after the objects
  std::string_view compiler_packages = {};   // of Debian 12, libraries included
  std::string_view emulator = {};            // its program
  std::string_view emulator_arguments = {};  // before the program that it is to run
  std::string_view emulator_package = {};
  // Of kFirmware: where the image and its data go.
  std::string_view board = {};
  MemoryRange rom = {}, ram = {};
  std::uint64_t stack_bytes = 16 << 10;
};

}  // namespace etch
