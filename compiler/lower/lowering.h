// From the folded graph to steps: where every value lives, in which memory order and with how
// much halo, and which step computes it. Operators call this from their lower() functions;
// nothing here knows a particular operator.
//
// 8-bit values inside the arena are uint8: an int8 value is kept with its top bit inverted
// (View::flipped) and its zero points move by 128. Graph inputs and outputs keep their type.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/layout_rule.h"
#include "compiler/program/step.h"
#include "compiler/program/view.h"
#include "compiler/targets/capabilities.h"
#include "templates/kernels/rows/rows.h"

namespace etch {

struct Tuning;  // compiler/kernels/conv/tuning.h

class Lowering {
 public:
  // The layout of values whose only reader requests a halo, and whose producer reads no neighbours.
  enum class Halos {
    kWritten,  // with it from the start: the least work
    kSpread,   // dense, so that they may overlap the producer's input, then spread out
  };
  Lowering(const Graph& graph, const IsaTraits& isa, const Tuning& tuning, Program& program,
           Sink& sink, Halos halos = Halos::kWritten);

  // Lowers every node, then the graph's outputs. False when something was refused.
  bool run();

  const Graph& graph() const { return graph_; }
  const IsaTraits& isa() const { return isa_; }
  const Tuning& tuning() const { return tuning_; }
  FloatSteps float_steps() const { return graph_.float_steps; }
  const Value& value(ValueId id) const { return graph_.value(id); }
  const Tensor& constant(const Node& node, int input) const;
  bool is_constant(const Node& node, int input) const;

  // ---- reading ----
  // The view of an input as it is; a constant is copied into the arena.
  const View& view(const Node& node, int input);
  // ... in `order`, 8-bit values as stored uint8; a copy is inserted where needed.
  View ordered(const Node& node, int input, const Order& order);
  // ... and besides in the arena, so that kernels may read kArenaSlack bytes after it.
  View in_arena(const Node& node, int input, const Order& order);
  // ... as stored uint8 and in the arena, in any order whose last dimension is dense.
  View rows_in_arena(const Node& node, int input);
  // ... and without gaps or halo, as operators need that see the tensor as one row of bytes.
  View contiguous(const Node& node, int input, const Order& order);

  // Whether all that reads constants of `node` with 256 elements or more is like it: of its type,
  // with an output of equal shape, so that it chooses the same form for them. Tables that Gather
  // picks from have a form of their own.
  bool reads_constants_alike(const Node& node) const;

  // ---- writing ----
  // Memory for output `i`, in the order and with the halo that its consumers request, else in
  // `order`: new, or where a consumer wants to have it (OpDef::placed). 8-bit types are stored as
  // uint8.
  View new_output(const Node& node, int i, const Order& order);
  // The same, but dense and in `order` whatever the consumers request: for kernels that write the
  // tensor as one row of elements.
  View new_dense_output(const Node& node, int i, const Order& order);
  // Memory for `elements` values that belong to no value of the graph, aligned for vectors of int32
  // if it holds one.
  View scratch(DType type, std::int64_t elements);
  // Whatever `view` is a part of starts at a multiple of `bytes`, if it is in the arena; false if
  // not.
  bool align(const View& view, std::int64_t bytes);
  // Copies input `i`, a constant or not, to memory of its type and shape.
  void copy_to(const Node& node, int i, const View& to, const char* summary);
  void copy_constant(const Node& node, const Tensor& from, const View& to, const char* summary);
  void copy_view(const Node& node, const View& from, const View& to, const char* summary);
  // Output `i` is another view of existing memory.
  void set_view(const Node& node, int i, View view);

  // What a step has to fill before it may rely on the halo of a view whose value is only known at
  // run time (View::halo_source); no runs where another step has done so.
  FillPlan unfilled_halo(const View& view);

  // Adds a step for `node`; operand k of the step is views[k], the last `outputs` of them are
  // written, `scratch` before them are written and read back. Names and live ranges follow.
  void add(const Node& node, std::unique_ptr<Step> step,
           std::vector<std::pair<const char*, const View*>> views, std::size_t outputs = 1,
           std::size_t scratch = 0);

  // The steps from here to end_region() run as often as `region` says, perhaps never: what they
  // copy or fill for themselves cannot be relied on afterwards.
  void begin_region(const Region& region);
  const Region& innermost_region() const;
  void end_region();

  void unsupported(const Node& node, std::string what);

  // 128 for an int8 value that is stored as uint8, else 0.
  int stored_offset(const View& view) const { return view.flipped ? 128 : 0; }

 private:
  enum class Halo { kAsWished, kNone };
  // A value itself, which may be written to an output; or a copy for a step that relies on what the
  // arena has: alignment, and bytes after it. A copy may be made in a region that does not run.
  enum class As { kResult, kCopy };
  struct Plan {  // what a value's consumers request
    std::optional<Order> order;
    std::optional<HaloWish> halo;
  };

  struct Place {  // where within another value
    ValueId whole = kNoValue;
    std::vector<std::int64_t> start;
  };

  // What was in place where a region began, and its place among Program::regions.
  struct OpenRegion {
    std::size_t number = 0;
    std::map<std::tuple<ValueId, Order, Halo>, View> copies;
    std::set<int> unfilled_at_run_time;
    std::vector<ValueId> materialized;  // since then
    std::int64_t macs = 0, float_macs = 0;
  };

  void plan_layouts();
  void plan_node(const Node& node);
  void plan_places(const Node& node);
  void wish_halo(ValueId id, const HaloWish& halo);
  View input_view(int port);
  int add_buffer(Home home, int port, std::int64_t bytes);
  View allocate(ValueId id, const Order& order, DType stored, bool flipped, Halo halo, As as);
  const View& memory_of(ValueId id, const Order& order);
  void materialize(const Node& node, ValueId id);
  View copied(const Node& node, const View& from, const Order& order, ValueId id, Halo halo);
  void push(std::unique_ptr<Step> step, const std::string& stem);
  void fill_halos(const Node& node, const Step& step);
  void lower_node(const Node& node);
  void refuse_unfolded(const Node& node);
  void lower_output(int port);
  bool is_spread(ValueId id) const;
  bool can_write_output(ValueId id, const View& view) const;

  const Graph& graph_;
  IsaTraits isa_;
  Capabilities capabilities_;
  const Tuning& tuning_;
  Program& program_;
  Sink& sink_;
  const Halos halos_;
  std::vector<Plan> plans_;                 // by value
  std::vector<std::optional<View>> views_;  // by value
  std::map<std::tuple<ValueId, Order, Halo>, View> copies_;
  std::map<ValueId, Place> places_;               // values to be written into another one
  std::map<int, std::pair<View, int>> unfilled_;  // by buffer: halo still to be filled, value
  std::set<int> unfilled_at_run_time_;            // buffers: by the first step that reads the halo
  std::vector<OpenRegion> open_regions_;          // the innermost last
  std::map<std::string, int> names_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  bool failed_ = false;
};

}  // namespace etch
