// Builds a folder of C++ files into one program with the target's compiler, as many files at a
// time as this machine has processors.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/host/reporter.h"
#include "compiler/host/toolchain.h"

namespace etch::cli {

struct BuildOutput {
  std::filesystem::path program;
  std::vector<std::filesystem::path> objects;  // one per source, in the order of the sources
};

struct Source {
  Source(const char* file) : path(file) {}
  Source(std::string file, std::string flags_of = {})
      : path(std::move(file)), target(std::move(flags_of)) {}

  std::string path;
  std::string target;  // whose flags it takes besides the toolchain's; empty: no others
};

// Compiles `sources` (paths relative to `folder`, which is also searched for includes) with -O2
// and links them to `folder`/`name`. Objects are put beside their sources. Reports, with the
// compiler's words, one that cannot be run, crashes, does not know an option or lacks its libraries
// as E-IO, an image that is larger than the machine's memory as E-LIMIT, and code that the compiler
// refuses as an internal error.
std::optional<BuildOutput> build_program(const std::filesystem::path& folder,
                                         const std::vector<Source>& sources,
                                         const std::string& name, const Toolchain& toolchain,
                                         Reporter& reporter);

// The same without linking: the objects, in the order of the sources.
std::optional<std::vector<std::filesystem::path>> compile_sources(
    const std::filesystem::path& folder, const std::vector<Source>& sources,
    const Toolchain& toolchain, Reporter& reporter);

// ": " and what a compiler said from its first error on, with lines joined by " | "; empty if it
// was silent. A linker says what is wrong before the driver's "collect2: error:".
std::string words_of(const std::string& errors);

// E-LIMIT with the sizes of the machine's memories.
void report_too_large(const Machine& machine, const std::string& what, Reporter& reporter);

}  // namespace etch::cli
