// The stage that proves: a kernel run under Audit computes nothing, but every pointer carries the
// interval of offsets that its loops span, so each access is checked against the memory it may
// touch, for all iterations at once. It also counts: statements as the Recorder would print them
// and executions of every verb. See templates/stage.h for what a stage offers. As in the Recorder,
// what needs no types is out of line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/limits.h"
#include "compiler/program/step.h"
#include "templates/external.h"
#include "templates/stage.h"

namespace etch {

// The memory around an operand: offsets in bytes relative to the operand's pointer.
struct OperandExtent {
  std::int64_t begin = 0;      // first byte of the buffer: -Operand::offset
  std::int64_t end = 0;        // after its last byte
  std::int64_t read_end = 0;   // after the last byte that may be read (kArenaSlack)
  std::int64_t alignment = 1;  // of the pointer
};

// A function in assembly that a step calls, and what its pointers touch by the call.
struct AssemblyUse {
  std::string function;
  std::vector<Span> spans;
};

struct AuditResult {
  int statements = 0;                                   // as Recorder::statements()
  int longest_function = 0;                             // statements of the longest tile function
  int in_functions = 0;                                 // statements of all tile functions
  std::map<std::string_view, std::int64_t> executions;  // per verb, all iterations
  std::map<std::string_view, std::int64_t> sites;  // as in object code: tiles inlined, once each
  std::int64_t loops = 0;                          // counted in the same way
  std::int64_t calls_of_tiles = 0;                 // counted in the same way
  bool uses_floats = false;                        // verbs and external functions do
  std::vector<AssemblyUse> assembly;               // calls that differ in name or spans, once each
  std::vector<std::string> findings;               // wrong accesses; empty when all is well
};

namespace audited {

// All values first, first + step * k, ..., last.
struct Index {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 0;  // every value differs from `first` by a multiple of it; 0: one value

  Index() = default;
  Index(std::int64_t value) : first(value), last(value) {}  // NOLINT: an index may be a number
  friend Index operator+(Index a, const Index& b);
  friend Index operator*(Index a, std::int64_t factor);
};

template <class Element>
struct Ptr {
  int memory = -1;  // operands first, then constants
  Index offset;     // bytes
  friend Ptr operator+(Ptr p, const Index& i) {
    p.offset = p.offset + i * static_cast<std::int64_t>(sizeof(Element));
    return p;
  }
};

template <class Tag>
struct Value {};

}  // namespace audited

class Audit {
 public:
  using Index = audited::Index;
  template <class Element>
  using Ptr = audited::Ptr<Element>;
#define ETCH_STAGE_TYPE(id) using id = audited::Value<struct id##Tag>;
#include "templates/types.def"
#undef ETCH_STAGE_TYPE

  // One extent per operand of `step`.
  Audit(const Step& step, const IsaTraits& isa, std::span<const OperandExtent> extents);

  const IsaTraits& isa() const { return isa_; }
  const AuditResult& result() const { return result_; }

  // ---- what kernels use; see templates/stage.h ----
  template <class Element>
  Ptr<Element> operand(int i) {
    check_type(i, DTypeOf<std::remove_const_t<Element>>::value);
    return {i, {}};
  }
  template <class Element>
  Ptr<Element> constant(std::string_view suffix) {
    const int memory = find_constant(suffix);
    check_type(memory, DTypeOf<std::remove_const_t<Element>>::value);
    return {memory, {}};
  }

  template <class Body>
  void loop(const char*, std::int64_t count, Body body) {
    if (count == 1) body(Index(0));
    if (count <= 1) return;
    body(begin_loop(count));
    repetitions_ /= count;
  }

  template <class Body>
  void block(Body body) {
    body();
  }

  template <class Element>
  Ptr<Element> base(const Name&, const Ptr<Element>& p) {
    count_statement();
    return p;
  }

  template <class Body, class... Elements>
  void inlined(const std::string& name, Body body,
               const std::pair<const char*, Ptr<Elements>>&... args) {
    const Tile tile = begin_tile(name);
    body(args.second...);
    end_tile(tile);
  }

  template <class Function, class... Args>
  void call(const Function& function, const Args&... args) {
    const auto spans = function.spans(known(args)...);
    use_floats(function.floats());
    if constexpr (std::is_base_of_v<AssemblyCall, Function>) add_use(function.name(), spans);
    check_call(function.kind(), spans, {touched(args)...});
  }

