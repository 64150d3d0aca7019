// Numbers in the text of a step that may depend on the size of the network. While an observer of
// SizeMarks is there, the Recorder puts marks around them: numbers of trips, strides and offsets,
// and integers that functions of the runtime take. What verbs take stays plain: it may have to be
// known when compiling. Texts of two sizes that differ in marked numbers only are one function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/program/size_formula.h"

namespace etch {

struct SizeMarks {
  static bool on();
};

// ---- what the Recorder prints ----

// A number as it is: a limit of a loop, an argument.
std::string marked(std::int64_t value);
// A part of a sum after a pointer, " + row * 384" and " + 64": zero is nothing then.
std::string marked_term(const std::string& variable, std::int64_t coefficient);
std::string marked_offset(std::int64_t value);
// All integers in the text of a struct of the runtime.
std::string with_marked_integers(std::string_view text);
// Where a function has its parameters and its call its arguments: "size" comes there if the
// function needs it.
std::string marked_parameters(const std::string& list);
std::string marked_arguments(const std::string& function, const std::string& list);
// The same text with marked numbers as plain ones.
std::string without_marks(std::string_view text);

// Whether what begins here is all that a mark holds.
bool is_in_mark(std::string_view text, std::size_t position);

// ---- what becomes of it ----

struct MarkedText {
  std::string skeleton;  // with marks in place of numbers
  std::vector<std::int64_t> numbers;
};
MarkedText split_marks(std::string_view text);

// Puts formulas in place of the numbers of the functions of one step, which share one list: "int
// size" becomes a parameter of the functions that need it. Returns how many formulas were taken.
class MarkFiller {
 public:
  explicit MarkFiller(const std::vector<SizeFormula>& numbers) : numbers_(numbers) {}
  // The next function, with its marks; callees come before their callers.
  std::string fill(const std::string& function, std::string_view text);
  bool done() const { return next_ == numbers_.size(); }

 private:
  bool needs_size(std::string_view text) const;

  const std::vector<SizeFormula>& numbers_;
  std::size_t next_ = 0;
  std::vector<std::string> sized_;  // functions that take the size
};

}  // namespace etch
