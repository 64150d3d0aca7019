// See arena.h.
#include "compiler/program/arena.h"

#include <algorithm>

namespace etch {

std::string_view name_of(Home home) {
  if (home == Home::kArena) return "arena";
  return home == Home::kInput ? "input" : "output";
}

std::int64_t bytes_of_port(const Program& program, Home home, int port) {
  const auto& ports = home == Home::kInput ? program.inputs : program.outputs;
  const Port& found = ports[static_cast<std::size_t>(port)];
  return element_count(found.shape) * bytes_of(found.dtype);
}

std::int64_t arena_alignment(const Program& program) {
  constexpr std::int64_t kWidestElement = 8;
  constexpr std::int64_t kCacheLine = 64;
  std::int64_t out = std::max<std::int64_t>(program.isa.alignment, kWidestElement);
  if (program.shares > 1) out = std::max(out, kCacheLine);
  for (const Buffer& buffer : program.buffers) {
    if (buffer.home == Home::kArena) out = std::max<std::int64_t>(out, buffer.alignment);
  }
  for (const Program& variant : program.variants) out = std::max(out, arena_alignment(variant));
  return out;
}

std::int64_t constant_alignment(const Program& program) {
  std::int64_t out = program.isa.alignment;
  for (const auto& step : program.steps) {
    for (const ConstantArray& constant : step->constants)
      out = std::max<std::int64_t>(out, bytes_of(constant.element));
  }
  for (const Port& input : program.inputs) {
    if (input.initial != nullptr) out = std::max<std::int64_t>(out, bytes_of(input.dtype));
  }
  return out;
}

}  // namespace etch
