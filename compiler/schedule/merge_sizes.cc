// See merge_sizes.h.
#include "compiler/schedule/merge_sizes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/schedule/memory.h"
#include "compiler/schedule/share_code.h"
#include "compiler/stage/recording.h"
#include "compiler/stage/size_marks.h"

namespace etch {

// A step that some sizes have at a position: that of the greatest of them, and their numbers.
struct SizeMerger::Form {
  std::unique_ptr<Step> step;
  std::string skeleton;
  std::vector<std::int64_t> sizes;                    // descending
  std::vector<SizeFormula::Values> numbers, offsets;  // descending in size
};

struct SizeMerger::Position {
  std::vector<Form> forms;
  std::vector<Overlap> overlaps;  // that all sizes allow, with the greatest distance
};

struct SizeMerger::Group {
  std::string structure;
  std::vector<std::int64_t> sizes;  // descending
  std::vector<Position> positions;
  std::vector<Buffer> buffers;  // as large, and as much aligned, as any size needs
  std::vector<Region> regions;
  std::vector<SizeFormula::Values> trips;  // of the regions
};

namespace {

// More programs that differ in their steps, or more functions for one step, are no common code.
constexpr std::size_t kMostGroups = 64;

// What programs of a group have in common.
std::string structure_of(const Program& program) {
  std::string out;
  for (const auto& step : program.steps) {
    out += cat(step->node, " ", step->kind, " ", step->name);
    for (const Operand& operand : step->operands)
      out += cat(" ", operand.name, " ", operand.buffer, " ", name_of(operand.element), " ",
                 static_cast<int>(operand.access));
    for (const ConstantArray& constant : step->constants)
      out += cat(" ", constant.suffix, " ", name_of(constant.element));
    out += "\n";
  }
  for (const Buffer& buffer : program.buffers)
    out += cat(static_cast<int>(buffer.home), " ", buffer.port, " ", buffer.first_step, " ",
               buffer.last_step, "\n");
  for (const Region& region : program.regions)
    out += cat(region.first, " ", region.last, " ", region.flag, " ", region.when ? 1 : 0, " ",
               region.is_branch ? 1 : 0, "\n");
  return out;
}

bool begins(const ConstantArray& less, const ConstantArray& more) {
  return less.suffix == more.suffix && less.element == more.element &&
         less.bytes.size() <= more.bytes.size() &&
         std::equal(less.bytes.begin(), less.bytes.end(), more.bytes.begin());
}

// Whether each array of the step is the beginning of that of a larger size.
bool begins(const Step& less, const Step& more) {
  return std::ranges::equal(less.constants, more.constants,
                            [](const auto& a, const auto& b) { return begins(a, b); });
}

void append(std::vector<SizeFormula::Values>& lists, std::int64_t size,
            const std::vector<std::int64_t>& values) {
  lists.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) lists[i].emplace_back(size, values[i]);
}

SizeFormula formula(const SizeFormula::Values& descending) {
  return SizeFormula({descending.rbegin(), descending.rend()});
}

std::vector<SizeFormula> formulas(const std::vector<SizeFormula::Values>& lists) {
  std::vector<SizeFormula> out;
  out.reserve(lists.size());
  for (const SizeFormula::Values& each : lists) out.push_back(formula(each));
  return out;
}

// Keeps what both allow.
void intersect(std::vector<Overlap>& all, const std::vector<Overlap>& one) {
  std::erase_if(all, [&](Overlap& each) {
    const auto same = std::ranges::find_if(one, [&](const Overlap& other) {
      return other.output == each.output && other.input == each.input &&
             other.backwards == each.backwards;
    });
    if (same == one.end()) return true;
    each.distance = std::max(each.distance, same->distance);
    return false;
  });
}

std::vector<std::vector<SizeFormula>> shapes(
    const std::vector<std::vector<SizeFormula::Values>>& ports) {
  std::vector<std::vector<SizeFormula>> out;
  out.reserve(ports.size());
  for (const auto& port : ports) out.push_back(formulas(port));
  return out;
}

// Arrays that begin a longer one at the same position are made that one, to be shared.
void extend_constants(const std::vector<Step*>& forms) {
  for (Step* const less : forms) {
    for (ConstantArray& constant : less->constants) {
      for (const Step* const more : forms) {
        const auto longer = std::ranges::find_if(more->constants, [&](const ConstantArray& each) {
          return each.bytes.size() > constant.bytes.size() && begins(constant, each);
        });
        if (longer != more->constants.end()) constant.bytes = longer->bytes;
      }
    }
  }
}

// Steps that were one for each position are now several: where they are.
void move_live_ranges(Program& program, const std::vector<int>& first,
                      const std::vector<int>& last) {
  const auto at = [](const std::vector<int>& list, int step) {
    return list[static_cast<std::size_t>(step)];
  };
  for (Buffer& buffer : program.buffers) {
    if (buffer.first_step < 0) continue;
    buffer.first_step = at(first, buffer.first_step);
    buffer.last_step = at(last, buffer.last_step);
  }
  for (Region& region : program.regions) {
    region.first = at(first, region.first);
    region.last = at(last, region.last);
  }
}

}  // namespace

