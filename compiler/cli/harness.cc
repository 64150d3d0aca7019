// The facts of one network as C++ tables; see harness.h. Only identifiers that emit() makes and
// numbers go into the text.
#include "compiler/cli/harness.h"

#include "compiler/base/text.h"
#include "compiler/emit/embedded.h"
#include "compiler/emit/writer.h"

namespace etch::cli {
namespace {

std::string port_table(const std::vector<Port>& ports) {
  std::string out;
  for (const Port& port : ports) {
    const int element = bytes_of(port.dtype);
    out += cat(out.empty() ? "" : ", ", "{", element_count(port.shape) * element, "U, ", element,
               "U}");
  }
  return cat("{", out, "}");
}

void write_call(Writer& writer, const std::string& caller, const std::string& function,
                std::size_t input_count) {
  writer.scope(
      cat("void ", caller, "(const void* const* inputs, void* const* outputs, void* arena)"), [&] {
        writer.line(
            cat("harness::call(&", function, ", inputs, ", input_count, "U, outputs, arena);"));
      });
  writer.line();
}

// Fills `steps` from the table that emit() writes with EmitOptions::profile.
void write_steps(Writer& writer, const std::string& name) {
  writer.scope(cat("for (int i = 0; i < ", name, "::profile::kStepCount; ++i)"), [&] {
    writer.line(cat("const ", name, "::profile::Step& step = ", name, "::profile::kSteps[i];"));
    writer.line("network.steps.push_back({step.name, step.run});");
  });
}

std::string main_text(const Program& program, const std::string& name, Timing timing) {
  Writer writer;
  writer.line("// Runs the generated network as a program. Written by etch; see harness.h.");
  writer.line(cat("#include \"", name, ".h\""));
  if (timing == Timing::kSteps) writer.line(cat("#include \"", name, "_profile.h\""));
  writer.line("#include \"harness.h\"");
  writer.line();
  writer.line("namespace {");
  writer.line();
  write_call(writer, "run", cat(name, "::run"), program.inputs.size());
  writer.line("}  // namespace");
  writer.line();
  writer.scope("int main(int argc, char** argv)", [&] {
    writer.line("harness::Network network{");
    writer.line(cat("    ", port_table(program.inputs), ","));
    writer.line(cat("    ", port_table(program.outputs), ","));
    writer.line(cat("    ", name, "::kArenaBytes, ", name, "::kArenaAlignment, run, {}};"));
    if (timing == Timing::kSteps) write_steps(writer, name);
    writer.line("return harness::main(argc, argv, network);");
  });
  return writer.text();
}

}  // namespace

std::vector<OutputFile> harness_files(const Program& program, const std::string& name,
                                      Timing timing) {
  return {{"harness.h", std::string(embedded_file("templates/files/harness.h"))},
          {"main.cc", main_text(program, name, timing)}};
}

}  // namespace etch::cli
