// The stage that prints: running a kernel under a Recorder yields the C++ text of one step's
// function and of the inlined tile functions it calls. Names come from the kernel (role and
// position), never from counters. See templates/stage.h for what a stage offers.
//
// Every kernel is compiled against this class for all types it works on, so what needs no types is
// in recorder.cc: a call hands its arguments on by address, with functions that print them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/program/step.h"
#include "compiler/stage/runtime_text.h"
#include "compiler/stage/work_shares.h"
#include "compiler/text/names.h"
#include "compiler/text/writer.h"
#include "templates/external.h"
#include "templates/stage.h"

namespace etch {

namespace recorded {
// A sum constant + coefficient * variable + ..., printed as an index.
struct Index {
  std::int64_t constant = 0;
  std::vector<std::pair<std::string, std::int64_t>> terms;

  Index();
  Index(std::int64_t value);  // NOLINT: an index may be a plain number
  Index(const Index& other);
  Index(Index&& other) noexcept;
  Index& operator=(const Index& other);
  Index& operator=(Index&& other) noexcept;
  ~Index();
  friend Index operator+(Index a, const Index& b);
  friend Index operator*(Index a, std::int64_t factor);
  void add(const Index& other);
};

template <class Element>
struct Ptr {
  std::string base;
  Index offset;  // in elements
  friend Ptr operator+(Ptr p, const Index& i) {
    p.offset.add(i);
    return p;
  }
};

// A value in the product, known here by its name.
template <class Tag>
struct Value {
  std::string text;
};

std::string to_string(const std::string& base, const Index& offset);
template <class Element>
std::string text_of(const Ptr<Element>& p) {
  return to_string(p.base, p.offset);
}
template <class Tag>
std::string text_of(const Value<Tag>& v) {
  return v.text;
}
std::string text_of(int v);
std::string text_of(float v);

// Something to print, which must live until then.
struct Argument {
  template <class T>
  explicit Argument(const T& argument) : value(&argument), print(&text_at<T>) {}
  template <class T>
  static std::string text_at(const void* at) {
    return text_of(*static_cast<const T*>(at));
  }
  std::string text() const { return print(value); }

  const void* value;
  std::string (*print)(const void*);
};
using Arguments = std::initializer_list<Argument>;

// The type of Ptr<Element>.
struct Pointer {
  DType element;
  bool to_const;
};
template <class Element>
Pointer pointer_to() {
  return {DTypeOf<std::remove_const_t<Element>>::value, std::is_const_v<Element>};
}

struct Parameter {
  Pointer type;
  const char* name;
};
}  // namespace recorded

// The namespaces of which a text names something.
struct NamedSpaces {
  bool vocabulary = false;  // "isa::"
  bool runtime = false;     // "rt::"
  void add(const NamedSpaces& more) {
    vocabulary |= more.vocabulary;
    runtime |= more.runtime;
  }
};

// A function that a step consists of, as it is printed.
struct RecordedFunction {
  // The step itself, or a tile of it: inlined where it is called, or not.
  enum class Kind { kStep, kInlinedTile, kCalledTile };

  std::string name;
  std::string text;  // from "void" (of a step: from its comments) to the final newline
  Kind kind = Kind::kStep;
  NamedSpaces spaces;
  bool names_step = false;  // in its body: a constant of the step, or another of its functions
};

// Its text as C++ has it: a tile with attributes and linkage.
std::string definition_of(const RecordedFunction& function);

// With an empty line between them.
std::string text_of_functions(const std::vector<RecordedFunction>& functions);

// The parameters of a step's function: "const uint8_t* x, uint8_t* y", and "int share" after them
// if its work is divided.
std::string parameters_of(const Step& step);

class Recorder {
 public:
  using Index = recorded::Index;
  template <class Element>
  using Ptr = recorded::Ptr<Element>;
#define ETCH_STAGE_TYPE(id) using id = recorded::Value<struct id##Tag>;
#include "templates/types.def"
#undef ETCH_STAGE_TYPE

  // `parameters` come after those of the step.
  explicit Recorder(const Step& step, const std::string& parameters = {});

  const IsaTraits& isa() const { return isa_; }
  void set_isa(const IsaTraits& isa) { isa_ = isa; }

  // Tile functions, callees before their callers, and at last the step's own function.
  std::vector<RecordedFunction> functions() const;
  // Their text, with an empty line between them.
  std::string text() const;
  // Statements as printed: a tile function counts once, however often it is called.
  int statements() const;
  // The headers of runtime/ that the calls so far need.
  const std::set<std::string_view>& headers() const { return headers_; }
  // The work of each share of step.partition; nothing if the step cannot be divided like that
  // because a divided loop adds to a value of all shares.
  std::vector<double> work() const;

  // ---- what kernels use; see templates/stage.h ----
  template <class Element>
  Ptr<Element> operand(int i) const {
    return {step_.operands[static_cast<std::size_t>(i)].name, {}};
  }
  template <class Element>
  Ptr<Element> constant(std::string_view suffix) const {
    return {sizeof(Element) == 1 ? bytes_of_constant(suffix) : constant_name(suffix), {}};
  }

