// The stage that computes: running a kernel under NativeStage does the step's work on the caller's
// memory, with the vector width, weight form and channel order of any instruction set and no need
// for a CPU that has it. run_native() runs a whole Program that way. See templates/stage.h for
// what a stage offers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/program/step.h"
#include "templates/native.h"
#include "templates/stage.h"

namespace etch {

// Zeroed memory whose start is aligned to 64 bytes and whose size is rounded up to that.
class AlignedMemory {
 public:
  explicit AlignedMemory(std::size_t bytes) : lines_((bytes + sizeof(Line) - 1) / sizeof(Line)) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(lines_.data()); }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
};

class NativeStage : public NativeVerbs {
 public:
  using Index = std::int64_t;
  template <class Element>
  using Ptr = Element*;

  // operands[i] is where operand i of `step` starts (Operand::offset is already included). Both
  // the step and the memory must outlive the stage; constants are copied.
  NativeStage(const Step& step, const IsaTraits& isa, std::span<std::byte* const> operands);

  template <class Element>
  Ptr<Element> operand(int i) const {
    ETCH_CHECK(i >= 0 && static_cast<std::size_t>(i) < operands_.size());
    return reinterpret_cast<Element*>(operands_[static_cast<std::size_t>(i)]);
  }
  template <class Element>
  Ptr<Element> constant(std::string_view suffix) {
    return reinterpret_cast<Element*>(constant_data(suffix));
  }

  template <class Body>
  void loop(const char*, std::int64_t count, Body body) {
    for (Index i = 0; i < count; ++i) body(i);
  }
  template <class Body>
  void block(Body body) {
    body();
  }
  template <class Element>
  Ptr<Element> base(const Name&, Element* p) const {
    return p;
  }
  template <class Body, class... Elements>
  void inlined(const std::string&, Body body,
               const std::pair<const char*, Elements*>&... arguments) {
    body(arguments.second...);
  }
  template <class Function, class... Args>
  void call(const Function& function, const Args&... args) const {
    function(args...);
  }
  void comment(const std::string&) const {}

 private:
  std::byte* constant_data(std::string_view suffix);

  const Step& step_;
  std::vector<std::byte*> operands_;
  std::vector<AlignedMemory> constants_;  // in the order of Step::constants
};

// Runs every step of `program` in order. inputs[i] and outputs[i] hold the dense data of port i;
// inputs are not written. The program's memory plan must be complete.
void run_native(const Program& program, std::span<const std::byte* const> inputs,
                std::span<std::byte* const> outputs);

}  // namespace etch
