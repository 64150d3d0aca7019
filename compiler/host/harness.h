// Makes a generated folder into a program: writes the network's files, harness.h (the logic, from
// templates/files) and a main.cc with the facts of the network, and builds them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/program/step.h"
#include "templates/isa/machine.h"

namespace etch {
class Writer;
}

namespace etch::cli {

enum class Timing { kNone, kSteps };

// `name` of templates/files.
OutputFile harness_file(const std::string& name);

// The files main.cc, harness.h and harness_network.h for the network that emit() calls `name`. With
// Timing::kSteps the files must have been emitted with EmitOptions::profile. For a machine without
// an operating system the second one is firmware_harness.h.
std::vector<OutputFile> harness_files(const Program& program, const std::string& name,
                                      Timing timing, const Machine* machine = nullptr);

// Of networks of one variant and without shares.
std::vector<OutputFile> firmware_harness_files(const Program& program, const std::string& name,
                                               Timing timing);

// "{{784U, 1U}}": bytes of each port and of its elements.
std::string port_table(const std::vector<Port>& ports);

// The tables kInputs and kOutputs, and the fields of a harness::Network but the last, its Call.
void write_ports(Writer& writer, const Program& program);
std::string network_fields(const Program& program, const std::string& name);

// The beginning of a call of NAME::run(), from pointers as harness::Call has them, up to the comma
// after the arena; the hook for threads and ");" are missing. `first` is what run() takes before
// these: a variant.
std::string threaded_call(const Program& program, const std::string& name,
                          const std::string& first = "");

// The inputs as the harness has them: of programs for several sizes with one more, the size, as
// int32. Its outputs have the bytes of the greatest size.
std::vector<Port> harness_inputs(const Program& program);

// The whole call, with the size where there is one, from pointers as harness::Call has them; one
// that is refused traps.
std::string whole_call(const Program& program, const std::string& name,
                       const std::string& first = "");

// Around such a call in programs with a state: the variable that holds it, and copies from the
// inputs that it replaces and to the outputs. So the harness and its callers know no state: they
// give what one run leaves to the next.
void write_state_variable(Writer& writer, const Program& program, const std::string& name);
void write_state_in(Writer& writer, const Program& program, const std::string& name);
void write_state_out(Writer& writer, const Program& program);

}  // namespace etch::cli