  template <class Body>
  void loop(const char* variable, std::int64_t count, Body body) {
    if (count == 1) body(Index(0));
    if (count <= 1) return;
    body(begin_loop(variable, count));
    end_loop();
  }

  // A scope of its own, so that names may repeat.
  template <class Body>
  void block(Body body) {
    begin_block();
    body();
    end_block();
  }

  template <class Element>
  Ptr<Element> base(const Name& name, const Ptr<Element>& p) {
    declare_base(name, recorded::pointer_to<Element>(), recorded::Argument(p));
    return {name.text(), {}};
  }

  // A function of its own, inlined unless it is long: printed once per name, called here.
  template <class Body, class... Elements>
  void inlined(const std::string& name, Body body,
               const std::pair<const char*, Ptr<Elements>>&... args) {
    begin_function(name, {recorded::Parameter{recorded::pointer_to<Elements>(), args.first}...});
    body(Ptr<Elements>{args.first, {}}...);
    end_function({recorded::Argument(args.second)...});
  }

  template <class Function, class... Args>
  void call(const Function& function, const Args&... args) {
    headers_.insert(function.header());
    print_call(function.space(), function.name(), {recorded::Argument(args)...},
               work_of(function.spans(known(args)...)));
  }

  void comment(const std::string& text) { out().line(cat("// ", text)); }

#define ETCH_VERB(Result, id, reads, writes)                            \
  template <class... Args>                                              \
  Result id(const Name& name, const Args&... args) {                    \
    return {define(#Result, name, #id, {recorded::Argument(args)...})}; \
  }
#define ETCH_UPDATE(id, reads, writes)                            \
  template <class Tag, class... Args>                             \
  void id(const recorded::Value<Tag>& acc, const Args&... args) { \
    update(acc.text, #id, {recorded::Argument(args)...});         \
  }
#define ETCH_ACTION(id, reads, writes)                          \
  template <class... Args>                                      \
  void id(const Args&... args) {                                \
    print_call("isa::", #id, {recorded::Argument(args)...}, 1); \
  }
#include "templates/verbs.def"
#undef ETCH_VERB
#undef ETCH_UPDATE
#undef ETCH_ACTION

  // Part i of a Quad (what interleave4 and widen4 give).
  X4 part(const QuadX& quad, int i) const { return {cat(quad.text, ".v", i)}; }
  I32 part(const QuadI& quad, int i) const { return {cat(quad.text, ".v", i)}; }

 private:
  struct Function {
    std::string name;
    Writer text;
    int statements = 0;
    NamedSpaces spaces;
    bool names_step = false;                       // see RecordedFunction
    std::map<std::string, std::size_t> constants;  // where "const" of a value is in the text
  };

  Writer& out() { return open_.back().text; }
  std::string join(recorded::Arguments arguments);
  // The text of an argument; notes whether it is one of the step's constants.
  std::string printed(const recorded::Argument& argument);
  std::string constant_name(std::string_view suffix) const;
  // The same as a pointer to bytes, whatever the elements are.
  std::string bytes_of_constant(std::string_view suffix) const;
  // Of external functions, whose loops are not seen here: they touch so many bytes.
  static double work_of(std::span<const Span> spans);
  // What spans() of an external function gets: data of constants, and no other memory.
  template <class Element>
  Element* known(const Ptr<Element>& p) const {
    if constexpr (std::is_const_v<Element>) {
      if (p.offset.constant == 0 && p.offset.terms.empty())
        return static_cast<Element*>(constant_data(p.base));
    }
    return nullptr;
  }
  template <class T>
  static const T& known(const T& argument) {
    return argument;
  }
  const void* constant_data(const std::string& name) const;
  Index begin_loop(const char* variable, std::int64_t count);
  void end_loop();
  void begin_block();
  void end_block();
  void statement(const std::string& text);
  void effect(const std::string& text, double work);
  void print_call(std::string_view space, std::string_view function, recorded::Arguments arguments,
                  double work);
  // Returns the name of the value.
  std::string define(const char* type, const Name& name, const char* verb,
                     recorded::Arguments arguments);
  void update(const std::string& value, const char* verb, recorded::Arguments arguments);
  void make_mutable(const std::string& value);
  void declare_base(const Name& name, recorded::Pointer type, const recorded::Argument& value);
  void begin_function(const std::string& name,
                      std::initializer_list<recorded::Parameter> parameters);
  void end_function(recorded::Arguments arguments);  // and calls it
  double finish_function();                          // returns its work

  const Step& step_;
  IsaTraits isa_;
  std::vector<Function> finished_;  // callees before their callers
  std::deque<Function> open_;       // innermost last; a deque, so that references stay valid
  WorkShares shares_;
  std::set<std::string_view> headers_;
  std::set<std::string> loop_values_;  // defined in the divided loop
  bool adds_across_shares_ = false;
};

}  // namespace etch
