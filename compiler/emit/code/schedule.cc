// The static schedule: where tensors are in the arena, and the order of the steps; see parts.h.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/emit/code/shared_bodies.h"
#include "compiler/program/sized_step.h"
#include "compiler/program/state.h"
#include "compiler/schedule/memory.h"
#include "compiler/stage/recorder.h"
#include "compiler/stage/recording.h"
#include "compiler/text/names.h"
#include "compiler/text/writer.h"

namespace etch {
namespace {

constexpr std::string_view kProfileParameters =
    "[[maybe_unused]] const void* const* inputs,\n    [[maybe_unused]] void* const* outputs, "
    "[[maybe_unused]] void* arena";
constexpr char kThreadsParameter[] = ", [[maybe_unused]] const EtchThreads* threads";

bool is_divided(const Step& step) { return step.partition.shares > 1; }

bool has_divided_steps(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const auto& step) { return is_divided(*step); });
}

// The parts of "a, b, c".
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(", ", at), list.size());
    out.push_back(list.substr(at, comma - at));
    at = comma + 2;
  }
  return out;
}

const Buffer& buffer_of(const Program& program, const Operand& operand) {
  return program.buffers[static_cast<std::size_t>(operand.buffer)];
}

const Port& port_of(const Program& program, const Buffer& buffer) {
  const auto& ports = buffer.home == Home::kInput ? program.inputs : program.outputs;
  return ports[static_cast<std::size_t>(buffer.port)];
}

// A program with what its schedule calls ports and tensors: found once, as there may be thousands.
struct Named {
  explicit Named(const Program& of)
      : program(of), ports(port_parameters(of)), used(ports.size()), tensors(of.buffers.size()) {
    for (const auto& step : of.steps) {
      for (const Operand& operand : step->operands) {
        const Buffer& buffer = buffer_of(of, operand);
        if (buffer.home == Home::kInput || buffer.home == Home::kOutput) used[port(buffer)] = true;
        std::string& tensor = tensors[static_cast<std::size_t>(operand.buffer)];
        if (tensor.empty() && operand.access != Access::kRead)
          tensor = cat(step->name, "_", operand.name);
      }
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].empty()) tensors[i] = cat("buffer", i);
    }
  }

  // Of the buffer of an input or an output, into `ports` and `used`.
  std::size_t port(const Buffer& buffer) const {
    return static_cast<std::size_t>(buffer.port) +
           (buffer.home == Home::kInput ? 0 : program.inputs.size());
  }
  // Named after what writes it first: "n03_conv_y".
  const std::string& tensor(int buffer) const { return tensors[static_cast<std::size_t>(buffer)]; }

  const Program& program;
  const std::vector<std::string> ports;  // what run() calls inputs and outputs
  std::vector<bool> used;                // the port, by any step
  std::vector<std::string> tensors;      // of each buffer
};

// Where pointers are found: parameters of the function around, or members of a `call`.
enum class From { kParameters, kCall };
const char* prefix(From from) { return from == From::kCall ? "call." : ""; }

// Where an operand is in its buffer: bytes, in steps for several sizes by a formula of the size.
std::string offset_of(const Step& step, std::size_t operand) {
  const SizedStep* const of_size = step.sized();
  return of_size == nullptr ? cat(step.operands[operand].offset) : of_size->offsets[operand].text();
}

std::string arena_argument(const Named& named, const Step& step, std::size_t index, From from) {
  const Operand& operand = step.operands[index];
  const std::string bytes = offset_of(step, index);
  const std::string offset = bytes == "0" ? "" : cat(" + ", bytes);
  return cat("at<", c_type(operand.element), ">(", prefix(from), "arena, ",
             named.tensor(operand.buffer), offset, ")");
}

// The argument for an operand inside run().
std::string argument_in_run(const Named& named, const Step& step, std::size_t index, From from) {
  const Operand& operand = step.operands[index];
  const Buffer& buffer = buffer_of(named.program, operand);
  if (buffer.home == Home::kArena) return arena_argument(named, step, index, from);
  const Port& port = port_of(named.program, buffer);
  const std::string bytes = offset_of(step, index);
  std::string pointer = prefix(from) + named.ports[named.port(buffer)];
  if (bytes == "0" && c_type(port.dtype) == c_type(operand.element)) return pointer;
  return cat("at<", c_type(operand.element), ">(", pointer, ", ", bytes, ")");
}

