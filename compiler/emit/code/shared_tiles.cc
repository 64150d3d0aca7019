// See shared_tiles.h. What knows its step's constants, or calls another of its functions, is never
// shared.
#include "compiler/emit/code/shared_tiles.h"

#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/emit/code/shared_bodies.h"

namespace etch {
namespace {

constexpr char kName[] = "@";  // in place of its own name in a function's text

// A tile function of a step.
struct Tile {
  std::size_t step = 0;
  RecordedFunction function;  // "n29_conv_tile_1x5_c64"
  std::string role;           // "conv_tile_1x5_c64"
  std::string key;            // its text without the name, and an empty line: what names hash
};

std::string with_name(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from + "(", at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::vector<Tile> tiles_of(const StepText& step, std::size_t index) {
  std::vector<Tile> out;
  for (std::size_t i = 0; i + 1 < step.functions.size(); ++i) {
    const RecordedFunction& function = step.functions[i];
    if (function.names_step) continue;
    out.push_back({index, function, step.kind + function.name.substr(step.name.size()),
                   cat(with_name(definition_of(function), function.name, kName), "\n")});
  }
  return out;
}

void drop(StepText& step, const std::string& name) {
  std::erase_if(step.functions, [&](const RecordedFunction& each) { return each.name == name; });
}

void rename_calls(StepText& step, const std::string& from, const std::string& to) {
  for (RecordedFunction& function : step.functions)
    function.text = with_name(std::move(function.text), from, to);
}

}  // namespace

std::vector<RecordedFunction> extract_shared_tiles(std::vector<StepText>& steps) {
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (Tile& tile : tiles_of(steps[i], i)) tiles.push_back(std::move(tile));
  std::map<std::string, int> uses;
  for (const Tile& tile : tiles) ++uses[tile.key];
  std::map<std::string, std::map<std::string, int>> texts;  // by role
  for (const Tile& tile : tiles)
    if (uses[tile.key] > 1) ++texts[tile.role][tile.key];

  std::vector<RecordedFunction> out;
  std::map<std::string, std::string> names;  // by key
  for (const Tile& tile : tiles) {
    if (uses[tile.key] < 2) continue;
    const bool is_alone = texts[tile.role].size() == 1;
    const auto [name, is_first] =
        names.emplace(tile.key, is_alone ? tile.role : name_by_content(tile.role, tile.key));
    const std::string& own = tile.function.name;
    if (is_first) {
      RecordedFunction& shared = out.emplace_back(tile.function);
      shared.text = with_name(std::move(shared.text), own, name->second);
      // A header has no functions that some of its files do not use, but inlined ones.
      shared.kind = RecordedFunction::Kind::kInlinedTile;
      shared.name = name->second;
    }
    drop(steps[tile.step], own);
    rename_calls(steps[tile.step], own, name->second);
  }
  return out;
}

}  // namespace etch
