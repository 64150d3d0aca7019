// What the generated code says of the sizes that run() takes: the range, the ports' elements at a
// size, tables, and which function of a step runs for which sizes; see parts.h and
// docs/decisions/0024.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/program/sized_step.h"
#include "compiler/text/names.h"
#include "compiler/text/writer.h"

namespace etch {
namespace {

using Sizes = std::vector<std::int64_t>;

// More than that are a switch.
constexpr std::size_t kMostConditions = 8;

// "seq" as part of a constant's name: "Seq".
std::string camel(std::string name) {
  if (name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

// The number of elements of a port as one formula.
SizeFormula elements_of(const SizeBound& bound, const std::vector<SizeFormula>& shape) {
  SizeFormula::Values values;
  for (std::int64_t size = bound.range.least; size <= bound.range.most; ++size) {
    std::int64_t elements = 1;
    for (const SizeFormula& each : shape) elements *= each.at(size);
    values.emplace_back(size, elements);
  }
  return SizeFormula(values);
}

// "[1, seq, 96]"
std::string shape_text(const std::vector<SizeFormula>& shape, const std::string& parameter) {
  std::string out;
  for (const SizeFormula& each : shape) {
    out += cat(out.empty() ? "" : ", ", each.is_table() ? "..." : each.text(parameter));
  }
  return cat("[", out, "]");
}

// The elements of a port at `size`. A table is the function's own: two ports may have the same one,
// and the steps' header may, too.
std::string count_text(Writer& writer, const SizeBound& bound, const SizeFormula& elements,
                       std::string_view qualifiers) {
  if (!elements.is_table()) return elements.text();
  writer.line(cat(qualifiers, elements.table_declaration("kElements")));
  return cat("kElements[size - ", bound.range.least, "]");
}

// Calls visit(port, shape) for all ports whose shape depends on the size.
template <class Visit>
void for_each_sized_port(const Program& program, const SizeBound& bound, Visit visit) {
  const auto go = [&](const std::vector<Port>& ports, const auto& shapes) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (!std::ranges::all_of(shapes[i], &SizeFormula::is_constant)) visit(ports[i], shapes[i]);
    }
  };
  go(program.inputs, bound.inputs);
  go(program.outputs, bound.outputs);
}

void write_cases(Writer& writer, const Sizes& sizes, const std::string& call) {
  std::string labels;
  for (const std::int64_t size : sizes)
    labels += cat(labels.empty() ? "" : " ", "case ", size, ":");
  writer.line(labels);
  writer.line(cat("  ", call));
  writer.line("  break;");
}

Sizes without(const Sizes& all, const Sizes& these) {
  Sizes out;
  std::ranges::set_difference(all, these, std::back_inserter(out));
  return out;
}

}  // namespace

std::string size_parameter(const Program& program) {
  const SizeBound* const bound = bound_of(program);
  if (bound == nullptr) return {};
  const std::string& symbol = bound->range.symbol;
  const std::vector<std::string> ports = port_parameters(program);
  const bool usable = is_usable_parameter(symbol) && symbol != "size" && symbol != "arena" &&
                      std::ranges::find(ports, symbol) == ports.end();
  return usable ? symbol : "extent";
}

std::string greatest_size(const EmitContext& context) {
  const std::string parameter = size_parameter(context.program);
  return parameter.empty() ? "" : cat(context.options.name, "::kMax", camel(parameter));
}

void write_size_declarations(Writer& writer, const EmitContext& context) {
  const SizeBound* const bound = bound_of(context.program);
  if (bound == nullptr) return;
  const std::string name = size_parameter(context.program);
  writer.line(
      cat("// The sizes that run() takes as ", name, "; kInput0Shape, kMacs and so on are"));
  writer.line(cat(
      "// those of the greatest. Fewer elements of inputs and outputs belong to a smaller one."));
  writer.line(cat("inline constexpr size_t kMin", camel(name), " = ", bound->range.least, ";"));
  writer.line(cat("inline constexpr size_t kMax", camel(name), " = ", bound->range.most, ";"));
  for_each_sized_port(context.program, *bound, [&](const Port& port, const auto& shape) {
    const SizeFormula elements = elements_of(*bound, shape);
    writer.line(cat("// ", port.identifier, ": ", shape_text(shape, name)));
    writer.scope(cat("constexpr size_t ", port.identifier, "_elements(size_t ", name, ") noexcept"),
                 [&] {
                   writer.line(cat("const int size = static_cast<int>(", name, ");"));
                   const std::string count = count_text(writer, *bound, elements, "constexpr ");
                   writer.line(cat("return static_cast<size_t>(", count, ");"));
                 });
  });
  writer.line();
}

void write_size_contract(Writer& writer, const EmitContext& context) {
  if (bound_of(context.program) == nullptr) return;
  const std::string name = size_parameter(context.program);
  writer.line(cat("// False, and nothing done, if ", name, " is not from kMin", camel(name),
                  " to kMax", camel(name), "."));
}

void write_size_macros(Writer& writer, const EmitContext& context) {
  const SizeBound* const bound = bound_of(context.program);
  if (bound == nullptr) return;
  const std::string stem = macro_stem(context.options.name);
  const std::string name = macro_stem(size_parameter(context.program));
  writer.line(cat("#define ", stem, "_MIN_", name, " ", bound->range.least));
  writer.line(cat("#define ", stem, "_MAX_", name, " ", bound->range.most));
}

void write_size_c_functions(Writer& writer, const EmitContext& context) {
  const SizeBound* const bound = bound_of(context.program);
  if (bound == nullptr) return;
  const std::string name = size_parameter(context.program);
  for_each_sized_port(context.program, *bound, [&](const Port& port, const auto& shape) {
    const SizeFormula elements = elements_of(*bound, shape);
    writer.line(cat("// ", port.identifier, ": ", shape_text(shape, name)));
    writer.scope(cat("static inline size_t ", context.options.name, "_", port.identifier,
                     "_elements(size_t ", name, ")"),
                 [&] {
                   writer.line(cat("const int size = (int)", name, ";"));
                   const std::string count = count_text(writer, *bound, elements, "static const ");
                   writer.line(cat("return (size_t)(", count, ");"));
                 });
  });
}

void write_size_check(Writer& writer, const Program& program) {
  const SizeBound* const bound = bound_of(program);
  if (bound == nullptr) return;
  const std::string name = size_parameter(program);
  writer.line(cat("if (", name, " < kMin", camel(name), " || ", name, " > kMax", camel(name),
                  ") return false;"));
  writer.line(cat("[[maybe_unused]] const int size = static_cast<int>(", name, ");"));
}

std::string size_tables(const Program& program) {
  const SizeBound* const bound = bound_of(program);
  if (bound == nullptr) return {};
  std::map<std::string, std::string> definitions;
  const auto add = [&](const std::vector<SizeFormula>& formulas) {
    for (const SizeFormula& each : formulas)
      if (each.is_table()) definitions.emplace(each.table_name(), each.table_definition());
  };
  add(bound->trips);
  for (const auto& step : program.steps) {
    if (const SizedStep* const of_size = step->sized()) {
      add(of_size->numbers);
      add(of_size->offsets);
    }
  }
  std::string out;
  for (const auto& [name, definition] : definitions) out += definition + "\n";
  return definitions.empty() ? "" : cat("// Numbers by size that follow no formula.\n", out, "\n");
}

void write_group_begin(Writer& writer, const Program& program, std::size_t index) {
  const SizedStep* const step = program.steps[index]->sized();
  if (step == nullptr) return;
  const SizeRange& range = step->bound->range;
  const bool is_first = index == 0 || program.steps[index - 1]->sized()->group != step->group;
  if (!is_first || std::cmp_equal(step->group_sizes.size(), range.count())) return;
  Sizes all;
  for (std::int64_t size = range.least; size <= range.most; ++size) all.push_back(size);
  std::string condition = size_condition(step->group_sizes, all);
  if (condition.empty()) {
    for (const std::int64_t size : step->group_sizes)
      condition += cat(condition.empty() ? "" : " || ", "size == ", size);
  }
  writer.line();
  writer.open(cat("if (", condition, ")"));
}

void write_group_end(Writer& writer, const Program& program, std::size_t index) {
  const SizedStep* const step = program.steps[index]->sized();
  if (step == nullptr || std::cmp_equal(step->group_sizes.size(), step->bound->range.count()))
    return;
  const bool is_last =
      index + 1 == program.steps.size() || program.steps[index + 1]->sized()->group != step->group;
  if (is_last) writer.close("}");
}

bool begins_position(const Program& program, std::size_t index) {
  const SizedStep* const step = program.steps[index]->sized();
  if (step == nullptr || index == 0) return true;
  const SizedStep* const before = program.steps[index - 1]->sized();
  return before->group != step->group || before->position != step->position;
}

std::size_t end_of_position(const Program& program, std::size_t index) {
  do ++index;
  while (index < program.steps.size() && !begins_position(program, index));
  return index;
}

void write_choice_of_form(Writer& writer, const Program& program, std::size_t first,
                          const std::function<std::string(const Step&)>& call) {
  const std::size_t end = end_of_position(program, first);
  if (end == first + 1) {
    writer.line(call(*program.steps[first]));
    return;
  }
  const auto form = [&](std::size_t i) { return program.steps[i]->sized(); };
  Sizes left = form(first)->group_sizes;
  std::vector<std::string> conditions;
  for (std::size_t i = first; i + 1 < end; ++i) {
    conditions.push_back(size_condition(form(i)->sizes, left));
    left = without(left, form(i)->sizes);
  }
  const bool simple =
      conditions.size() < kMostConditions && std::ranges::find(conditions, "") == conditions.end();
  if (!simple) {
    writer.scope("switch (size)", [&] {
      for (std::size_t i = first; i < end; ++i)
        write_cases(writer, form(i)->sizes, call(*program.steps[i]));
      writer.line("default: break;");
    });
    return;
  }
  for (std::size_t i = first; i < end; ++i) {
    const std::string condition = i + 1 == end ? "" : cat("if (", conditions[i - first], ") ");
    writer.line(cat(i == first ? "" : "} else ", condition, "{"));
    writer.line(cat("  ", call(*program.steps[i])));
  }
  writer.line("}");
}

}  // namespace etch