SizeMerger::SizeMerger(const SizeRange& range, const Limits& limits)
    : range_(range), limits_(limits) {}
SizeMerger::~SizeMerger() = default;

SizeMerger::Group& SizeMerger::group_of(std::int64_t size, const Program& program) {
  std::string structure = structure_of(program);
  const auto found = std::ranges::find_if(
      groups_, [&](const auto& group) { return group->structure == structure; });
  Group& group = found != groups_.end() ? **found : *groups_.emplace_back(new Group);
  if (group.sizes.empty()) {
    group.structure = std::move(structure);
    group.positions.resize(program.steps.size());
    group.buffers = program.buffers;
    group.regions = program.regions;
  }
  group.sizes.push_back(size);
  for (std::size_t i = 0; i < group.buffers.size(); ++i) {
    Buffer& buffer = group.buffers[i];
    buffer.bytes = std::max(buffer.bytes, program.buffers[i].bytes);
    buffer.alignment = std::max(buffer.alignment, program.buffers[i].alignment);
    buffer.arena_offset = -1;
  }
  std::vector<std::int64_t> trips;
  for (std::size_t i = 0; i < group.regions.size(); ++i) {
    trips.push_back(program.regions[i].trips);
    group.regions[i].trips = std::max(group.regions[i].trips, trips.back());
  }
  append(group.trips, size, trips);
  return group;
}

namespace {

// The first port that differs in more than its sizes; empty: none does.
std::string other_port(const std::vector<Port>& ports, const std::vector<Port>& of_greatest) {
  const auto fits = [](const Port& one, const Port& greatest) {
    return one.name == greatest.name && one.dtype == greatest.dtype &&
           one.shape.size() == greatest.shape.size();
  };
  const auto [one, greatest] = std::ranges::mismatch(ports, of_greatest, fits);
  if (one == ports.end() && greatest == of_greatest.end()) return {};
  const auto text = [](const auto& port, const auto& end) {
    if (port == end) return std::string("none");
    return cat("'", printable(port->name), "' (", name_of(port->dtype), " of rank ",
               port->shape.size(), ")");
  };
  return cat(one - ports.begin(), ": expected ", text(greatest, of_greatest.end()),
             " as with the greatest size, found ", text(one, ports.end()));
}

}  // namespace

// As code for all of them has to have; values whose number decides may be outputs of some only.
bool SizeMerger::has_ports_of_greatest(const Program& program, Sink& sink) const {
  const auto is_same = [&](const char* what, const std::vector<Port>& ports,
                           const std::vector<Port>& of_greatest) {
    const std::string other = other_port(ports, of_greatest);
    if (!other.empty()) sink.error(DiagKind::kShape, {}, cat(what, " ", other));
    return other.empty();
  };
  return greatest_ == nullptr || (is_same("input", program.inputs, greatest_->inputs) &&
                                  is_same("output", program.outputs, greatest_->outputs));
}