  void comment(const std::string&) {}

#define ETCH_VERB(Result, id, reads, writes)    \
  template <class... Args>                      \
  Result id(const Name&, const Args&... args) { \
    use_floats(floats_of<Result>());            \
    ETCH_AUDIT_ACCESS(id, reads, writes)        \
    return {};                                  \
  }
#define ETCH_UPDATE(id, reads, writes)                       \
  template <class Tag, class... Args>                        \
  void id(const audited::Value<Tag>&, const Args&... args) { \
    ETCH_AUDIT_ACCESS(id, reads, writes)                     \
  }
#define ETCH_ACTION(id, reads, writes)   \
  template <class... Args>               \
  void id(const Args&... args) {         \
    ETCH_AUDIT_ACCESS(id, reads, writes) \
  }
#define ETCH_AUDIT_ACCESS(id, reads, writes)                              \
  [[maybe_unused]] const std::int64_t L = isa_.lanes;                     \
  [[maybe_unused]] const std::int64_t W = isa_.weight_bytes();            \
  [[maybe_unused]] const std::int64_t n = last_integer(args...);          \
  verb(#id, first_pointer(args...), reads, spread(#id, writes, args...)); \
  check_place(#id, args...);
#include "templates/verbs.def"
#undef ETCH_AUDIT_ACCESS
#undef ETCH_VERB
#undef ETCH_UPDATE
#undef ETCH_ACTION

  X4 part(const QuadX&, int) const { return {}; }
  I32 part(const QuadI&, int) const { return {}; }

 private:
  struct Place {  // a pointer without its type; memory < 0: none
    int memory = -1;
    Index offset;
  };
  struct Memory {
    std::string name;
    DType element = DType::kU8;
    Access access = Access::kRead;
    OperandExtent extent;
  };

  template <class Element>
  static Place place(const Ptr<Element>& p) {
    return {p.memory, p.offset};
  }
  static Place first_pointer() { return {}; }
  template <class Element, class... Rest>
  static Place first_pointer(const Ptr<Element>& p, const Rest&...) {
    return place(p);
  }
  template <class First, class... Rest>
  static Place first_pointer(const First&, const Rest&... rest) {
    return first_pointer(rest...);
  }

  // What spans() of an external function gets: data of constants, and no other memory.
  template <class Element>
  Element* known(const Ptr<Element>& p) const {
    if constexpr (std::is_const_v<Element>) return static_cast<Element*>(constant_data(place(p)));
    return nullptr;
  }
  template <class T>
  static const T& known(const T& argument) {
    return argument;
  }

  // A verb on floats makes one, or has been given one that another verb made.
  template <class Result>
  static constexpr FloatUse floats_of() {
    return std::is_same_v<Result, F32> ? FloatUse::kUsed : FloatUse::kNone;
  }

  // An argument of an external function: pointers take their span, the rest has none.
  struct Touched {
    Place at;
    bool read = false;  // else written
  };
  template <class Element>
  static Touched touched(const Ptr<Element>& p) {
    return {place(p), std::is_const_v<Element>};
  }
  template <class T>
  static Touched touched(const T&) {
    return {};
  }

  // A function of its own that is being recorded.
  struct Tile {
    int before;           // statements
    bool printed_before;  // its statements count already
  };

  static std::int64_t integer(int value) { return value; }
  template <class T>
  static std::int64_t integer(const T&) {
    return -1;
  }
  template <class... Args>
  static std::int64_t last_integer(const Args&... args) {
    std::int64_t last = 0;
    ((last = std::is_same_v<Args, int> ? integer(args) : last), ...);
    return last;
  }
  // store_spread(y, bytes, stride, n) is the one verb whose bytes are not contiguous.
  template <class... Args>
  static std::int64_t spread(std::string_view verb, std::int64_t writes, const Args&... args) {
    if (verb != "store_spread" || writes == 0) return writes;
    std::int64_t stride = 0;
    std::int64_t n = 0;
    ((std::is_same_v<Args, int> ? (stride = n, n = integer(args)) : 0), ...);
    return stride * (n - 1) + 1;
  }

  // repeat4_at(x, at, n) is the one verb that reads from two places.
  template <class... Args>
  void check_place(std::string_view, const Args&...) {}
  template <class First, class Second, class... Rest>
  void check_place(std::string_view verb, const Ptr<First>&, const Ptr<Second>& at,
                   const Rest&...) {
    check_read(verb, place(at), {0, 4});
  }

  int find_constant(std::string_view suffix) const;
  void check_type(int memory, DType used_as);
  void count_statement();
  Index begin_loop(std::int64_t count);
  Tile begin_tile(const std::string& name);
  void end_tile(const Tile& tile);
  void use_floats(FloatUse floats) {
    result_.uses_floats = result_.uses_floats || floats == FloatUse::kUsed;
  }
  const void* constant_data(const Place& at) const;
  void check_call(std::string_view name, std::span<const Span> spans,
                  std::initializer_list<Touched> arguments);
  void verb(std::string_view name, const Place& at, std::int64_t reads, std::int64_t writes);
  void check_read(std::string_view verb, const Place& at, const Span& span);
  void check_write(std::string_view verb, const Place& at, const Span& span);
  void add_use(std::string_view function, std::span<const Span> spans);
  void check_alignment(std::string_view verb, const Place& at, std::int64_t alignment);
  void find(std::string_view verb, const Memory& memory, const std::string& what);

  const Step& step_;
  IsaTraits isa_;
  std::vector<Memory> memory_;
  std::set<std::string> functions_;
  std::int64_t repetitions_ = 1;  // how often the current statement runs
  int silent_ = 0;                // > 0: inside a tile function that has been counted before
  AuditResult result_;
};

// Runs `step` under Audit.
AuditResult audit(const Step& step, const IsaTraits& isa, std::span<const OperandExtent> extents);

// The extents of `step`'s operands in the memory of `program`.
std::vector<OperandExtent> extents_of(const Program& program, const Step& step);

// Audits every step. A wrong access is a defect of the compiler: it is printed and aborts. Code
// that would be too long for compilers is reported as E-LIMIT.
void audit_program(const Program& program, const Limits& limits, Sink& sink);

}  // namespace etch
