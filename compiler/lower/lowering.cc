// Lowering; see lowering.h. Layout requests are gathered backwards over the graph first, then the
// nodes are lowered forwards, then the outputs are converted to the user's layout.
#include "compiler/lower/lowering.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/observation.h"
#include "compiler/base/text.h"
#include "compiler/ir/op_def.h"
#include "compiler/lower/halo.h"
#include "compiler/lower/layout_steps.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/operand_views.h"
#include "compiler/program/arena.h"
#include "compiler/program/certificate.h"
#include "compiler/program/constants.h"

namespace etch {

namespace {
DType stored_type(DType type) {
  return type == DType::kS8 || type == DType::kBool ? DType::kU8 : type;
}

LayoutRule rule_of(const Node& node) {
  return node.op->layout == nullptr ? LayoutRule::kRowMajor : node.op->layout(node);
}

bool takes_any_order(LayoutRule rule) {
  return rule == LayoutRule::kAnyOrder || rule == LayoutRule::kPart;
}

bool wishes_any(const std::optional<HaloWish>& wish) {
  const auto positive = [](std::int64_t n) { return n > 0; };
  return wish && (std::any_of(wish->begin.begin(), wish->begin.end(), positive) ||
                  std::any_of(wish->end.begin(), wish->end.end(), positive));
}

// Copies see bytes whatever the elements are.
View as_raw_bytes(View view) {
  view.dtype = DType::kU8;
  return view;
}

View dense_view(DType dtype, const Shape& shape, const Order& order) {
  View view;
  view.dtype = dtype;
  view.shape = shape;
  lay_out(view, order);
  return view;
}

// False where `order` ends with the channels and those of a part do not follow each other: a part
// that is written row-major was first, and the whole is as that wanted it.
bool has_channels_as(const View& part, const Order& order) {
  if (order.size() < 3 || order.back() != 1) return true;
  return part.shape[1] == 1 || part.stride[1] == bytes_of(part.dtype);
}
}  // namespace

Lowering::Lowering(const Graph& graph, const IsaTraits& isa, const Tuning& tuning, Program& program,
                   Sink& sink, Halos halos)
    : graph_(graph),
      isa_(isa),
      capabilities_(capabilities_of(isa)),
      tuning_(tuning),
      program_(program),
      sink_(sink),
      halos_(halos),
      plans_(graph.values.size()),
      views_(graph.values.size()),
      producers_(producers_of(graph)),
      consumers_(consumers_of(graph)) {}

bool Lowering::run() {
  plan_layouts();
  for (std::size_t port = 0; port < graph_.inputs.size(); ++port) {
    views_[static_cast<std::size_t>(graph_.inputs[port])] = input_view(static_cast<int>(port));
  }
  for (const Node& node : graph_.nodes) lower_node(node);
  if (failed_) return false;
  for (std::size_t port = 0; port < graph_.outputs.size(); ++port)
    lower_output(static_cast<int>(port));
  ETCH_CHECK(failed_ || open_regions_.empty());
  extend_live_ranges(program_);
  return !failed_;
}

void Lowering::lower_node(const Node& node) {
  if (node.op->lower == nullptr) return refuse_unfolded(node);
  for (const ValueId id : node.inputs) {
    // An earlier refusal already explains the missing input.
    const bool missing =
        id != kNoValue && value(id).constant == nullptr && !views_[static_cast<std::size_t>(id)];
    if (missing) return;
  }
  node.op->lower(*this, node);
}

// What remains of operators that are only ever folded.
void Lowering::refuse_unfolded(const Node& node) {
  const bool is_constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == kNoValue || value(id).constant != nullptr;
  });
  if (!is_constant) return unsupported(node, "no code can be generated for this operator yet");
  failed_ = true;
  sink_.report(
      {Severity::kError, DiagKind::kLimit, node.index, location_of(node),
       "its result is constant, but too large or too much work to be computed here; --limit "
       "computed-bytes=N and --limit operations=N allow more"});
}

void Lowering::unsupported(const Node& node, std::string what) {
  failed_ = true;
  sink_.report(
      {Severity::kError, DiagKind::kUnsupported, node.index, location_of(node), std::move(what)});
}

