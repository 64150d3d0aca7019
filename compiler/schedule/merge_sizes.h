// One program for all sizes of a range, from the programs that were compiled for each single size:
// see docs/decisions/0024. Programs with the same steps in the same order are a group; the steps at
// one position of a group that print the same text except for marked numbers (stage/size_marks.h),
// and have the same constants, are one SizedStep.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/program/sized_step.h"
#include "compiler/stage/audit.h"

namespace etch {

class SizeMerger {
 public:
  SizeMerger(const SizeRange& range, const Limits& limits);
  ~SizeMerger();

  // The program for `size`, of one thread and one instruction set: planned, not yet audited. Call
  // for every size, the greatest first. Proves its addresses with no more alignment than the memory
  // of all sizes will have. E-SHAPE where its inputs and outputs are others than those of the
  // greatest size.
  void add(std::int64_t size, std::unique_ptr<Program> program, Sink& sink);

  // After all of them: with places in memory for the largest tensors. Null and E-SHAPE where no
  // input depends on the size, E-LIMIT where the sizes have too little in common.
  std::unique_ptr<Program> finish(Sink& sink);

 private:
  struct Form;
  struct Position;
  struct Group;

  bool has_ports_of_greatest(const Program& program, Sink& sink) const;
  bool check_kinship(const std::string& option, Sink& sink) const;
  void append_group(Group& group, int number, SizeBound& bound, Program& program);
  std::unique_ptr<SizedStep> sized_step(Form form, int first_buffer);
  void place_forms(Program& program);
  bool check_length(const Program& program, const std::string& option, Sink& sink) const;
  Group& group_of(std::int64_t size, const Program& program);

  SizeRange range_;
  Limits limits_;
  std::unique_ptr<Program> greatest_;  // without steps and buffers
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<std::vector<SizeFormula::Values>> inputs_, outputs_;  // of each port the dimensions
  // While finishing: the forms of each position of all groups, and what they are called.
  std::vector<std::vector<std::unique_ptr<SizedStep>>> forms_;
  std::map<std::string, int> names_;
};

}  // namespace etch
