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

std::string main_text(const Program& program, const std::string& name) {
  Writer writer;
  writer.line("// Runs the generated network as a program. Written by etch; see harness.h.");
  writer.line(cat("#include \"", name, ".h\""));
  writer.line("#include \"harness.h\"");
  writer.line();
  writer.line("namespace {");
  writer.line();
  write_call(writer, "run", cat(name, "::run"), program.inputs.size());
  writer.line("}  // namespace");
  writer.line();
  writer.scope("int main(int argc, char** argv)", [&] {
    writer.line("const harness::Network network{");
    writer.line(cat("    ", port_table(program.inputs), ","));
    writer.line(cat("    ", port_table(program.outputs), ","));
    writer.line(cat("    ", name, "::kArenaBytes, ", name, "::kArenaAlignment, run, {}};"));
    writer.line("return harness::main(argc, argv, network);");
  });
  return writer.text();
}

}  // namespace

std::vector<OutputFile> harness_files(const Program& program, const std::string& name,
                                      Timing timing) {
  (void)timing;
  return {{"harness.h", std::string(embedded_file("templates/files/harness.h"))},
          {"main.cc", main_text(program, name)}};
}

}  // namespace etch::cli
