// Checks and counts of the Audit stage; see audit.h.
#include "compiler/stage/audit.h"

#include <algorithm>
#include <cstdio>

#include "compiler/base/check.h"
#include "compiler/base/observation.h"
#include "compiler/base/text.h"
#include "compiler/program/arena.h"
#include "compiler/program/tunable.h"
#include "compiler/stage/access_log.h"

namespace etch {

namespace audited {

Index operator+(Index a, const Index& b) {
  a.first += b.first;
  a.last += b.last;
  a.step = std::gcd(a.step, b.step);
  return a;
}

Index operator*(Index a, std::int64_t factor) {
  a.first *= factor;
  a.last *= factor;
  a.step *= factor < 0 ? -factor : factor;
  if (factor < 0) std::swap(a.first, a.last);
  return a;
}

}  // namespace audited

namespace {
constexpr std::size_t kMostFindings = 20;  // of one step; the rest repeats them

// Tells who listens.
void tell(std::string_view verb, int memory, bool writes, const audited::Index& offset,
          const Span& span, std::int64_t repetitions) {
  AccessLog* const log = Observation<AccessLog>::current();
  if (log == nullptr) return;
  log->add({std::string(verb),
            memory,
            writes,
            offset.first + span.begin,
            offset.last + span.begin,
            offset.step,
            span.bytes(),
            {}},
           repetitions);
}
}  // namespace

Audit::Audit(const Step& step, const IsaTraits& isa, std::span<const OperandExtent> extents)
    : step_(step), isa_(isa) {
  ETCH_CHECK(extents.size() == step.operands.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Operand& operand = step.operands[i];
    memory_.push_back({operand.name, operand.element, operand.access, extents[i]});
  }
  const std::int64_t alignment = isa.alignment;
  for (const ConstantArray& constant : step.constants) {
    const auto bytes = static_cast<std::int64_t>(constant.bytes.size());
    memory_.push_back(
        {constant.suffix, constant.element, Access::kRead, {0, bytes, bytes, alignment}});
  }
}

int Audit::find_constant(std::string_view suffix) const {
  for (std::size_t i = 0; i < step_.constants.size(); ++i) {
    if (step_.constants[i].suffix == suffix) return static_cast<int>(step_.operands.size() + i);
  }
  std::fprintf(stderr, "etch: step %s has no constant '%.*s'\n", step_.name.c_str(),
               static_cast<int>(suffix.size()), suffix.data());
  ETCH_CHECK(false);
}

void Audit::check_type(int memory, DType used_as) {
  ETCH_CHECK(memory >= 0 && memory < static_cast<int>(memory_.size()));
  const Memory& known = memory_[static_cast<std::size_t>(memory)];
  // Constants of any type may be moved as bytes, see raw_array().
  const bool moved = memory >= static_cast<int>(step_.operands.size()) && used_as == DType::kU8;
  const bool half = known.element == DType::kF16 || known.element == DType::kBF16;
  const bool bits = half && used_as == DType::kU16;
  if (known.element != used_as && !moved && !bits) {
    find("pointer", known, cat("is ", name_of(known.element), ", used as ", name_of(used_as)));
  }
}

void Audit::count_statement() {
  if (silent_ == 0) ++result_.statements;
}

Audit::Index Audit::begin_loop(std::int64_t count) {
  count_statement();
  ++result_.loops;
  if (AccessLog* const log = Observation<AccessLog>::current()) log->enter(count, repetitions_);
  repetitions_ *= count;
  Index index;
  index.last = count - 1;
  index.step = 1;
  return index;
}

Audit::Tile Audit::begin_tile(const std::string& name) {
  count_statement();
  ++result_.calls_of_tiles;
  const bool printed_before = !functions_.insert(name).second;
  silent_ += printed_before ? 1 : 0;
  return {result_.statements, printed_before};
}

void Audit::end_tile(const Tile& tile) {
  silent_ -= tile.printed_before ? 1 : 0;
  const int own = result_.statements - tile.before;
  result_.in_functions += own;
  result_.longest_function = std::max(result_.longest_function, own);
}

const void* Audit::constant_data(const Place& at) const {
  const auto operands = static_cast<int>(step_.operands.size());
  if (at.memory < operands || at.offset.first != 0 || at.offset.last != 0) return nullptr;
  return step_.constants[static_cast<std::size_t>(at.memory - operands)].bytes.data();
}

void Audit::check_call(std::string_view name, std::span<const Span> spans,
                       std::initializer_list<Touched> arguments) {
  count_statement();
  result_.executions[name] += repetitions_;
  ++result_.sites[name];
  auto span = spans.begin();
  for (const Touched& argument : arguments) {
    if (argument.at.memory < 0) continue;
    ETCH_CHECK(span != spans.end());
    if (argument.read) {
      check_read(name, argument.at, *span++);
    } else {
      check_write(name, argument.at, *span++);
    }
  }
  ETCH_CHECK(span == spans.end());
}

void Audit::verb(std::string_view name, const Place& at, std::int64_t reads, std::int64_t writes) {
  count_statement();
  result_.executions[name] += repetitions_;
  ++result_.sites[name];
  if (reads > 0) check_read(name, at, {0, reads});
  if (writes > 0) check_write(name, at, {0, writes});
  if (name == "load_i32") check_alignment(name, at, 4 * isa_.lanes);
  if (name == "load_w4") check_alignment(name, at, isa_.weight_bytes() / 2);
}

void Audit::check_read(std::string_view verb, const Place& at, const Span& span) {
  ETCH_CHECK(at.memory >= 0);
  tell(verb, at.memory, false, at.offset, span, repetitions_);
  const Memory& memory = memory_[static_cast<std::size_t>(at.memory)];
  if (memory.access == Access::kWrite) find(verb, memory, "is declared as written only, but read");
  const std::int64_t begin = at.offset.first + span.begin;
  const std::int64_t end = at.offset.last + span.end;
  if (begin < memory.extent.begin || end > memory.extent.read_end) {
    find(verb, memory,
         cat("reads bytes [", begin, ", ", end, ") of [", memory.extent.begin, ", ",
             memory.extent.read_end, ")"));
  }
}

void Audit::check_write(std::string_view verb, const Place& at, const Span& span) {
  ETCH_CHECK(at.memory >= 0);
  tell(verb, at.memory, true, at.offset, span, repetitions_);
  const Memory& memory = memory_[static_cast<std::size_t>(at.memory)];
  if (memory.access == Access::kRead) find(verb, memory, "is declared as read only, but written");
  const std::int64_t begin = at.offset.first + span.begin;
  const std::int64_t end = at.offset.last + span.end;
  if (begin < memory.extent.begin || end > memory.extent.end) {
    find(verb, memory,
         cat("writes bytes [", begin, ", ", end, ") of [", memory.extent.begin, ", ",
             memory.extent.end, ")"));
  }
}

void Audit::add_use(std::string_view function, std::span<const Span> spans) {
  const auto same = [&](const AssemblyUse& use) {
    return use.function == function &&
           std::ranges::equal(use.spans, spans, [](const Span& a, const Span& b) {
             return a.begin == b.begin && a.end == b.end;
           });
  };
  if (std::ranges::none_of(result_.assembly, same))
    result_.assembly.push_back({std::string(function), {spans.begin(), spans.end()}});
}

void Audit::check_alignment(std::string_view verb, const Place& at, std::int64_t alignment) {
  const Memory& memory = memory_[static_cast<std::size_t>(at.memory)];
  const std::int64_t known =
      std::gcd(memory.extent.alignment, std::gcd(at.offset.first, at.offset.step));
  if (known % alignment != 0) {
    find(verb, memory, cat("needs alignment ", alignment, ", has ", known));
  }
}

void Audit::find(std::string_view verb, const Memory& memory, const std::string& what) {
  if (result_.findings.size() >= kMostFindings) return;
  result_.findings.push_back(cat(step_.name, ": ", verb, ": ", memory.name, " ", what));
}

AuditResult audit(const Step& step, const IsaTraits& isa, std::span<const OperandExtent> extents) {
  Audit stage(step, isa, extents);
  step.run(stage);
  return stage.result();
}

namespace {
// A number whose divisors are known to divide the buffer's address: from its place in the arena or,
// before memory is planned, what lowering asked for.
std::int64_t start_in_arena(const Program& program, const Buffer& buffer) {
  return buffer.arena_offset < 0 ? buffer.alignment
                                 : std::gcd(arena_alignment(program), buffer.arena_offset);
}
}  // namespace

std::vector<OperandExtent> extents_of(const Program& program, const Step& step) {
  std::vector<OperandExtent> out;
  for (const Operand& operand : step.operands) {
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(operand.buffer)];
    const bool in_arena = buffer.home == Home::kArena;
    const std::int64_t end = buffer.bytes - operand.offset;
    // Users align their inputs and outputs to the element, and the arena as its header says.
    const std::int64_t alignment = in_arena
                                       ? std::gcd(start_in_arena(program, buffer), operand.offset)
                                       : bytes_of(operand.element);
    out.push_back({-operand.offset, end, end + (in_arena ? kArenaSlack : 0), alignment});
  }
  return out;
}

