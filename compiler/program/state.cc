// See state.h.
#include "compiler/program/state.h"

#include <algorithm>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/base/text.h"

namespace etch {

namespace {

constexpr std::string_view kInput = "state";
constexpr std::string_view kOutput = "next";

bool is_numbered(std::string_view name, std::string_view stem) {
  return name.size() > stem.size() && name.substr(0, stem.size()) == stem;
}

// The index of the port; every number below that of the last one is there.
int index_of(const std::vector<Port>& ports, const std::string& identifier) {
  const auto found =
      std::ranges::find_if(ports, [&](const Port& port) { return port.identifier == identifier; });
  return found == ports.end() ? -1 : static_cast<int>(found - ports.begin());
}

// Of all bits: -0 is another value than 0.
bool is_zero(const Tensor& tensor) {
  return std::ranges::all_of(tensor.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

bool is_state(const Port& port) {
  return is_numbered(port.identifier, kInput) || is_numbered(port.identifier, kOutput);
}

void keep_in_state(Program& program, std::size_t output, std::size_t input,
                   const std::shared_ptr<const Tensor>& initial) {
  Port& from = program.outputs[output];
  Port& to = program.inputs[input];
  ETCH_CHECK(!is_state(from) && !is_state(to));
  ETCH_CHECK(from.dtype == to.dtype && from.shape == to.shape);
  const std::size_t number = state_of(program).ports.size();
  from.identifier = cat(kOutput, number);
  to.identifier = cat(kInput, number);
  if (initial != nullptr && !is_zero(*initial)) {
    ETCH_CHECK(initial->dtype() == to.dtype && initial->shape() == to.shape);
    to.initial = initial;
  }
  for (Program& variant : program.variants) keep_in_state(variant, output, input, initial);
}

ConstantArray initial_array(const Port& input) {
  const auto bytes = input.initial->bytes();
  return {"initial",
          input.dtype,
          {bytes.begin(), bytes.end()},
          cat("what reset() sets ", input.identifier, " to")};
}

std::string initial_name(const Port& input) { return cat(input.identifier, "_initial"); }

StateLayout state_of(const Program& program) {
  StateLayout state;
  while (true) {
    const std::size_t number = state.ports.size();
    const int input = index_of(program.inputs, cat(kInput, number));
    if (input < 0) return state;
    const Port& port = program.inputs[static_cast<std::size_t>(input)];
    const std::int64_t bytes = element_count(port.shape) * bytes_of(port.dtype);
    state.ports.push_back(
        {input, index_of(program.outputs, cat(kOutput, number)), state.half, bytes});
    // No State is empty: C++ has no arrays of no bytes.
    state.half += std::max<std::int64_t>(1, (bytes + kStateAlignment - 1) / kStateAlignment) *
                  kStateAlignment;
  }
}

}  // namespace etch