void SizeMerger::add(std::int64_t size, std::unique_ptr<Program> program, Sink& sink) {
  ETCH_CHECK(program->shares == 1 && program->variants.empty());
  if (!has_ports_of_greatest(*program, sink)) return;
  for (Buffer& buffer : program->buffers) {
    if (buffer.home != Home::kArena) continue;
    buffer.alignment = std::max(buffer.alignment, buffer_alignment(*program, buffer.bytes));
    buffer.arena_offset = -1;  // so that Audit knows no more than that
  }
  audit_program(*program, limits_, sink);
  Group& group = group_of(size, *program);
  for (std::size_t p = 0; p < program->steps.size(); ++p) {
    std::unique_ptr<Step>& step = program->steps[p];
    step->function.clear();
    for (ConstantArray& constant : step->constants) constant.owner.clear();
    Position& position = group.positions[p];
    if (position.forms.empty()) position.overlaps = step->overlaps;
    intersect(position.overlaps, step->overlaps);
    MarkedText text = split_marks(marked_text(*step, program->isa));
    std::vector<std::int64_t> offsets;
    for (const Operand& operand : step->operands) offsets.push_back(operand.offset);
    auto form = std::ranges::find_if(position.forms, [&](const Form& each) {
      return each.skeleton == text.skeleton && begins(*step, *each.step);
    });
    if (form == position.forms.end()) {
      form =
          position.forms.insert(form, Form{std::move(step), std::move(text.skeleton), {}, {}, {}});
    }
    form->sizes.push_back(size);
    append(form->numbers, size, text.numbers);
    append(form->offsets, size, offsets);
  }
  const auto add_ports = [&](auto& lists, const std::vector<Port>& ports) {
    lists.resize(ports.size());
    for (std::size_t i = 0; i < ports.size(); ++i) append(lists[i], size, ports[i].shape);
  };
  add_ports(inputs_, program->inputs);
  add_ports(outputs_, program->outputs);
  if (greatest_ != nullptr) return;
  program->steps.clear();
  program->buffers.clear();
  program->regions.clear();
  greatest_ = std::move(program);
}

namespace {

bool depends_on_size(const std::vector<std::vector<SizeFormula>>& ports) {
  return std::ranges::any_of(ports, [](const auto& port) {
    return !std::ranges::all_of(port, &SizeFormula::is_constant);
  });
}

}  // namespace

// Code that sizes have for themselves is what makes it long: names the step with the most.
bool SizeMerger::check_length(const Program& program, const std::string& option, Sink& sink) const {
  std::int64_t statements = 0;
  std::map<std::string, std::int64_t> functions;  // by what the user knows of the step
  for (const auto& step : program.steps) {
    if (step->shares_code()) continue;
    statements += record(*step, program.isa).statements;
    ++functions[step->origin];
  }
  if (statements <= limits_.statements) return true;
  const auto most =
      std::ranges::max_element(functions, {}, [](const auto& each) { return each.second; });
  sink.error(
      DiagKind::kLimit, most->first,
      cat(option, ": needs ", counted(most->second, "function"), " for ",
          counted(range_.count(), "size"), ", and all steps have ", statements, " statements, ",
          at_most(limits_, &Limits::statements), "; a lower bound needs fewer"));
  return false;
}

