// Reads the graphs, which are lines of two kinds; see stack_use.h:
//   node: { title: "SYMBOL" label: "NAME\nFILE:LINE:COLUMN\n56 bytes (static)" }
//   edge: { sourcename: "SYMBOL" targetname: "SYMBOL" label: "FILE:LINE:COLUMN" }
#include "compiler/host/stack_use.h"

#include <algorithm>
#include <cstdint>

#include "compiler/base/text.h"

namespace etch::cli {
namespace {

// What is in quotes after `key`; empty if the key is not there.
std::string_view quoted(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  const std::size_t open = line.find('"');
  if (open == std::string_view::npos) return {};
  line.remove_prefix(open + 1);
  return line.substr(0, line.find('"'));
}

// The types of "void f(const X&, int32_t) [with X = Y]", a function's name.
std::string_view parameters_of(std::string_view name) {
  name = name.substr(0, name.find(" [with "));
  const std::size_t end = name.rfind(')');
  if (end == std::string_view::npos) return {};
  std::size_t begin = end;
  for (int open = 1; open > 0 && begin-- > 0;) open += (name[begin] == ')') - (name[begin] == '(');
  return name.substr(begin + 1, end - begin - 1);  // begin is -1 where nothing opens
}

// Whether a type that is neither a pointer nor a reference nor a number is among them.
bool has_structure(std::string_view parameters) {
  constexpr std::string_view kNumbers[] = {
      "void",    "bool",     "char",    "int",      "long int", "unsigned int",
      "float",   "double",   "int8_t",  "uint8_t",  "int16_t",  "uint16_t",
      "int32_t", "uint32_t", "int64_t", "uint64_t", "size_t",   "ptrdiff_t"};
  const auto is_number = [&](std::string_view type) {
    return std::find(std::begin(kNumbers), std::end(kNumbers), type) != std::end(kNumbers);
  };
  while (!parameters.empty()) {
    const std::string_view type = parameters.substr(0, parameters.find(", "));
    parameters.remove_prefix(std::min(type.size() + 2, parameters.size()));
    if (type.find_first_of("*&") == std::string_view::npos && !is_number(type)) return true;
  }
  return false;
}

// Of "NAME\n...\n56 bytes (static)", a node's label. Null for frames of no fixed size.
std::optional<std::int64_t> frame_of(std::string_view label) {
  constexpr std::string_view kStatic = " bytes (static)";
  if (!label.ends_with(kStatic)) return std::nullopt;
  label.remove_suffix(kStatic.size());
  const std::size_t before = label.rfind("\\n");
  if (before == std::string_view::npos) return std::nullopt;
  const auto bytes = parse_integer(label.substr(before + 2), 0, INT32_MAX);
  const std::string_view name = label.substr(0, label.find("\\n"));
  if (!bytes || !has_structure(parameters_of(name))) return bytes;
  return *bytes + kSplitStructure;
}

}  // namespace

bool is_library_function(std::string_view symbol) {
  constexpr std::string_view kMemory[] = {"memcpy", "memset", "memmove"};
  if (std::find(std::begin(kMemory), std::end(kMemory), symbol) != std::end(kMemory)) return true;
  if (symbol.starts_with("__aeabi_")) {
    symbol.remove_prefix(8);
    constexpr std::string_view kOthers[] = {"unwind", "atexit", "read_tp",
                                            "vec",    "errno",  "assert"};
    return std::none_of(std::begin(kOthers), std::end(kOthers),
                        [&](std::string_view start) { return symbol.starts_with(start); });
  }
  // Arithmetic of libgcc: "__mulsf3", "__fixdfsi", "__extendsfdf2", "__ashldi3".
  if (!symbol.starts_with("__")) return false;
  constexpr std::string_view kEnds[] = {"sf2",  "sf3",  "df2",  "df3",  "si3",  "di3",
                                        "si2",  "di2",  "sfsi", "dfsi", "sfdi", "dfdi",
                                        "sisf", "sidf", "disf", "didf"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return symbol.ends_with(end); });
}

void CallGraph::add(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    if (line.starts_with("edge:")) {
      functions_[std::string(quoted(line, "sourcename:"))].calls.emplace(
          quoted(line, "targetname:"));
    } else if (line.starts_with("node:") && line.find("shape : ellipse") == line.npos) {
      functions_[std::string(quoted(line, "title:"))].frame = frame_of(quoted(line, "label:"));
    }
  }
}

void CallGraph::set_frame(const std::string& name, std::int64_t bytes) {
  const std::string mangled = "5steps" + std::to_string(name.size()) + name;
  for (auto& [symbol, function] : functions_) {
    if (symbol.find(mangled) != std::string::npos) function.frame = bytes;
  }
}

std::optional<std::int64_t> CallGraph::deepest(const std::string& symbol) const {
  std::set<std::string> path;
  std::map<std::string, std::int64_t> known;
  return deepest(symbol, path, known);
}

std::optional<std::int64_t> CallGraph::deepest(const std::string& symbol,
                                               std::set<std::string>& path,
                                               std::map<std::string, std::int64_t>& known) const {
  if (const auto found = known.find(symbol); found != known.end()) return found->second;
  const auto function = functions_.find(symbol);
  if (function == functions_.end()) {
    return is_library_function(symbol) ? std::optional(kLibraryStack) : std::nullopt;
  }
  if (!function->second.frame || !path.insert(symbol).second) return std::nullopt;
  std::int64_t below = 0;
  for (const std::string& called : function->second.calls) {
    const std::optional<std::int64_t> depth = deepest(called, path, known);
    if (!depth) return std::nullopt;
    below = std::max(below, *depth);
  }
  path.erase(symbol);
  return known[symbol] = *function->second.frame + below;
}

}  // namespace etch::cli
