// Cycles that a pipeline would need for the instructions that an emulator executed, modelled by
// LLVM's llvm-mca block by block; docs/firmware.md says what the model leaves out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/host/reporter.h"

namespace etch::cli {

// A pipeline that llvm-mca knows.
struct PipelineModel {
  std::string_view target;  // whose code it is for: "cortex-m4"
  std::string_view core;    // what a user calls it: "Cortex-M4"
  std::string_view triple;
  std::string_view cpu;      // as llvm-mca names it
  std::string_view comment;  // what begins one in its assembly language
  // What is added for every jump that is taken, on cores that do not predict: llvm-mca takes the
  // next instruction for fetched.
  int jump_cycles = 0;
  std::string_view features = {};  // that the CPU's name does not imply
};

// Null if there is none for this target.
const PipelineModel* pipeline_model(std::string_view target);
// The targets that have one: "cortex-m4, cortex-m7".
std::string modelled_targets();

// Instructions without a branch between them, executed as a whole.
struct ExecutedBlock {
  std::uint64_t address = 0;
  std::int64_t instructions = 0;
  std::int64_t executions = 0;
  std::int64_t jumps = 0;  // how often the next instruction was not the one after it
};
using BlockCounts = std::vector<ExecutedBlock>;

// What count_instructions.cc wrote with `blocks`: one element for each piece between two marks, the
// first for what was before the first mark. Null if `text` is something else.
std::optional<std::vector<BlockCounts>> parse_blocks(const std::string& text);

// Whether this machine has LLVM's tools; an error that says what to install if not.
bool can_model_cycles(Reporter& reporter);

struct ModelledCycles {
  std::vector<std::int64_t> cycles;   // of each piece
  std::vector<std::int64_t> unknown;  // executed instructions that the model lacks, a cycle each
};
// Of blocks of the ELF file `program`; files for llvm-mca are written into `folder`. Null after an
// error.
std::optional<ModelledCycles> model_cycles(const PipelineModel& model,
                                           const std::filesystem::path& program,
                                           const std::vector<BlockCounts>& pieces,
                                           const std::filesystem::path& folder, Reporter& reporter);

// Steps of it, for tests. One instruction as llvm-objdump prints it ("b.ne\t0x40 <f+0x8> // imm"),
// as llvm-mca's assembler reads it: without what follows `comment`, addresses of jumps as a label,
// and calls as jumps, because llvm-mca takes 100 cycles for what is called.
std::string assembly_of(std::string_view disassembled, std::string_view comment);
// The emulator may end a block within what depends on one condition ("itt", "vpst"). The assembler
// would look for the rest in the next block, so such a block ends before the condition.
void end_before_half_conditions(std::vector<std::string>& lines);

}  // namespace etch::cli
