// See native.h.

#include "compiler/stage/native.h"

#include <bit>
#include <cstring>

#include "compiler/base/check.h"

namespace etch {

static_assert(std::endian::native == std::endian::little,
              "constant arrays are little-endian and used as they are");

NativeStage::NativeStage(const Step& step, const IsaTraits& isa,
                         std::span<std::byte* const> operands)
    : NativeVerbs(isa), step_(step), operands_(operands.begin(), operands.end()) {
  ETCH_CHECK(operands.size() == step.operands.size());
  for (const ConstantArray& array : step.constants) {
    constants_.emplace_back(array.bytes.size());
    if (array.bytes.empty()) continue;
    std::memcpy(constants_.back().data(), array.bytes.data(), array.bytes.size());
  }
}

std::byte* NativeStage::constant_data(std::string_view suffix) {
  std::size_t i = 0;
  while (i < constants_.size() && step_.constants[i].suffix != suffix) ++i;
  ETCH_CHECK(i < constants_.size());
  return constants_[i].data();
}

namespace {

class Memory {
 public:
  Memory(const Program& program, std::span<const std::byte* const> inputs,
         std::span<std::byte* const> outputs)
      : inputs_(inputs), outputs_(outputs), arena_(static_cast<std::size_t>(program.arena_bytes)) {
    ETCH_CHECK(inputs.size() == program.inputs.size());
    ETCH_CHECK(outputs.size() == program.outputs.size());
  }

  std::byte* start_of(const Buffer& buffer, Access access) {
    const auto port = static_cast<std::size_t>(buffer.port);
    if (buffer.home == Home::kOutput) return outputs_[port];
    if (buffer.home == Home::kInput) {
      ETCH_CHECK(access == Access::kRead);
      return const_cast<std::byte*>(inputs_[port]);
    }
    ETCH_CHECK(buffer.arena_offset >= 0);
    return arena_.data() + buffer.arena_offset;
  }

 private:
  std::span<const std::byte* const> inputs_;
  std::span<std::byte* const> outputs_;
  AlignedMemory arena_;
};

}  // namespace

void run_native(const Program& program, std::span<const std::byte* const> inputs,
                std::span<std::byte* const> outputs) {
  Memory memory(program, inputs, outputs);
  const auto run = [&](int index) {
    const Step& step = *program.steps[static_cast<std::size_t>(index)];
    std::vector<std::byte*> operands;
    for (const Operand& operand : step.operands) {
      const Buffer& buffer = program.buffers[static_cast<std::size_t>(operand.buffer)];
      operands.push_back(memory.start_of(buffer, operand.access) + operand.offset);
    }
    NativeStage stage(step, program.isa, operands);
    step.run(stage);
  };
  for_each_execution(program, run, [&](int buffer) {
    const Buffer& flag = program.buffers[static_cast<std::size_t>(buffer)];
    return *memory.start_of(flag, Access::kRead) != std::byte{0};
  });
}

}  // namespace etch