// ---- layout requests ----

void Lowering::plan_layouts() {
  for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) plan_node(*node);
}

void Lowering::plan_node(const Node& node) {
  const LayoutRule rule = rule_of(node);
  plan_places(node);
  if (rule == LayoutRule::kRowMajor) {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) plans_[static_cast<std::size_t>(id)] = {};
    }
  }
  if (rule == LayoutRule::kChannelsLast) {
    const auto rank = static_cast<int>(value(node.inputs[0]).shape->size());
    if (rank >= 3) plans_[static_cast<std::size_t>(node.inputs[0])].order = channels_last(rank);
  }
  // The first output of a loop may be omitted.
  if (takes_any_order(rule) && node.outputs[0] != kNoValue) {
    const Plan& out = plans_[static_cast<std::size_t>(node.outputs[0])];
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || !out.order || value(id).shape->size() != out.order->size()) continue;
      Plan& in = plans_[static_cast<std::size_t>(id)];
      if (!in.order) in.order = out.order;
    }
  }
  // A part of a tensor has the halo of the whole, as far as it reaches its border
  // (part_with_halo).
  if (rule == LayoutRule::kPart) {
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const std::optional<HaloWish> wish = plans_[static_cast<std::size_t>(id)].halo;
      const bool fits = wish && value(node.inputs[0]).shape->size() == wish->begin.size();
      if (fits && wish->source < 0) wish_halo(node.inputs[0], *wish);
    }
  }
  if (node.op->halo == nullptr) return;
  const auto halo = node.op->halo(graph_, node);
  const bool copies_rows =
      halo && ((capabilities_.convolutions_copy_rows && halo->forward_convolution) ||
               (capabilities_.depthwise_copies_rows && halo->per_channel));
  if (halo && !copies_rows) wish_halo(node.inputs[0], *halo);
}

// Only operators that write through strides can write into a part of a larger tensor.
void Lowering::plan_places(const Node& node) {
  if (node.op->placed == nullptr) return;
  for (const PlacedInput& placed : node.op->placed(graph_, node)) {
    const ValueId id = node.inputs[static_cast<std::size_t>(placed.input)];
    const int producer = producers_[static_cast<std::size_t>(id)];
    if (producer < 0) continue;
    const LayoutRule rule = rule_of(graph_.nodes[static_cast<std::size_t>(producer)]);
    if (rule != LayoutRule::kChannelsLast && !takes_any_order(rule)) continue;
    places_.try_emplace(id, Place{node.outputs[0], placed.start});
  }
}

void Lowering::wish_halo(ValueId id, const HaloWish& halo) {
  std::optional<HaloWish>& plan = plans_[static_cast<std::size_t>(id)].halo;
  if (!plan) {
    plan = halo;
    return;
  }
  if (plan->value != halo.value || plan->source != halo.source)
    return;  // that consumer gets border regions
  for (std::size_t d = 0; d < halo.begin.size(); ++d) {
    plan->begin[d] = std::max(plan->begin[d], halo.begin[d]);
    plan->end[d] = std::max(plan->end[d], halo.end[d]);
  }
}

// ---- memory ----

int Lowering::add_buffer(Home home, int port, std::int64_t bytes) {
  ETCH_CHECK(home == Home::kArena || bytes == bytes_of_port(program_, home, port));
  Buffer buffer;
  buffer.home = home;
  buffer.port = port;
  buffer.bytes = bytes;
  program_.buffers.push_back(buffer);
  return static_cast<int>(program_.buffers.size()) - 1;
}

View Lowering::input_view(int port) {
  const Value& in = value(graph_.inputs[static_cast<std::size_t>(port)]);
  View view = dense_view(*in.dtype, *in.shape, row_major(static_cast<int>(in.shape->size())));
  view.buffer = add_buffer(Home::kInput, port, element_count(*in.shape) * bytes_of(*in.dtype));
  return view;
}

