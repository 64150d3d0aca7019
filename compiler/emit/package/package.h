// A generated network as a package for other build systems. All forms are one tree: the code in
// src/, where every system finds it (Arduino looks nowhere else), in files that compile without
// flags, or to nothing for a CPU that lacks the instructions; around it the small files that each
// system reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/emit.h"

namespace etch {

enum class PackageForm { kCMake, kCmsisPack, kZephyr, kEspIdf, kPlatformIo, kArduino };

struct PackageFormFacts {
  PackageForm form;
  std::string_view name;       // as on the command line: "cmsis-pack"
  std::string_view title;      // "CMSIS-Pack"
  std::string_view use;        // one sentence for README.md of the package
  std::string_view validated;  // how we know that it works
};

// In the order of the enumerators.
const std::vector<PackageFormFacts>& package_forms();

// Why this network cannot have that form; empty if it can.
std::string why_not(PackageForm form, const Program& program, const EmitOptions& options);

// The files of a package in these forms, each of which the network can have.
std::vector<OutputFile> emit_package(const Program& program, const EmitOptions& options,
                                     const std::vector<PackageForm>& forms);

}  // namespace etch