// The same inside a profile function, where ports come in two arrays.
std::string argument_in_profile(const Named& named, const Step& step, std::size_t index,
                                From from) {
  const Operand& operand = step.operands[index];
  const Buffer& buffer = buffer_of(named.program, operand);
  if (buffer.home == Home::kArena) return arena_argument(named, step, index, from);
  return cat("at<", c_type(operand.element), ">(", prefix(from),
             buffer.home == Home::kInput ? "inputs[" : "outputs[", buffer.port, "], ",
             operand.offset, ")");
}

// The call of the step's function: of all shares if it has shares, unless that is in the function
// of one.
template <class Argument>
std::string call_of(const Named& named, const Step& step, Argument argument,
                    From from = From::kParameters) {
  if (is_divided(step) && from == From::kParameters) {
    return cat("run_shares(threads, share_of_", step.name, ", call);");
  }
  std::string arguments;
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    arguments += cat(arguments.empty() ? "" : ", ", argument(named, step, i, from));
  }
  if (const SizedStep* const of_size = step.sized(); of_size != nullptr && of_size->needs_size())
    arguments += arguments.empty() ? "size" : ", size";
  return cat(step.called(), "(", arguments, is_divided(step) ? ", share);" : ");");
}

// What shares of steps need: the pointers in a Call, the functions that the hook calls, and
// run_shares(), which calls the hook.
template <class Argument>
void write_shares(Writer& writer, const Named& named, const std::string& pointers,
                  const std::string& qualifier, Argument argument) {
  const Program& program = named.program;
  writer.open("struct Call");
  for (const std::string& pointer : split(pointers)) writer.line(pointer + ";");
  writer.close("};");
  writer.line();
  writer.line(
      "// All shares of a step: on the user's threads, or one after the other on this one.");
  writer.scope("void run_shares(const EtchThreads* threads, EtchTask task, Call& call)", [&] {
    writer.scope("if (threads != nullptr)", [&] {
      writer.line(cat("threads->run(threads->context, task, &call, ", program.shares, ");"));
      writer.line("return;");
    });
    writer.line(
        cat("for (int share = 0; share < ", program.shares, "; ++share) task(&call, share);"));
  });
  for (const auto& step : program.steps) {
    if (!is_divided(*step)) continue;
    writer.line();
    writer.scope(cat("void share_of_", step->name, "(void* argument, int share)"), [&] {
      if (qualifier.empty()) writer.line("using namespace steps;");
      writer.line("const Call& call = *static_cast<const Call*>(argument);");
      writer.line(qualifier + call_of(named, *step, argument, From::kCall));
    });
  }
  writer.line();
}

void write_arena_layout(Writer& writer, const Program& program) {
  const Named named(program);
  writer.line("// The tensors' places in the arena, in bytes from its start.");
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    if (buffer.home != Home::kArena) continue;
    writer.line(cat("inline constexpr ptrdiff_t ", named.tensors[i], " = ", buffer.arena_offset,
                    ";  // ", with_thousands(buffer.bytes), " ", plural(buffer.bytes, "byte"),
                    ", steps ", buffer.first_step, " to ", buffer.last_step));
  }
  writer.line();
}

void write_at(Writer& writer) {
  writer.line("// The elements of type T at `bytes` after `memory`.");
  writer.line("template <class T>");
  writer.scope("inline T* at(void* memory, ptrdiff_t bytes)", [&] {
    writer.line(
        "return static_cast<T*>(static_cast<void*>(static_cast<uint8_t*>(memory) + bytes));");
  });
  writer.line("template <class T>");
  writer.scope("inline const T* at(const void* memory, ptrdiff_t bytes)", [&] {
    writer.line("const void* const place = static_cast<const uint8_t*>(memory) + bytes;");
    writer.line("return static_cast<const T*>(place);");
  });
  writer.line();
}

void write_unused_ports(Writer& writer, const Named& named) {
  for (std::size_t i = 0; i < named.ports.size(); ++i) {
    if (named.used[i]) continue;
    writer.line(cat("static_cast<void>(", named.ports[i], ");  // no step needs it"));
  }
}

}  // namespace

std::string step_declarations(const EmitContext& context) {
  Writer writer;
  write_arena_layout(writer, context.program);
  const std::string tables = size_tables(context.program);
  write_at(writer);
  writer.line("// The steps in the order in which run() calls them.");
  const std::map<std::string, std::string> bodies = shared_bodies(context.program);
  std::set<std::string> declared;
  for (const auto& step : context.program.steps) {
    if (step->shares_code()) continue;
    writer.line(
        cat("[[gnu::noinline]] void ", step->name, "(", declared_parameters(*step), ") noexcept;"));
    const auto body = bodies.find(step->name);
    if (body == bodies.end() || !declared.insert(body->second).second) continue;
    writer.line(body_declaration(*step, body->second));
  }
  if (const std::string functions = assembly_declarations(context.program); !functions.empty()) {
    writer.line();
    writer.line("// What they call.");
    return tables + writer.text() + functions;
  }
  return tables + writer.text();
}

