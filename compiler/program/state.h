// Outputs of one inference that are inputs of the next. The caller of the generated code keeps them
// in a State, which run() takes in place of arguments: first what the inference reads, and after
// that, in the same order, what it writes; run() ends by copying the second part over the first. A
// port that is kept so has the identifier "state0" (an input) or "next0" (the output that follows
// it); other ports keep theirs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/program/step.h"

namespace etch {

struct StatePort {
  int input = 0;   // index into Program::inputs
  int output = 0;  // index into Program::outputs
  std::int64_t offset =
      0;  // bytes from the beginning of State; the output's is StateLayout::half more
  std::int64_t bytes = 0;
};

struct StateLayout {
  std::vector<StatePort> ports;  // by number
  std::int64_t half = 0;         // bytes of the inputs, a multiple of kStateAlignment

  bool empty() const { return ports.empty(); }
  std::int64_t bytes() const { return 2 * half; }
};

// Where a State and each port in it starts: what the widest element, int64, needs.
inline constexpr std::int64_t kStateAlignment = 8;

// Moves the input and the output, which have one type and shape and are kept by no other call, into
// the state of the program and of its variants. It begins with `initial`, of that type and shape
// too; null: with zeros.
void keep_in_state(Program& program, std::size_t output, std::size_t input,
                   const std::shared_ptr<const Tensor>& initial = nullptr);

// Of an input that has an initial value: the constant that reset() copies, and its name.
ConstantArray initial_array(const Port& input);
std::string initial_name(const Port& input);  // "state0_initial"

// Empty without such ports.
StateLayout state_of(const Program& program);
bool is_state(const Port& port);

}  // namespace etch
