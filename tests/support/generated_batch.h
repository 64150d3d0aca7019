// Generated code of many programs at once: emitted under names of their own into one folder,
// compiled into one binary (a few dozen networks per file, so that a case costs a fraction of a
// second) and run with the checks of templates/files/harness.h: least alignment, memory filled with
// a pattern, guard bytes around everything.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/step.h"
#include "templates/isa/traits.h"

namespace etch {

struct BatchEntry {
  const Program* program = nullptr;  // all of one instruction set
  const std::vector<Tensor>* inputs = nullptr;
};

struct BatchOptions {
  // None: -O1, and -O0 for code without vectors on this CPU, which then compiles in a third of the
  // time (code of vectors takes longer without optimisation: each of its functions remains one).
  std::vector<std::string> flags = {};
  int networks_per_file = 24;
  // Networks with shares: on threads of a pool, else one share after the other, the last first.
  bool on_threads = false;
  // Instead of the machine's own: another compiler, and another CPU of its kind.
  std::string compiler = {};
  std::vector<std::string> emulator_arguments = {};
  // On this CPU: under strict warnings, of which none may come, and with a look at the objects:
  // they need memcpy and memset at most and have no variables that can change.
  bool clean = false;
};

// Whether code for `isa` can be built and executed on this machine; else why not.
std::string why_not_here(const IsaTraits& isa);

// The outputs of every entry. Fails the test and returns nothing when the code does not compile
// or the program reports an error.
std::optional<std::vector<std::vector<Tensor>>> run_generated(std::span<const BatchEntry> entries,
                                                              const IsaTraits& isa,
                                                              const BatchOptions& options = {});

// What the linker sees of the code of all entries, compiled (as one file) but not run; for this no
// CPU is needed. Fails the test and returns nothing when the compiler refuses or warns.
struct ObjectSymbols {
  std::vector<std::string> needed;    // undefined here: what a firmware would have to provide
  std::vector<std::string> writable;  // variables that can change
  // Functions and variables of Etch's own headers of which the linker keeps one for all files. They
  // could be compiled for an instruction set that another file may not use.
  std::vector<std::string> shared;
};
std::optional<ObjectSymbols> compile_generated(std::span<const BatchEntry> entries,
                                               const IsaTraits& isa, const std::string& compiler,
                                               const std::vector<std::string>& flags);

// Fails the test where it needs more than memcpy and memset or has variables that can change.
void expect_clean(const ObjectSymbols& symbols);

// The warnings that generated code has to be without, as errors; no exceptions, no RTTI.
std::vector<std::string> strict_flags();

}  // namespace etch
