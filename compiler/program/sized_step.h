// A program for all sizes up to a bound: the steps of the programs for each single size, where what
// differs between them is a formula of the size. Each of its steps is a SizedStep and runs for some
// of the sizes; without such steps a program has one size. See docs/decisions/0024.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/size_range.h"
#include "compiler/program/size_formula.h"
#include "compiler/program/step.h"

namespace etch {

// The sizes of a program, whose ports' shapes depend on the size. Program::inputs and outputs have
// those of the greatest size.
struct SizeBound {
  SizeRange range;
  std::vector<std::vector<SizeFormula>> inputs, outputs;  // of each port the dimensions
  std::vector<SizeFormula> trips;                         // of Program::regions

  // Of input or output `i` at a size of the range.
  Shape input_shape(std::size_t i, std::int64_t size) const { return shape(inputs[i], size); }
  Shape output_shape(std::size_t i, std::int64_t size) const { return shape(outputs[i], size); }

 private:
  static Shape shape(const std::vector<SizeFormula>& dimensions, std::int64_t size);
};

// One function, and for which sizes and with which numbers it is called.
class SizedStep : public Step {
 public:
  // Takes over what `code`, which is that of the greatest of the sizes, says of itself.
  explicit SizedStep(std::unique_ptr<Step> code);

  std::shared_ptr<const SizeBound> bound;
  int group = 0;     // of sizes whose programs have the same steps; the group's steps are in a row
  int position = 0;  // in the group: of several steps at one position each size runs one
  std::vector<std::int64_t> sizes;        // ascending
  std::vector<std::int64_t> group_sizes;  // of the whole group
  std::vector<SizeFormula> numbers;       // in place of the marks in its text (stage/size_marks.h)
  std::vector<SizeFormula> offsets;       // of its operands, in bytes

  // Whether its function has the size as a parameter.
  bool needs_size() const;

  // What it was made of.
  const Step& code() const { return *code_; }

  TunableTiles* tunable() override { return code_->tunable(); }
  const SizedStep* sized() const override { return this; }
  int weight_bits() const override { return code_->weight_bits(); }
  void run(Recorder& stage) const override { code_->run(stage); }
  void run(NativeStage& stage) const override { code_->run(stage); }
  void run(Audit& stage) const override { code_->run(stage); }

 private:
  std::unique_ptr<Step> code_;
};

// Null for programs of one size.
const SizeBound* bound_of(const Program& program);

// Whether a run with the greatest size calls it; steps of programs of one size, always.
bool runs_at_greatest(const Step& step);
// How many steps that are.
std::int64_t steps_at_greatest(const Program& program);

// The ports as they are at a size; those of programs of one size are as they are.
std::vector<Port> inputs_at(const Program& program, std::int64_t size);
std::vector<Port> outputs_at(const Program& program, std::int64_t size);

}  // namespace etch