namespace {

// What run() does with its hook at the beginning ("begin") and at the end.
void write_notice(Writer& writer, const char* what) {
  const std::string function = cat("threads->", what);
  writer.line(cat("if (threads != nullptr && ", function, " != nullptr) ", function,
                  "(threads->context);"));
}

// Opens the loops and branches that begin with step `index`.
void open_regions(Writer& writer, const Named& named, int index) {
  const Program& program = named.program;
  for (const Region& region : program.regions) {
    if (region.first != index) continue;
    const std::string flag = region.flag < 0
                                 ? ""
                                 : cat("*at<uint8_t>(arena, ", named.tensor(region.flag), ") ",
                                       region.when ? "!=" : "==", " 0");
    writer.line();
    if (region.is_branch) {
      writer.open(cat("if (", flag, ")"));
      continue;
    }
    const auto number = static_cast<std::size_t>(&region - program.regions.data());
    const std::string trip = cat("trip_", number);
    const SizeBound* const bound = bound_of(program);
    const std::string trips = bound == nullptr ? cat(region.trips) : bound->trips[number].text();
    writer.line(cat("// ", region.flag < 0 ? "" : "At most ",
                    bound == nullptr ? counted(region.trips, "trip") : cat(trips, " trips"), "."));
    writer.open(cat("for (int64_t ", trip, " = 0; ", trip, " < ", trips,
                    flag.empty() ? "" : " && " + flag, "; ++", trip, ")"));
  }
}

void close_regions(Writer& writer, const Program& program, int index) {
  for (const Region& region : program.regions) {
    if (region.last == index) writer.close("}");
  }
}

void write_run_body(Writer& writer, const Named& named) {
  const Program& program = named.program;
  const bool divided = has_divided_steps(program);
  if (!program.steps.empty() || !state_of(program).empty()) {
    writer.line("using namespace steps;");
    writer.line();
  }
  write_size_check(writer, program);
  writer.line("// Aligned loads would fault later, or give wrong values on some processors.");
  writer.line("if (reinterpret_cast<uintptr_t>(arena) % kArenaAlignment != 0) __builtin_trap();");
  write_state_pointers(writer, program);
  write_unused_ports(writer, named);
  if (divided) {
    writer.line(cat("Call call{", pointer_arguments(program), "};"));
    write_notice(writer, "begin");
  }
  for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
    const auto index = static_cast<std::size_t>(i);
    const Step& step = *program.steps[index];
    write_group_begin(writer, program, index);
    open_regions(writer, named, i);
    writer.line();
    if (!step.origin.empty()) writer.line(cat("// Layer: ", layer_of(step)));
    writer.line(cat("// ", comment_text(step.summary)));
    write_choice_of_form(writer, program, index,
                         [&](const Step& form) { return call_of(named, form, argument_in_run); });
    i = static_cast<int>(end_of_position(program, index)) - 1;
    close_regions(writer, program, i);
    write_group_end(writer, program, static_cast<std::size_t>(i));
  }
  if (divided) {
    writer.line();
    write_notice(writer, "end");
  }
  write_state_step(writer, program);
  if (bound_of(program) != nullptr) writer.line("return true;");
}

// A function for C around run(), with further parameters.
void write_c_run(Writer& writer, const EmitContext& context, const char* function,
                 const char* parameter, const char* argument) {
  const std::string& name = context.options.name;
  const std::string state = c_state_parameter(context.program);
  const bool has_sizes = bound_of(context.program) != nullptr;
  writer.scope(cat("extern \"C\" ", has_sizes ? "int " : "void ", name, function,
                   run_parameters(context.program, state), parameter, ") noexcept"),
               [&] {
                 write_state_check(writer, context);
                 writer.line(cat(has_sizes ? "return " : "", name, "::run(",
                                 run_arguments(context.program, c_state_argument(context)),
                                 argument, has_sizes ? ") ? 1 : 0;" : ");"));
               });
}

}  // namespace

