// main.cc of an image for a machine without an operating system; see harness.h and
// templates/files/firmware_harness.h.
#include "compiler/base/text.h"
#include "compiler/host/harness.h"
#include "compiler/text/writer.h"

namespace etch::cli {
namespace {

std::string firmware_main_text(const Program& program, const std::string& name, Timing timing) {
  Writer writer;
  writer.line(
      "// Runs the generated network as an image. Written by etch; see firmware_harness.h.");
  writer.line(cat("#include \"", name, ".h\""));
  if (timing == Timing::kSteps) writer.line(cat("#include \"", name, "_profile.h\""));
  writer.line("#include \"firmware_harness.h\"");
  writer.line();
  writer.line("namespace {");
  writer.line();
  write_ports(writer, program);
  write_state_variable(writer, program, name);
  writer.line("}  // namespace");
  writer.line();
  writer.line("// Its name is known to stack_use.cc.");
  writer.scope(
      "extern \"C\" void etch_call([[maybe_unused]] const void* const* inputs, [[maybe_unused]] "
      "void* const* outputs, "
      "void* arena)",
      [&] {
        write_state_in(writer, program, name);
        writer.line(whole_call(program, name));
        write_state_out(writer, program);
      });
  writer.line();
  writer.scope("int main()", [&] {
    writer.line(
        cat("const harness::Network network{", network_fields(program, name), ", etch_call};"));
    writer.line(timing == Timing::kSteps
                    ? cat("return harness::main(network, ", name, "::profile::kSteps, ", name,
                          "::profile::kStepCount);")
                    : "return harness::main(network);");
  });
  return writer.text();
}

}  // namespace

std::vector<OutputFile> firmware_harness_files(const Program& program, const std::string& name,
                                               Timing timing) {
  return {harness_file("firmware_harness.h"),
          harness_file("harness_network.h"),
          {"main.cc", firmware_main_text(program, name, timing)}};
}

}  // namespace etch::cli