// The memory of a value that a node computes: its own, or the part of another value's that it has
// a place in. That other value gets its memory here if it has none yet.
const View& Lowering::memory_of(ValueId id, const Order& order) {
  std::optional<View>& view = views_[static_cast<std::size_t>(id)];
  if (view) return *view;
  const Plan& plan = plans_[static_cast<std::size_t>(id)];
  const Order wanted = plan.order.value_or(order);
  if (const auto found = places_.find(id); found != places_.end() && !plan.halo) {
    const Place& place = found->second;
    View part = memory_of(place.whole, wanted);
    for (std::size_t d = 0; d < place.start.size(); ++d)
      part = part_of(part, d, place.start[d], value(id).shape->at(d));
    const int producer = producers_[static_cast<std::size_t>(id)];
    const LayoutRule rule = rule_of(graph_.nodes[static_cast<std::size_t>(producer)]);
    if (takes_any_order(rule) || has_channels_as(part, wanted)) view = part;
  }
  if (!view) {
    const DType type = *value(id).dtype;
    view = allocate(id, wanted, stored_type(type), type == DType::kS8,
                    is_spread(id) ? Halo::kNone : Halo::kAsWished, As::kResult);
  }
  return *view;
}

// A step that requests no halo itself reads its input in the order in which it writes its output.
bool Lowering::is_spread(ValueId id) const {
  const Plan& plan = plans_[static_cast<std::size_t>(id)];
  const int producer = producers_[static_cast<std::size_t>(id)];
  if (halos_ != Halos::kSpread || !wishes_any(plan.halo) || producer < 0) return false;
  if (consumers_[static_cast<std::size_t>(id)].size() != 1) return false;
  const Node& node = graph_.nodes[static_cast<std::size_t>(producer)];
  return rule_of(node) == LayoutRule::kChannelsLast && node.op->halo != nullptr &&
         !wishes_any(node.op->halo(graph_, node));
}

View Lowering::new_output(const Node& node, int i, const Order& order) {
  return memory_of(node.outputs[static_cast<std::size_t>(i)], order);
}

View Lowering::new_dense_output(const Node& node, int i, const Order& order) {
  const ValueId id = node.outputs[static_cast<std::size_t>(i)];
  const DType type = *value(id).dtype;
  View view = allocate(id, order, stored_type(type), type == DType::kS8, Halo::kNone, As::kResult);
  views_[static_cast<std::size_t>(id)] = view;
  return view;
}

bool Lowering::align(const View& view, std::int64_t bytes) {
  Buffer& buffer = program_.buffers[static_cast<std::size_t>(view.buffer)];
  if (buffer.home != Home::kArena) return false;
  buffer.alignment = std::max(buffer.alignment, bytes);
  return true;
}

View Lowering::scratch(DType type, std::int64_t elements) {
  View view = dense_view(type, {elements}, row_major(1));
  view.buffer = add_buffer(Home::kArena, -1, elements * bytes_of(type));
  if (elements >= isa_.lanes) {
    program_.buffers[static_cast<std::size_t>(view.buffer)].alignment = 4 * isa_.lanes;
  }
  return view;
}

void Lowering::set_view(const Node& node, int i, View view) {
  views_[static_cast<std::size_t>(node.outputs[static_cast<std::size_t>(i)])] = std::move(view);
}

// ---- reading ----

bool Lowering::reads_constants_alike(const Node& node) const {
  constexpr std::int64_t kLarge = 256;
  const auto is_like = [&](int index) {
    const Node& reader = graph_.nodes[static_cast<std::size_t>(index)];
    return reader.op_type == "Gather" ||
           (reader.op_type == node.op_type &&
            value(reader.outputs[0]).shape == value(node.outputs[0]).shape);
  };
  return std::ranges::all_of(node.inputs, [&](ValueId id) {
    if (id == kNoValue || value(id).constant == nullptr) return true;
    return value(id).constant->size() < kLarge ||
           std::ranges::all_of(consumers_[static_cast<std::size_t>(id)], is_like);
  });
}

bool Lowering::is_constant(const Node& node, int input) const {
  return value(node.inputs[static_cast<std::size_t>(input)]).constant != nullptr;
}

const Tensor& Lowering::constant(const Node& node, int input) const {
  ETCH_CHECK(is_constant(node, input));
  return *value(node.inputs[static_cast<std::size_t>(input)]).constant;
}