namespace {
// What users ask for (--unroll, tuning) is bounded by estimates (unrolling.h), and here for good.
bool is_unrolled_on_request(const Step& step) {
  return step.tunable() != nullptr && step.tunable()->may_be_long();
}

// Compilers take more than proportionally longer for long functions, and all functions of a step
// are in one file.
void check_length(const Step& step, const AuditResult& result, const Limits& limits, Sink& sink) {
  const bool requested = is_unrolled_on_request(step);
  const auto check = [&](std::int64_t statements, std::int64_t Limits::*limit,
                         std::int64_t most_requested, std::string_view where) {
    if (statements <= (requested ? most_requested : limits.*limit)) return true;
    sink.report({Severity::kError, DiagKind::kLimit, step.node, step.origin,
                 cat("its unrolled code would have ", statements, " statements", where, ", ",
                     requested ? cat("at most ", most_requested, "; unroll less")
                               : at_most(limits, limit))});
    return false;
  };
  const int outside = result.statements - result.in_functions;
  const int longest = std::max(result.longest_function, outside);
  if (!check(longest, &Limits::function_statements, kMostTileStatements, " in one function"))
    return;
  check(result.statements, &Limits::step_statements, kMostUnrolledStatements, "");
}
}  // namespace

void audit_program(const Program& program, const Limits& limits, Sink& sink) {
  bool clean = true;
  std::int64_t statements = 0;
  for (const auto& step : program.steps) {
    const AuditResult result = audit(*step, program.isa, extents_of(program, *step));
    for (const std::string& finding : result.findings) {
      std::fprintf(stderr, "etch: audit: %s\n", finding.c_str());
      clean = false;
    }
    check_length(*step, result, limits, sink);
    if (!step->shares_code()) statements += result.statements;
  }
  if (statements > limits.statements) {
    sink.error(DiagKind::kLimit, {},
               cat("the generated code would have ", statements, " statements, ",
                   at_most(limits, &Limits::statements)));
  }
  ETCH_CHECK(clean && "every access stays inside its memory");
}

}  // namespace etch