std::string run_definition(const EmitContext& context) {
  const Program& program = context.program;
  const Named named(program);
  const std::string& name = context.options.name;
  const std::string parameters = run_parameters(program);
  const bool threads = program.shares > 1;
  const char* const result = bound_of(program) == nullptr ? "void" : "bool";
  Writer writer;
  writer.line(cat("namespace ", name, " {"));
  writer.line();
  if (has_divided_steps(program)) {
    writer.line("namespace {");
    writer.line();
    write_shares(writer, named, pointer_parameters(program), "", argument_in_run);
    writer.line("}  // namespace");
    writer.line();
  }
  write_reset(writer, context);
  writer.scope(cat(result, " run(", parameters, threads ? kThreadsParameter : "", ") noexcept"),
               [&] { write_run_body(writer, named); });
  if (threads) {
    writer.line();
    writer.scope(cat("void run(", parameters, ") noexcept"),
                 [&] { writer.line(cat("run(", run_arguments(program), ", nullptr);")); });
  }
  writer.line();
  writer.line(cat("}  // namespace ", name));
  writer.line();
  write_c_reset(writer, context);
  write_c_run(writer, context, "_run(", "", "");
  if (threads) {
    writer.line();
    write_c_run(writer, context, "_run_on(", ", const EtchThreads* threads", ", threads");
  }
  return writer.text();
}

std::string profile_header(const EmitContext& context) {
  const std::string& name = context.options.name;
  const bool threads = context.program.shares > 1;
  Writer writer;
  writer.line("#pragma once");
  writer.line();
  if (threads) {
    writer.line(cat("#include \"", kThreadsHeader, "\""));
    writer.line();
  }
  writer.line(cat("namespace ", name, " {"));
  writer.line("namespace profile {");
  writer.line();
  writer.line(
      "// inputs[i] and outputs[i] point to what run() takes. The steps called in order are "
      "run().");
  if (bound_of(context.program) != nullptr)
    writer.line("// That is, with the greatest size; steps for other sizes do nothing here.");
  if (!context.program.regions.empty())
    writer.line("// Except for loops, which are one trip here, and branches, which are all taken.");
  writer.open("struct Step");
  writer.line("const char* name;");
  writer.line(cat("void (*run)(const void* const* inputs, void* const* outputs, void* arena",
                  threads ? ", const EtchThreads* threads" : "", ");"));
  writer.close("};");
  writer.line();
  writer.line(cat("inline constexpr int kStepCount = ", context.program.steps.size(), ";"));
  writer.line(cat("extern const Step kSteps[",
                  std::max<std::size_t>(1, context.program.steps.size()), "];"));
  writer.line();
  writer.line("}  // namespace profile");
  writer.line(cat("}  // namespace ", name));
  return file_banner(context, "the steps one by one, to measure them.") + writer.text();
}

std::string profile_definition(const EmitContext& context) {
  const Program& program = context.program;
  const Named named(program);
  const std::string& name = context.options.name;
  Writer writer;
  writer.line(cat("namespace ", name, " {"));
  writer.line("namespace profile {");
  writer.line("namespace {");
  writer.line();
  if (bound_of(program) != nullptr) {
    writer.line("using namespace steps;");
  } else if (!program.steps.empty()) {
    writer.line("using steps::at;");
  }
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].home != Home::kArena || bound_of(program) != nullptr) continue;
    writer.line(cat("using steps::", named.tensors[i], ";"));
  }
  writer.line();
  if (has_divided_steps(program)) {
    write_shares(writer, named, "const void* const* inputs, void* const* outputs, void* arena",
                 "steps::", argument_in_profile);
  }
  for (const auto& step : program.steps) {
    const bool threads = program.shares > 1;
    const SizedStep* const of_size = step->sized();
    writer.scope(cat("void run_", step->name, "(", kProfileParameters,
                     threads ? kThreadsParameter : "", ")"),
                 [&] {
                   if (is_divided(*step)) writer.line("Call call{inputs, outputs, arena};");
                   if (of_size != nullptr) {
                     if (!runs_at_greatest(*step)) return;
                     writer.line(cat("[[maybe_unused]] constexpr int size = ",
                                     of_size->bound->range.most, ";"));
                   }
                   writer.line(cat(is_divided(*step) ? "" : "steps::",
                                   call_of(named, *step, argument_in_profile)));
                 });
    writer.line();
  }
  writer.line("}  // namespace");
  writer.line();
  writer.line("const Step kSteps[] = {");
  for (const auto& step : program.steps) {
    writer.line(cat("    {\"", step->name, "\", run_", step->name, "},"));
  }
  if (program.steps.empty()) writer.line("    {nullptr, nullptr},");
  writer.line("};");
  writer.line();
  writer.line("}  // namespace profile");
  writer.line(cat("}  // namespace ", name));
  return writer.text();
}

}  // namespace etch