void Lowering::materialize(const Node& node, ValueId id) {
  const Tensor& tensor = *value(id).constant;
  const Order order = row_major(static_cast<int>(tensor.shape().size()));
  const View to = allocate(id, order, stored_type(tensor.dtype()), tensor.dtype() == DType::kS8,
                           Halo::kNone, As::kCopy);
  auto step = std::make_unique<CopyStep>();
  step->kind = "constant";
  step->summary = "copy a constant into memory for operators that work there";
  step->plan = make_copy(dense_view(tensor.dtype(), tensor.shape(), order), to);
  step->plan.x_is_constant = true;
  step->constants.push_back(raw_array("data", tensor, isa_, "as in the model"));
  const View y = as_raw_bytes(to);
  add(node, std::move(step), {{"y", &y}});
  views_[static_cast<std::size_t>(id)] = to;
  for (OpenRegion& region : open_regions_) region.materialized.push_back(id);
}

const View& Lowering::view(const Node& node, int input) {
  const ValueId id = node.inputs[static_cast<std::size_t>(input)];
  const std::optional<View>& view = views_[static_cast<std::size_t>(id)];
  if (!view && value(id).constant != nullptr) materialize(node, id);
  ETCH_CHECK(view.has_value());
  return *view;
}

View Lowering::ordered(const Node& node, int input, const Order& order) {
  const View& from = view(node, input);
  const bool raw = from.dtype == DType::kS8;
  if (!raw && has_order(from, order)) return from;
  return copied(node, from, order, node.inputs[static_cast<std::size_t>(input)], Halo::kAsWished);
}

View Lowering::contiguous(const Node& node, int input, const Order& order) {
  const View& from = view(node, input);
  const bool in_place =
      program_.buffers[static_cast<std::size_t>(from.buffer)].home == Home::kArena;
  if (in_place && is_contiguous(from, order)) return from;
  return copied(node, from, order, node.inputs[static_cast<std::size_t>(input)], Halo::kNone);
}

View Lowering::in_arena(const Node& node, int input, const Order& order) {
  View from = ordered(node, input, order);
  const ValueId id = node.inputs[static_cast<std::size_t>(input)];
  const bool in_place =
      program_.buffers[static_cast<std::size_t>(from.buffer)].home == Home::kArena;
  const bool lacks_halo = wishes_any(plans_[static_cast<std::size_t>(id)].halo) && !has_halo(from);
  if (in_place && !lacks_halo) return from;
  return copied(node, from, order, id, Halo::kAsWished);
}

View Lowering::rows_in_arena(const Node& node, int input) {
  const View& from = view(node, input);
  const ValueId id = node.inputs[static_cast<std::size_t>(input)];
  const bool in_place =
      program_.buffers[static_cast<std::size_t>(from.buffer)].home == Home::kArena;
  const bool dense = from.rank() == 0 || from.shape.back() == 1 || from.stride.back() == 1;
  if (in_place && from.dtype == DType::kU8 && dense && !is_spread(id)) return from;
  return in_arena(node, input, row_major(from.rank()));
}

View Lowering::copied(const Node& node, const View& from, const Order& order, ValueId id,
                      Halo halo) {
  const auto key = std::tuple(id, order, halo);
  if (const auto it = copies_.find(key); it != copies_.end()) return it->second;
  const bool raw = from.dtype == DType::kS8;
  View to = allocate(id, order, stored_type(from.dtype), raw || from.flipped, halo, As::kCopy);
  auto step = std::make_unique<CopyStep>();
  step->kind = "copy";
  step->summary = "convert the input to the order and storage that the next step needs";
  step->plan = make_copy(from, to);
  interleave_planes(step->plan.nest);
  if (is_spread(id)) {
    step->kind = "spread";
    step->summary = "move rows apart, for the halo that the next step needs";
    if (auto overlap = copy_from_the_end(step->plan, from, to)) step->overlaps.push_back(*overlap);
  }
  const View x = as_raw_bytes(from);
  const View y = as_raw_bytes(to);
  add(node, std::move(step), {{"x", &x}, {"y", &y}});
  copies_.emplace(key, to);
  return to;
}

FillPlan Lowering::unfilled_halo(const View& view) {
  if (unfilled_at_run_time_.erase(view.buffer) == 0) return {};
  return plan_fill(view, 0);
}