bool SizeMerger::check_kinship(const std::string& option, Sink& sink) const {
  if (groups_.size() > kMostGroups) {
    sink.error(DiagKind::kLimit, {},
               cat(option, ": the networks for these sizes have ", groups_.size(),
                   " different lists of steps, at most ", kMostGroups,
                   " are possible; a lower bound, or a few sizes by --dim ",
                   printable(range_.symbol), "=N, need fewer"));
  } else if (!depends_on_size(shapes(inputs_))) {
    sink.error(DiagKind::kShape, {}, cat(option, ": no input's size depends on it"));
  } else if (groups_.front()->positions.empty()) {
    sink.error(DiagKind::kUnsupported, {}, cat(option, ": the network computes nothing"));
  } else {
    return true;
  }
  return false;
}

// Of one group, at the end of the program: buffers, regions, and the forms of each position.
void SizeMerger::append_group(Group& group, int number, SizeBound& bound, Program& program) {
  const auto steps = static_cast<int>(forms_.size());
  const auto first_buffer = static_cast<int>(program.buffers.size());
  for (Buffer& buffer : group.buffers) {
    if (buffer.first_step >= 0) {
      buffer.first_step += steps;
      buffer.last_step += steps;
    }
    program.buffers.push_back(buffer);
  }
  for (Region region : group.regions) {
    region.first += steps;
    region.last += steps;
    if (region.flag >= 0) region.flag += first_buffer;
    program.regions.push_back(region);
  }
  for (const SizeFormula::Values& trips : group.trips) bound.trips.push_back(formula(trips));
  for (std::size_t p = 0; p < group.positions.size(); ++p) {
    Position& position = group.positions[p];
    std::vector<Step*> same;
    for (Form& form : position.forms) same.push_back(form.step.get());
    extend_constants(same);
    auto& forms = forms_.emplace_back();
    for (Form& form : position.forms) {
      auto step = sized_step(std::move(form), first_buffer);
      step->overlaps = position.overlaps;
      step->group = number;
      step->position = static_cast<int>(p);
      step->group_sizes.assign(group.sizes.rbegin(), group.sizes.rend());
      forms.push_back(std::move(step));
    }
  }
}

std::unique_ptr<SizedStep> SizeMerger::sized_step(Form form, int first_buffer) {
  auto step = std::make_unique<SizedStep>(std::move(form.step));
  if (names_[step->name]++ > 0) step->name = cat(step->name, "_at_", form.sizes.front());
  for (Operand& operand : step->operands) operand.buffer += first_buffer;
  step->sizes.assign(form.sizes.rbegin(), form.sizes.rend());
  step->numbers = formulas(form.numbers);
  step->offsets = formulas(form.offsets);
  return step;
}

// Memory is planned for one step at each position, which all its forms stand for.
void SizeMerger::place_forms(Program& program) {
  for (auto& forms : forms_) program.steps.push_back(std::move(forms.front()));
  plan_memory(program);
  std::vector<std::unique_ptr<Step>> all;
  std::vector<int> first, last;
  for (std::size_t p = 0; p < forms_.size(); ++p) {
    first.push_back(static_cast<int>(all.size()));
    all.push_back(std::move(program.steps[p]));
    std::move(forms_[p].begin() + 1, forms_[p].end(), std::back_inserter(all));
    last.push_back(static_cast<int>(all.size()) - 1);
  }
  program.steps = std::move(all);
  move_live_ranges(program, first, last);
}

std::unique_ptr<Program> SizeMerger::finish(Sink& sink) {
  const std::string option = cat("--dim ", printable(range_.symbol), "<=", range_.most);
  if (!check_kinship(option, sink)) return nullptr;
  const auto bound = std::make_shared<SizeBound>();
  bound->range = range_;
  bound->inputs = shapes(inputs_);
  bound->outputs = shapes(outputs_);
  std::unique_ptr<Program> program = std::move(greatest_);
  for (std::size_t g = 0; g < groups_.size(); ++g)
    append_group(*groups_[g], static_cast<int>(g), *bound, *program);
  for (auto& forms : forms_)
    for (auto& step : forms) step->bound = bound;
  place_forms(*program);
  share_code(*program);
  return check_length(*program, option, sink) ? std::move(program) : nullptr;
}

}  // namespace etch
