// See verify.h.
#include "compiler/program/verify.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/program/arena.h"

namespace etch {

namespace {

using Faults = std::vector<std::string>;
using Known = std::map<std::string, const Step*>;  // steps by name

void check_names(const Step& step, const Known& before, Faults& faults) {
  if (step.name.empty()) faults.push_back(cat("a step of kind '", step.kind, "' has no name"));
  if (before.contains(step.name)) faults.push_back(cat(step.name, ": two steps have this name"));
  if (!step.shares_code()) return;
  const auto other = before.find(step.function);
  if (other == before.end() || other->second->shares_code()) {
    faults.push_back(
        cat(step.name, ": no earlier step has the code of '", step.function, "', which it calls"));
  }
}

void check_operands(const Program& program, int index, Faults& faults) {
  const Step& step = *program.steps[static_cast<std::size_t>(index)];
  for (const Operand& operand : step.operands) {
    const std::string what = cat(step.name, ": operand '", operand.name, "'");
    if (operand.buffer < 0 || operand.buffer >= std::ssize(program.buffers)) {
      faults.push_back(cat(what, " has no buffer"));
      continue;
    }
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(operand.buffer)];
    if (operand.offset < 0 || operand.offset + bytes_of(operand.element) > buffer.bytes)
      faults.push_back(cat(what, " is outside of buffer ", operand.buffer));
    if (index < buffer.first_step || index > buffer.last_step)
      faults.push_back(cat(what, " uses buffer ", operand.buffer, " while it is not live"));
  }
}

void check_port(const Program& program, std::size_t i, Faults& faults) {
  const Buffer& buffer = program.buffers[i];
  const auto& ports = buffer.home == Home::kInput ? program.inputs : program.outputs;
  if (buffer.port < 0 || buffer.port >= std::ssize(ports)) {
    faults.push_back(cat("buffer ", i, " has no port"));
  } else if (buffer.bytes != bytes_of_port(program, buffer.home, buffer.port)) {
    faults.push_back(
        cat("buffer ", i, " is not as large as the ", name_of(buffer.home), " that it is"));
  }
}

void check_buffers(const Program& program, Faults& faults) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    if (buffer.home != Home::kArena) check_port(program, i, faults);
    const bool planned = buffer.home == Home::kArena && buffer.arena_offset >= 0;
    if (planned && buffer.arena_offset + buffer.bytes + kArenaSlack > program.arena_bytes)
      faults.push_back(cat("buffer ", i, " is outside of the arena"));
  }
}

const ConstantArray* array_of(const Step& step, const std::string& suffix) {
  const auto at = std::find_if(step.constants.begin(), step.constants.end(),
                               [&](const ConstantArray& each) { return each.suffix == suffix; });
  return at == step.constants.end() ? nullptr : &*at;
}

void check_constants(const Step& step, const Known& before, Faults& faults) {
  std::set<std::string> suffixes;
  for (const ConstantArray& array : step.constants) {
    if (!suffixes.insert(array.suffix).second)
      faults.push_back(cat(step.name, ": two arrays are called '", array.suffix, "'"));
    if (array.owner.empty()) continue;
    const auto owner = before.find(array.owner);
    const ConstantArray* const owned =
        owner == before.end() ? nullptr : array_of(*owner->second, array.suffix);
    const bool has_it = owned != nullptr && owned->owner.empty() && !owner->second->shares_code() &&
                        owned->element == array.element && owned->bytes == array.bytes;
    if (!has_it) {
      faults.push_back(
          cat(step.name, ": '", array.owner, "' does not have the array '", array.suffix, "'"));
    }
  }
}

void check_overlaps(const Step& step, Faults& faults) {
  const auto accessed = [&](int operand, Access other) {
    return operand >= 0 && operand < std::ssize(step.operands) &&
           step.operands[static_cast<std::size_t>(operand)].access != other;
  };
  for (const Overlap& overlap : step.overlaps) {
    if (!accessed(overlap.output, Access::kRead))
      faults.push_back(
          cat(step.name, ": an overlap of operand ", overlap.output, ", which is not written"));
    if (!accessed(overlap.input, Access::kWrite))
      faults.push_back(
          cat(step.name, ": an overlap with operand ", overlap.input, ", which is not read"));
  }
}

bool same(const AssemblyFunction& a, const AssemblyFunction& b) {
  return a.condition == b.condition && a.types == b.types && a.names == b.names &&
         a.lines == b.lines && a.fallback == b.fallback && a.stack == b.stack;
}

void check_assembly(const Program& program, Faults& faults) {
  std::map<std::string, const AssemblyFunction*> known;
  for (const auto& step : program.steps) {
    for (const AssemblyFunction& function : step->assembly) {
      const auto [at, inserted] = known.emplace(function.name, &function);
      if (!inserted && !same(*at->second, function))
        faults.push_back(cat(step->name, ": another function is called '", function.name, "'"));
    }
  }
}

}  // namespace

std::vector<std::string> faults_of(const Program& program) {
  Faults faults;
  Known before;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = *program.steps[i];
    check_names(step, before, faults);
    check_operands(program, static_cast<int>(i), faults);
    check_constants(step, before, faults);
    check_overlaps(step, faults);
    before.emplace(step.name, &step);
  }
  check_buffers(program, faults);
  check_assembly(program, faults);
  for (const Program& variant : program.variants) {
    Faults own = faults_of(variant);
    faults.insert(faults.end(), std::move_iterator(own.begin()), std::move_iterator(own.end()));
  }
  return faults;
}

void verify(const Program& program, const char* stage) {
  const Faults faults = faults_of(program);
  for (const std::string& fault : faults)
    std::fprintf(stderr, "after %s: %s\n", stage, fault.c_str());
  ETCH_CHECK(faults.empty());
}

}  // namespace etch