// ---- steps ----

void Lowering::add(const Node& node, std::unique_ptr<Step> step,
                   std::vector<std::pair<const char*, const View*>> views, std::size_t outputs,
                   std::size_t scratch) {
  step->node = node.index;
  step->origin = cat(node.op_type, " '", printable(node.name), "'");
  step->op_type = node.op_type;
  step->node_name = node.name;
  step->output_shape = views.back().second->shape;
  for (const auto& [name, view] : views) {
    const std::size_t left = views.size() - step->operands.size();  // and this one
    const Access access = left <= outputs             ? Access::kWrite
                          : left <= outputs + scratch ? Access::kReadWrite
                                                      : Access::kRead;
    if (access == Access::kRead) step->input_shapes.push_back(view->shape);
    step->operands.push_back({name, view->buffer, view->offset, view->dtype, access});
  }
  const Step* const added = step.get();
  push(std::move(step), cat("n", node.index, "_", added->kind));
  if (OperandViewLog* const log = Observation<OperandViewLog>::current()) log->add(*added, views);
  fill_halos(node, *added);
}

void Lowering::push(std::unique_ptr<Step> step, const std::string& stem) {
  if (CertificateLog* const log = Observation<CertificateLog>::current()) log->forget(*step);
  if (OperandViewLog* const log = Observation<OperandViewLog>::current()) log->forget(*step);
  const int seen = names_[stem]++;
  step->name = seen == 0 ? stem : cat(stem, "_", seen + 1);
  const auto index = static_cast<int>(program_.steps.size());
  for (const Operand& operand : step->operands) {
    Buffer& buffer = program_.buffers[static_cast<std::size_t>(operand.buffer)];
    if (buffer.first_step < 0) {
      buffer.first_step = index;
      buffer.label = cat(operand.name, " of ", step->name);
    }
    buffer.last_step = index;
  }
  program_.macs += step->macs;
  program_.float_macs += step->float_macs;
  program_.steps.push_back(std::move(step));
}

// The halo of what `step` has written. Filled afterwards, so that the output may overlap an input
// that dies in the step.
void Lowering::fill_halos(const Node& node, const Step& step) {
  const auto it = unfilled_.find(step.operands.back().buffer);
  if (it == unfilled_.end()) return;
  const auto [view, value] = it->second;
  unfilled_.erase(it);
  auto fill = std::make_unique<FillStep>();
  fill->kind = "halo";
  fill->summary = cat("fill the halo of ", step.name, " with its zero point");
  fill->plan = plan_fill(view, value);
  add(node, std::move(fill), {{"y", &view}});
}

// ---- outputs ----

void Lowering::lower_output(int port) {
  const ValueId id = graph_.outputs[static_cast<std::size_t>(port)];
  const Value& out = value(id);
  if (element_count(*out.shape) == 0) return;
  const auto written = [&](const Buffer& b) { return b.home == Home::kOutput && b.port == port; };
  if (std::any_of(program_.buffers.begin(), program_.buffers.end(), written)) return;
  const Order order = row_major(static_cast<int>(out.shape->size()));
  View to = dense_view(*out.dtype, *out.shape, order);
  to.buffer = add_buffer(Home::kOutput, port, element_count(*out.shape) * bytes_of(*out.dtype));
  auto step = std::make_unique<CopyStep>();
  step->kind = "output";
  step->origin = step->op_type = "graph output";
  step->output_shape = to.shape;
  step->input_shapes = {to.shape};
  step->summary = "hand the result over in the model's own layout";
  const bool constant = out.constant != nullptr;
  View from = constant ? to : *views_[static_cast<std::size_t>(id)];
  step->plan = make_copy(from, to);
  step->plan.x_is_constant = constant;
  if (constant) {
    step->constants.push_back(raw_array("data", *out.constant, isa_, "the constant output"));
  } else {
    step->operands.push_back({"x", from.buffer, from.offset, DType::kU8, Access::kRead});
  }
  step->operands.push_back({"y", to.buffer, to.offset, DType::kU8, Access::kWrite});
  push(std::move(step), cat("result", port));
}

}  // namespace etch
