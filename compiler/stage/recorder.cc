// The text side of the Recorder; see recorder.h.
#include "compiler/stage/recorder.h"

#include <algorithm>
#include <limits>

#include "compiler/base/check.h"
#include "compiler/stage/size_marks.h"

namespace etch {

namespace recorded {

Index::Index() = default;
Index::Index(std::int64_t value) : constant(value) {}
Index::Index(const Index& other) = default;
Index::Index(Index&& other) noexcept = default;
Index& Index::operator=(const Index& other) = default;
Index& Index::operator=(Index&& other) noexcept = default;
Index::~Index() = default;

void Index::add(const Index& other) {
  constant += other.constant;
  for (const auto& added : other.terms) {
    const auto same = std::find_if(terms.begin(), terms.end(),
                                   [&](const auto& term) { return term.first == added.first; });
    if (same == terms.end()) {
      terms.push_back(added);
    } else {
      same->second += added.second;
    }
  }
}

Index operator+(Index a, const Index& b) {
  a.add(b);
  return a;
}

Index operator*(Index a, std::int64_t factor) {
  a.constant *= factor;
  for (auto& term : a.terms) term.second *= factor;
  return a;
}

// base + row * 3584 + 64. The variables are ptrdiff_t, so the sum is as wide as an address.
std::string to_string(const std::string& base, const Index& offset) {
  std::string out = base;
  if (SizeMarks::on()) {
    for (const auto& [variable, coefficient] : offset.terms)
      out += marked_term(variable, coefficient);
    return out + marked_offset(offset.constant);
  }
  for (const auto& [variable, coefficient] : offset.terms) {
    if (coefficient == 0) continue;
    const std::int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
    out += coefficient < 0 ? " - " : " + ";
    out += magnitude == 1 ? variable : cat(variable, " * ", magnitude);
  }
  if (offset.constant > 0) out += cat(" + ", offset.constant);
  if (offset.constant < 0) out += cat(" - ", -offset.constant);
  return out;
}

std::string text_of(int v) {
  // The least int has no literal: 2147483648 is a long.
  if (v == std::numeric_limits<int>::min()) return cat("(", v + 1, " - 1)");
  return cat(v);
}

std::string text_of(float v) { return cat(hex_float(v), " /* ", decimal(v), " */"); }

}  // namespace recorded

namespace {
constexpr std::string_view kConst = "const ";
constexpr std::string_view kVocabulary = "isa::";
constexpr std::string_view kRuntime = "rt::";
constexpr std::string_view kAsBytes = "reinterpret_cast<const uint8_t*>(";

std::string type_name(recorded::Pointer pointer) {
  return pointer_type(pointer.element, pointer.to_const);
}

// What a call of the runtime may take from the size: every integer of it.
std::string marked_argument(const std::string& text) {
  const bool has_integers =
      text.starts_with(kRuntime) || text.find_first_not_of("-0123456789") == std::string::npos;
  return has_integers ? with_marked_integers(text) : text;
}

// Verbs on the first n elements, n last, which no instruction has in itself.
bool takes_count(std::string_view verb) {
  return verb.ends_with("_n") || verb == "store_slice" || verb == "store_spread";
}

}  // namespace

std::string definition_of(const RecordedFunction& function) {
  using Kind = RecordedFunction::Kind;
  if (function.kind == Kind::kStep) return function.text;
  const bool is_called = function.kind == Kind::kCalledTile;
  return cat(is_called ? "[[gnu::noinline]] static " : "[[gnu::always_inline]] static inline ",
             function.text);
}

std::string text_of_functions(const std::vector<RecordedFunction>& functions) {
  std::string out;
  for (const RecordedFunction& function : functions)
    out += cat(out.empty() ? "" : "\n", definition_of(function));
  return out;
}

Recorder::Recorder(const Step& step, const std::string& parameters)
    : step_(step), shares_(step.partition) {
  Function& own = open_.emplace_back();
  own.name = step.name;
  own.text.line(cat("// ", comment_text(step.summary)));
  for (const std::string& fact : step.facts) own.text.line(cat("// ", comment_text(fact)));
  const std::string all =
      cat(parameters_of(step), step.operands.empty() || parameters.empty() ? "" : ", ", parameters);
  own.text.open(
      cat("void ", step.name, "(", SizeMarks::on() ? marked_parameters(all) : all, ") noexcept"));
}

// Compilers work twice on what they inline: one file of ResNet-8 took 4.2 s so, and 3.3 s with
// called tiles. Where the tile is so long and no registers of vectors have to be kept across a
// call, that costs little.
static RecordedFunction::Kind kind_of_tile(int statements, const IsaTraits& isa) {
  constexpr int kLong = 150;
  const bool is_called = isa.calls_lose_vectors && statements >= kLong;
  return is_called ? RecordedFunction::Kind::kCalledTile : RecordedFunction::Kind::kInlinedTile;
}

std::vector<RecordedFunction> Recorder::functions() const {
  ETCH_CHECK(open_.size() == 1);
  std::vector<RecordedFunction> out;
  const auto add = [&](const Function& function, std::string text, RecordedFunction::Kind kind) {
    out.push_back({function.name, std::move(text), kind, function.spaces, function.names_step});
  };
  for (const Function& function : finished_)
    add(function, function.text.text(), kind_of_tile(function.statements, isa()));
  Writer own = open_.front().text;
  own.close();
  add(open_.front(), own.text(), RecordedFunction::Kind::kStep);
  return out;
}

std::string Recorder::text() const { return text_of_functions(functions()); }

int Recorder::statements() const {
  int sum = open_.front().statements;
  for (const Function& function : finished_) sum += function.statements;
  return sum;
}

std::vector<double> Recorder::work() const {
  return adds_across_shares_ ? std::vector<double>() : shares_.work();
}

std::string Recorder::printed(const recorded::Argument& argument) {
  std::string text = argument.text();
  const std::string name = step_.name + "_";
  if (text.starts_with(name) || text.starts_with(cat(kAsBytes, name))) {
    open_.back().names_step = true;
  }
  return text;
}

std::string Recorder::join(recorded::Arguments arguments) {
  std::string out;
  for (const recorded::Argument& argument : arguments) {
    out += cat(out.empty() ? "" : ", ", printed(argument));
  }
  return out;
}

namespace {

// The arguments of a verb: of numbers only the count of elements may be marked.
std::string of_verb(std::string arguments, std::string_view verb) {
  if (!SizeMarks::on() || !takes_count(verb)) return arguments;
  const std::size_t last = arguments.rfind(' ') + 1;
  return arguments.substr(0, last) + with_marked_integers(arguments.substr(last));
}

}  // namespace

std::string Recorder::constant_name(std::string_view suffix) const {
  const auto found =
      std::find_if(step_.constants.begin(), step_.constants.end(),
                   [&](const ConstantArray& constant) { return constant.suffix == suffix; });
  const bool is_own = found == step_.constants.end() || found->owner.empty();
  return cat(is_own ? step_.name : found->owner, "_", suffix);
}

std::string Recorder::bytes_of_constant(std::string_view suffix) const {
  const bool has_bytes =
      std::none_of(step_.constants.begin(), step_.constants.end(), [&](const ConstantArray& each) {
        return each.suffix == suffix && bytes_of(each.element) > 1;
      });
  return has_bytes ? constant_name(suffix) : cat(kAsBytes, constant_name(suffix), ")");
}

const void* Recorder::constant_data(const std::string& name) const {
  for (const ConstantArray& constant : step_.constants) {
    if (constant_name(constant.suffix) == name || bytes_of_constant(constant.suffix) == name) {
      return constant.bytes.data();
    }
  }
  return nullptr;
}

double Recorder::work_of(std::span<const Span> spans) {
  constexpr double kCall = 20;
  double bytes = 0;
  for (const Span& span : spans) bytes += static_cast<double>(span.bytes());
  return kCall + bytes / 8;
}

// for (ptrdiff_t row = 0; row < 28; ++row), or the iterations of one share.
Recorder::Index Recorder::begin_loop(const char* variable, std::int64_t count) {
  ++open_.back().statements;
  std::string first = "0";
  std::string limit = SizeMarks::on() ? marked(count) : cat(count);
  if (shares_.divides(count)) {
    const std::string part = cat(" * ", count, " / ", shares_.count());
    first = cat("ptrdiff_t{share}", part);
    limit = cat("(ptrdiff_t{share} + 1)", part);
    loop_values_.clear();
  }
  shares_.enter_loop(count);
  out().open(cat("for (ptrdiff_t ", variable, " = ", first, "; ", variable, " < ", limit, "; ++",
                 variable, ")"));
  Index index;
  index.terms.emplace_back(variable, 1);
  return index;
}

void Recorder::end_loop() {
  out().close();
  shares_.leave_loop();
}

void Recorder::begin_block() { out().open({}); }

void Recorder::end_block() { out().close(); }

void Recorder::print_call(std::string_view space, std::string_view function,
                          recorded::Arguments arguments, double work) {
  open_.back().spaces.vocabulary |= space == kVocabulary;
  open_.back().spaces.runtime |= space == kRuntime;
  if (space == kVocabulary || !SizeMarks::on()) {
    effect(cat(space, function, "(", of_verb(join(arguments), function), ");"), work);
    return;
  }
  std::string list;
  for (const recorded::Argument& argument : arguments)
    list += cat(list.empty() ? "" : ", ", marked_argument(printed(argument)));
  effect(cat(space, function, "(", marked_arguments(std::string(function), list), ");"), work);
}

void Recorder::effect(const std::string& text, double work) {
  const int share = shares_.add_effect(work);
  out().line(share < 0 ? text : cat("if (share == ", share, ") ", text));
  ++open_.back().statements;
}

void Recorder::statement(const std::string& text) {
  shares_.add_value();
  out().line(text);
  ++open_.back().statements;
}

// Every value starts as a constant; the first update of it takes the const away.
std::string Recorder::define(const char* type, const Name& name, const char* verb,
                             recorded::Arguments arguments) {
  std::string value = name.text();
  open_.back().spaces.vocabulary = true;
  const std::string rest =
      cat("isa::", type, " ", value, " = isa::", verb, "(", of_verb(join(arguments), verb), ");");
  statement(cat(kConst, rest));
  if (open_.size() == 1) loop_values_.insert(value);
  open_.back().constants[value] = out().text().size() - 1 - rest.size() - kConst.size();
  return value;
}

void Recorder::update(const std::string& value, const char* verb, recorded::Arguments arguments) {
  const std::string whole = value.substr(0, value.find('.'));  // of a quad's part, the quad
  make_mutable(whole);
  const bool is_own = open_.size() > 1 || loop_values_.count(whole) > 0;
  if (step_.partition.shares > 1 && shares_.in_divided_loop() && !is_own) {
    adds_across_shares_ = true;
  }
  const std::string more = of_verb(join(arguments), verb);
  open_.back().spaces.vocabulary = true;
  statement(cat(value, " = isa::", verb, "(", value, more.empty() ? "" : ", ", more, ");"));
}

void Recorder::make_mutable(const std::string& value) {
  auto& constants = open_.back().constants;
  const auto found = constants.find(value);
  if (found == constants.end()) return;
  const std::size_t position = found->second;
  constants.erase(found);
  out().erase(position, kConst.size());
  for (auto& entry : constants) {
    if (entry.second > position) entry.second -= kConst.size();
  }
}

void Recorder::declare_base(const Name& name, recorded::Pointer type,
                            const recorded::Argument& value) {
  open_.back().spaces.vocabulary = true;
  statement(cat(type_name(type), " const ", name.text(), " = isa::base(", printed(value), ");"));
}

void Recorder::begin_function(const std::string& name,
                              std::initializer_list<recorded::Parameter> parameters) {
  Function& function = open_.emplace_back();
  function.name = cat(step_.name, "_", name);
  shares_.begin_function();
  std::string list;
  for (const auto& [type, parameter] : parameters) {
    list += cat(list.empty() ? "" : ", ", type_name(type), " ", parameter);
  }
  if (SizeMarks::on()) list = marked_parameters(list);
  function.text.open(cat("void ", function.name, "(", list, ")"));
}

void Recorder::end_function(recorded::Arguments arguments) {
  const std::string name = open_.back().name;
  const double work = finish_function();
  open_.back().names_step = true;
  print_call("", name, arguments, work);
}

// A function is recorded anew for every call; all recordings must agree, because the product
// holds it once.
double Recorder::finish_function() {
  const double work = shares_.end_function();
  Function function = std::move(open_.back());
  open_.pop_back();
  function.text.close();
  const auto same = std::find_if(finished_.begin(), finished_.end(), [&](const Function& other) {
    return other.name == function.name;
  });
  if (same == finished_.end()) {
    finished_.push_back(std::move(function));
  } else {
    ETCH_CHECK(same->text.text() == function.text.text());
  }
  return work;
}

std::string parameters_of(const Step& step) {
  std::string out;
  for (const Operand& operand : step.operands) {
    out += cat(out.empty() ? "" : ", ",
               pointer_type(operand.element, operand.access == Access::kRead), " ", operand.name);
  }
  if (step.partition.shares > 1) out += ", int share";
  return out;
}

}  // namespace etch
