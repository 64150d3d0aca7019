// Weights that are programmed into the product apart from its code: NAME_weights.bin is the memory
// image of a struct, of which the code knows the layout and the linker the place; see parts.h.
// References to the struct's members take the place of the arrays, so that steps are the same text
// and the same instructions wherever their weights are.
#include "compiler/base/checked.h"
#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/arrays.h"
#include "compiler/emit/code/literals.h"
#include "compiler/emit/code/parts.h"
#include "compiler/program/arena.h"
#include "compiler/text/names.h"
#include "compiler/text/writer.h"

namespace etch {
namespace {

constexpr std::int64_t kIdentityBytes = 32;

// Calls visit(name, constant, offset) for each array, in the order of the struct; returns the end.
template <class Visit>
std::int64_t for_each_member(const Program& program, Visit visit) {
  const std::int64_t alignment = constant_alignment(program);
  std::int64_t offset = kIdentityBytes;
  for_each_array(program, [&](const std::string& name, const ConstantArray& constant) {
    offset = round_up(offset, alignment);
    visit(name, constant, offset);
    offset += declared_elements(constant) * bytes_of(constant.element);
  });
  return offset;
}

// All but the identity, which is a hash of it.
std::string content_of(const Program& program) {
  std::string out(kIdentityBytes, '\0');
  const std::int64_t end =
      for_each_member(program, [&](const auto&, const ConstantArray& constant, std::int64_t at) {
        out.resize(static_cast<std::size_t>(at), '\0');
        out.append(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
      });
  out.resize(static_cast<std::size_t>(round_up(end, weights_alignment(program))), '\0');
  return out.substr(kIdentityBytes);
}

int hex_value(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

std::string identity_of(const Program& program) {
  const std::string hex = sha256_hex(content_of(program));
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(hex_value(hex[i]) * 16 + hex_value(hex[i + 1])));
  }
  return out;
}

}  // namespace

std::int64_t weights_alignment(const Program& program) { return constant_alignment(program); }

std::string weights_image(const Program& program) {
  return identity_of(program) + content_of(program);
}

std::string weights_symbol(const EmitContext& context) {
  return cat(context.options.name, "_weights");
}

std::string weights_struct(const EmitContext& context) {
  const Program& program = context.program;
  const std::string symbol = weights_symbol(context);
  Writer writer;
  writer.line(cat("// What ", symbol, ".bin holds; ", symbol, " is where the linker says."));
  writer.line(
      "static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, \"the file's byte order\");");
  writer.open(cat("struct alignas(", weights_alignment(program), ") Weights"));
  writer.line(cat("uint8_t identity[", kIdentityBytes, "];"));
  for_each_member(
      program, [&](const std::string& name, const ConstantArray& constant, std::int64_t at) {
        writer.line(cat("alignas(", weights_alignment(program), ") ", c_type(constant.element), " ",
                        name, "[", declared_elements(constant), "];  // at ", at));
      });
  writer.close("};");
  writer.line(cat("static_assert(sizeof(Weights) == ", weights_image(program).size(),
                  ", \"the layout of ", symbol, ".bin\");"));
  writer.line(cat("extern \"C\" const Weights ", symbol, ";"));
  writer.line();
  for_each_member(program, [&](const std::string& name, const ConstantArray& constant, auto) {
    writer.line(cat("inline constexpr const ", c_type(constant.element), " (&", name, ")[",
                    declared_elements(constant), "] = ", symbol, ".", name, ";"));
  });
  return writer.text();
}

std::string weights_match_definition(const EmitContext& context) {
  const std::string& name = context.options.name;
  Writer writer;
  writer.scope(cat("bool ", name, "::weights_match() noexcept"), [&] {
    writer.line("// Of the file that was made together with this code.");
    const std::string identity = identity_of(context.program);
    writer.line("static const uint8_t expected[] = {");
    constexpr std::size_t kPerLine = 16;
    for (std::size_t at = 0; at < identity.size(); at += kPerLine) {
      std::string line = "   ";
      for (const char byte : identity.substr(at, kPerLine)) {
        line += cat(" ", static_cast<int>(static_cast<unsigned char>(byte)), ",");
      }
      writer.line(line);
    }
    writer.line("};");
    writer.line("// Volatile: the file may have been replaced since this was compiled.");
    writer.line(cat("const volatile uint8_t* const there = steps::", weights_symbol(context),
                    ".identity;"));
    writer.scope(cat("for (int i = 0; i < ", kIdentityBytes, "; ++i)"),
                 [&] { writer.line("if (there[i] != expected[i]) return false;"); });
    writer.line("return true;");
  });
  writer.line();
  writer.scope(cat("extern \"C\" int ", name, "_weights_match(void) noexcept"),
               [&] { writer.line(cat("return ", name, "::weights_match() ? 1 : 0;")); });
  return writer.text();
}

}  // namespace etch
