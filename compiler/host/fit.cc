// See fit.h.
#include "compiler/host/fit.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/code/flash_estimate.h"
#include "compiler/emit/code/parts.h"
#include "compiler/host/footprint.h"
#include "compiler/host/measure.h"
#include "compiler/host/network.h"
#include "compiler/host/toolchain.h"
#include "compiler/program/state.h"
#include "compiler/text/names.h"
#include "compiler/text/numbers.h"

namespace etch::cli {
namespace {

std::string first_error(const Sink& sink) {
  for (const Diagnostic& diagnostic : sink.sorted()) {
    if (diagnostic.severity == Severity::kError) return diagnostic.message;
  }
  return "refused";
}

std::int64_t bytes_of_ports(const std::vector<Port>& ports) {
  std::int64_t bytes = 0;
  for (const Port& port : ports) {
    if (!is_state(port)) bytes += bytes_of(port.dtype) * element_count(port.shape);
  }
  return bytes;
}

// The network with other options; null where that is refused.
std::unique_ptr<Program> otherwise(std::string_view model, const CompileOptions& options) {
  Sink ignored;
  return compile(model, options, ignored);
}

// A percentage to the nearest whole number.
std::int64_t percent_more(std::int64_t now, std::int64_t before) {
  return before == 0 ? 0 : (200 * (now - before) + before) / (2 * before);
}

class Adviser {
 public:
  Adviser(std::string_view model, const CompileOptions& options, const FitQuestion& question,
          const Program& program)
      : model_(model), options_(options), question_(question), program_(program) {}

  void about_flash(TargetFit& row) const {
    const std::int64_t missing = row.flash_bytes() - question_.flash_bytes;
    if (missing <= 0) return;
    row.advice.push_back(cat("needs ", bytes_with_unit(missing), " more flash"));
    if (row.weight_bytes > question_.flash_bytes)
      row.advice.push_back("its weights alone exceed it");
    CompileOptions smaller = options_;
    smaller.objective = Objective::kSize;
    const std::unique_ptr<Program> other = otherwise(model_, smaller);
    if (other == nullptr) return;
    const std::int64_t saved = estimated_flash(program_).total() - estimated_flash(*other).total();
    if (saved <= 0) return;
    row.advice.push_back(cat("--optimize size saves about ", bytes_with_unit(saved),
                             saved >= missing ? ", which should fit" : ""));
  }

  void about_ram(TargetFit& row) const {
    const std::int64_t missing = row.ram_bytes() - question_.ram_bytes;
    if (missing <= 0) return;
    row.advice.push_back(cat("needs ", bytes_with_unit(missing), " more RAM"));
    if (row.arena_bytes > missing && says_limit(row, row.arena_bytes - missing)) return;
    CompileOptions smaller = options_;
    smaller.objective = Objective::kRam;
    const std::unique_ptr<Program> other = otherwise(model_, smaller);
    if (other == nullptr || other->arena_bytes >= row.arena_bytes) return;
    row.advice.push_back(
        cat("--optimize ram saves ", bytes_with_unit(row.arena_bytes - other->arena_bytes)));
  }

 private:
  // Whether an arena of so many bytes is possible; if so, says what it costs.
  bool says_limit(TargetFit& row, std::int64_t arena) const {
    CompileOptions limited = options_;
    limited.arena_limit = arena;
    const std::unique_ptr<Program> other = otherwise(model_, limited);
    if (other == nullptr) return false;
    row.advice.push_back(cat("--arena-limit ", arena, " would fit, for ",
                             percent_more(other->macs, program_.macs), " % more multiplications"));
    return true;
  }

  std::string_view model_;
  const CompileOptions& options_;
  const FitQuestion& question_;
  const Program& program_;
};

TargetFit sizes_of(const Program& program, const FitQuestion& question, Reporter& reporter) {
  TargetFit row;
  row.weight_bytes = constant_bytes(program);
  row.code_bytes = estimated_flash(program).code;
  row.arena_bytes = program.arena_bytes;
  row.state_bytes = state_of(program).bytes();
  row.port_bytes = bytes_of_ports(program.inputs) + bytes_of_ports(program.outputs);
  if (!question.build) return row;
  if (const std::optional<Footprint> measured = measure_footprint(program, reporter)) {
    row.code_bytes = measured->code_bytes;
    row.code_is_measured = true;
    row.stack_bytes = measured->stack_bytes;
  }
  return row;
}

// Whether there is an emulator that counts and whose board is large enough.
bool can_count(const Program& program, const TargetFit& row) {
  const Machine* const machine = machine_of(program.isa.name);
  if (machine == nullptr || machine->kind != Machine::Kind::kFirmware) return false;
  const auto ram = static_cast<std::uint64_t>(row.ram_bytes()) + machine->stack_bytes;
  const auto rom = static_cast<std::uint64_t>(row.flash_bytes());
  return status_of(program.isa).runs_here() && ram < machine->ram.bytes && rom < machine->rom.bytes;
}

std::optional<std::int64_t> count_instructions(std::unique_ptr<Program> program,
                                               const std::string& path, Reporter& reporter) {
  const std::vector<Tensor> sample = sample_for(path, *program);
  const std::unique_ptr<Network> network =
      Network::build(std::move(program), Timing::kSteps, {}, reporter);
  if (network == nullptr) return std::nullopt;
  const auto counts = network->count({sample}, reporter);
  return counts ? std::optional(counts->front().front()) : std::nullopt;
}

}  // namespace

TargetFit fit(std::string_view model, const std::string& path, const CompileOptions& options,
              const FitQuestion& question, Reporter& reporter) {
  Sink sink;
  std::unique_ptr<Program> program = compile(model, options, sink);
  TargetFit row;
  if (program != nullptr) row = sizes_of(*program, question, reporter);
  row.isa = find_target(options.target);
  if (program == nullptr) {
    row.refused = first_error(sink);
    return row;
  }
  row.fits = row.ram_bytes() <= question.ram_bytes && row.flash_bytes() <= question.flash_bytes;
  const Adviser adviser(model, options, question, *program);
  adviser.about_flash(row);
  adviser.about_ram(row);
  if (question.count_instructions && can_count(*program, row)) {
    row.instructions = count_instructions(std::move(program), path, reporter);
  }
  return row;
}

}  // namespace etch::cli
