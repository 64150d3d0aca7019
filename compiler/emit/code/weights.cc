// The constants of all steps; see parts.h.
#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/arrays.h"
#include "compiler/emit/code/literals.h"
#include "compiler/emit/code/parts.h"
#include "compiler/program/arena.h"
#include "compiler/text/names.h"
#include "compiler/text/writer.h"

namespace etch {
namespace {

// Text of one file: 1.3 MB of data, a tenth of a second of compilation (measured: 0.07 s per MB
// of data with g++ 12, 0.10 s with clang 14).
constexpr std::size_t kShardBytes = 4 << 20;
// Every array of a weights file starts at a multiple of this.
constexpr std::int64_t kBlobAlignment = 64;

bool in_blob(const EmitContext& context, const ConstantArray& constant) {
  return context.options.weights == WeightsForm::kFile && is_byte_array(constant);
}

std::string section_macro(const EmitContext& context) {
  return cat(macro_stem(context.options.name), "_WEIGHTS_ATTRIBUTE");
}

// The linker's name of an array in the weights file.
std::string blob_symbol(const EmitContext& context, const std::string& name) {
  return cat(context.options.name, "_", name);
}

// Calls visit(name, constant, offset) for each array of the weights file.
template <class Visit>
void for_each_in_blob(const Program& program, Visit visit) {
  std::int64_t offset = 0;
  for_each_array(program, [&](const std::string& name, const ConstantArray& constant) {
    if (!is_byte_array(constant)) return;
    visit(name, constant, offset);
    offset = round_up(offset + static_cast<std::int64_t>(constant.bytes.size()), kBlobAlignment);
  });
}

}  // namespace

std::int64_t constant_bytes(const Program& program) {
  std::int64_t sum = 0;
  for (const Program& variant : program.variants) sum += constant_bytes(variant);
  const std::int64_t alignment = constant_alignment(program);
  for_each_array(program, [&](const std::string&, const ConstantArray& constant) {
    sum += flash_bytes(constant, alignment);
  });
  return sum;
}

std::string weight_declarations(const EmitContext& context) {
  if (context.options.weights == WeightsForm::kBinary) return weights_struct(context);
  Writer writer;
  for_each_array(context.program, [&](const std::string& name, const ConstantArray& constant) {
    const std::string symbol =
        in_blob(context, constant) ? cat(" __asm__(\"", blob_symbol(context, name), "\")") : "";
    writer.line(cat("extern ", declaration_of(name, constant), symbol, ";"));
  });
  return writer.text();
}

std::vector<std::string> weight_definitions(const EmitContext& context) {
  std::vector<std::string> shards;
  if (context.options.weights == WeightsForm::kBinary) return shards;
  const std::int64_t alignment = constant_alignment(context.program);
  for_each_array(context.program, [&](const std::string& name, const ConstantArray& constant) {
    if (in_blob(context, constant)) return;
    const std::string text = definition_of(name, constant, alignment, section_macro(context));
    if (shards.empty() || shards.back().size() + text.size() > kShardBytes) shards.emplace_back();
    shards.back() += "\n" + text;
  });
  return shards;
}

std::string weights_blob(const Program& program) {
  std::string out;
  for_each_in_blob(program, [&](const auto&, const ConstantArray& constant, std::int64_t offset) {
    out.resize(static_cast<std::size_t>(offset), '\0');
    out.append(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
  });
  return out;
}

std::string weights_inclusion(const EmitContext& context) {
  const std::string& network = context.options.name;
  const std::string macro = cat(macro_stem(network), "_WEIGHTS_FILE");
  Writer writer;
  writer.line(
      "// The assembler includes the file (GNU as and clang, ELF targets). It looks for the");
  writer.line(cat("// path relative to where the compiler runs; CMakeLists.txt sets ", macro));
  writer.line("// to the full path.");
  writer.line(cat("#ifndef ", macro));
  writer.line(cat("#define ", macro, " \"", network, "_weights.bin\""));
  writer.line("#endif");
  writer.line();
  writer.line("__asm__(");
  const std::string& chosen = context.options.weights_section;
  const std::string section = chosen.empty() ? cat(".rodata.", network, "_weights") : chosen;
  writer.line(cat("    \".pushsection ", section, ",\\\"a\\\"\\n\""));
  for_each_in_blob(context.program, [&](const std::string& name, const ConstantArray& constant,
                                        std::int64_t offset) {
    const std::string symbol = blob_symbol(context, name);
    writer.line(cat("    \".balign ", constant_alignment(context.program), "\\n\""));
    writer.line(cat("    \".globl ", symbol, "\\n\""));
    writer.line(cat("    \".hidden ", symbol, "\\n", symbol, ":\\n\""));
    writer.line(cat("    \".incbin \\\"\" ", macro, " \"\\\",", offset, ",", constant.bytes.size(),
                    "\\n\""));
    const auto bytes = static_cast<std::int64_t>(constant.bytes.size());
    if (declared_elements(constant) > bytes) writer.line("    \".byte 0\\n\"");
  });
  writer.line("    \".popsection\\n\");");
  return writer.text();
}

}  // namespace etch
