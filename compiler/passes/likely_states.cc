// See likely_states.h.
#include "compiler/passes/likely_states.h"

#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>

namespace etch {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// The words of a name in small letters: "rnn1_stateIn" is "rnn1", "state", "in".
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool begins = true;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      begins = true;
      continue;
    }
    if (i != 0 && is_upper(c) && is_letter(name[i - 1]) && !is_upper(name[i - 1])) begins = true;
    if (begins) words.emplace_back();
    begins = false;
    words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

// What is left without the words that say on which side of an inference a value is; `ends`: of
// these letters one at the end as well.
std::string stem_of(std::string_view name, std::string_view ends) {
  static const std::set<std::string_view> kSides = {
      "in",   "ins",     "input",   "inputs",  "prev", "previous", "past",
      "last", "initial", "init",    "out",     "outs", "output",   "outputs",
      "next", "new",     "present", "updated", "n"};
  std::string stem;
  for (const std::string& word : words_of(name)) {
    if (!kSides.contains(word)) stem += (stem.empty() ? "" : "_") + word;
  }
  if (stem.size() > 1 && ends.find(stem.back()) != std::string_view::npos) stem.pop_back();
  return stem;
}

bool are_alike(const Value& input, const Value& output) {
  return input.dtype == output.dtype && input.shape == output.shape &&
         element_count(*input.shape) > 1;
}

// Outputs by what their names may stand for.
std::multimap<std::string, ValueId> stems_of_outputs(const Graph& graph) {
  std::multimap<std::string, ValueId> stems;
  for (const ValueId id : graph.outputs) {
    const std::string& name = graph.value(id).name;
    for (const std::string& stem : std::set{stem_of(name, ""), stem_of(name, "n")}) {
      if (!stem.empty()) stems.emplace(stem, id);
    }
  }
  return stems;
}

}  // namespace

std::vector<StateRequest> likely_states(const Graph& graph) {
  const std::multimap<std::string, ValueId> stems = stems_of_outputs(graph);
  std::vector<StateRequest> pairs;
  std::set<ValueId> taken;
  for (const ValueId in : graph.inputs) {
    const Value& input = graph.value(in);
    std::set<ValueId> found;
    for (const std::string& stem : std::set{stem_of(input.name, ""), stem_of(input.name, "0")}) {
      const auto [first, last] = stems.equal_range(stem);
      for (auto each = first; each != last; ++each) {
        if (each->second != in && are_alike(input, graph.value(each->second))) {
          found.insert(each->second);
        }
      }
    }
    if (found.empty()) continue;
    if (found.size() != 1 || !taken.insert(*found.begin()).second) return {};
    pairs.push_back({graph.value(*found.begin()).name, input.name});
  }
  const bool is_all = pairs.size() == graph.inputs.size() || pairs.size() == graph.outputs.size();
  return is_all ? std::vector<StateRequest>{} : pairs;
}

}  // namespace etch
