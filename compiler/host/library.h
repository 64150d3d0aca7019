// A generated network as a shared library of this machine, which programs in other languages load:
// what `etch compile --library` does.
#pragma once

#include <filesystem>
#include <string>

#include "compiler/emit/emit.h"
#include "compiler/host/reporter.h"
#include "compiler/program/step.h"

namespace etch::cli {

// Builds the shared library `library` of the files that emit() makes of the program with these
// options. It exports the functions of the generated header; of a program for several threads also
//
//   void* NAME_pool_new(int threads);                  null if the threads cannot be started
//   const EtchThreads* NAME_pool_hook(const void*);    for NAME_run_on()
//   void NAME_pool_delete(void*);
//
// around etch::ThreadPool. An existing file is replaced once the new one is complete. Reports E-IO
// for targets that are other machines and where the compiler or the file system fails.
bool build_library(const Program& program, const EmitOptions& options,
                   const std::filesystem::path& library, Reporter& reporter);

}  // namespace etch::cli
