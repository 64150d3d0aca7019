// Steps that move elements without computing (templates/kernels/move/move.h): one step that fills
// its output from any number of sources, rectangle by rectangle. Shared by Concat, Slice, Pad,
// Tile, Resize and whatever else only rearranges.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/move/move.h"

namespace etch {

ETCH_PLAN_STEP(MoveStep, MovePlan, move_kernel, kDivisible);

// For each position along one axis of the output, the position of the input that it takes.
using AxisMap = std::vector<std::int64_t>;
AxisMap identity_map(std::int64_t size);

// Whether moving through these maps takes tables of positions, and then no int8 can be flipped.
bool needs_tables(const std::vector<AxisMap>& maps);

class MoveBuilder {
 public:
  // Where elements come from: memory, or a constant of the step.
  struct Source {
    View view;
    int operand = -1;
    std::string constant;
  };

  // Moves into `y`, and into nothing beyond it.
  MoveBuilder(Lowering& lowering, const Node& node, const View& y, std::string kind);

  Source source(int input);  // of the node, in any buffer
  Source memory(const View& view);
  Source constant(const Tensor& tensor, std::string comment);

  // `from` and `to` are parts of the source and of y with the same shape; int8 is flipped as they
  // are stored.
  void copy(const Source& source, const View& from, const View& to, std::string comment);
  // Every byte of `from`, as stored, through `table`.
  void lookup(const Source& source, const View& from, const View& to,
              const std::array<std::uint8_t, 256>& table, std::string comment);
  // Element (i, j, ...) of `to` is element (maps[0][i], maps[1][j], ...) of `from`. False when more
  // than four axes need tables whose parts of `to` do not follow one another.
  bool map(const Source& source, const View& from, const View& to, const std::vector<AxisMap>& maps,
           const std::string& comment);
  // Every element of `to` is the one element of `value`.
  void fill(const View& to, const Tensor& value, std::string comment);

  // Gives the step to the lowering; without moves there is none.
  void finish(std::string summary);

 private:
  Move move_from(const Source& source, const View& from, const View& to, std::string comment) const;
  bool pick(const Source& source, const View& from, const View& to,
            const std::vector<AxisMap>& maps, const std::string& comment);
  std::string name_of_constant(const char* stem);

  Lowering& lowering_;
  const Node& node_;
  View y_;
  std::unique_ptr<MoveStep> step_;
  std::deque<View> views_;         // deques, so that pointers stay valid
  std::deque<std::string> names_;  // of operands
};

// The output of `node` is input 0 through one map per dimension.
void lower_mapped(Lowering& lowering, const Node& node, const std::vector<AxisMap>& maps,
                  std::string kind, std::string summary);

}  // namespace etch
