// How much stack generated code can use: from the call graph that gcc writes beside an object with
// -fcallgraph-info=su, in which every function has its frame. Generated code has no recursion and
// no function pointers, so the deepest path is a bound. Interrupts come on top.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace etch::cli {

// What functions of the compiler's library (memset, floats in software) may use, which are not in
// the graph: twice the most that we have seen on any machine.
inline constexpr std::int64_t kLibraryStack = 128;

// What gcc leaves out of the frame of a function that takes a structure partly in registers, partly
// on the stack: the part in registers, at most 3 words of 32-bit Arm, aligned. Counted for every
// function that takes a structure.
inline constexpr std::int64_t kSplitStructure = 16;

class CallGraph {
 public:
  // Adds the text of one .ci file.
  void add(std::string_view text);

  // The frames of functions in assembly, which a compiler does not know: all whose symbol is that
  // of a function `name` in a namespace `steps`. To be called after all add().
  void set_frame(const std::string& name, std::int64_t bytes);

  // Most bytes of stack of a call of the function with this symbol. Null if there is none: the
  // function or one that it calls is not known, recursive, or has a frame of no fixed size.
  std::optional<std::int64_t> deepest(const std::string& symbol) const;

 private:
  struct Function {
    std::optional<std::int64_t> frame;  // null: of no fixed size
    std::set<std::string> calls;
  };
  std::optional<std::int64_t> deepest(const std::string& symbol, std::set<std::string>& path,
                                      std::map<std::string, std::int64_t>& known) const;

  std::map<std::string, Function> functions_;
};

// A function that compilers call of their own accord: "memcpy", "__aeabi_fadd", "__mulsf3".
bool is_library_function(std::string_view symbol);

}  // namespace etch::cli
