// See shared_tiles.h. Functions are found where the Recorder begins and ends them.
#include "compiler/emit/code/shared_tiles.h"

#include <map>
#include <string_view>
#include <utility>

#include "compiler/emit/code/shared_bodies.h"

namespace etch {
namespace {

constexpr std::string_view kBegin = "[[gnu::always_inline]] static inline void ";
constexpr std::string_view kEnd = "\n}\n\n";
constexpr char kName[] = "@";  // in place of its own name in a function's text

// A tile function of a step.
struct Tile {
  std::size_t step = 0;
  std::string name;  // "n29_conv_tile_1x5_c64"
  std::string role;  // "conv_tile_1x5_c64"
  std::string text;  // whole
  std::string key;   // without the name
};

std::string with_name(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from + "(", at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::vector<Tile> tiles_of(const StepText& step, std::size_t index) {
  std::vector<Tile> out;
  for (std::size_t at = 0; step.text.compare(at, kBegin.size(), kBegin) == 0;) {
    const std::size_t end = step.text.find(kEnd, at) + kEnd.size();
    const std::size_t from = at + kBegin.size();
    Tile tile{index, step.text.substr(from, step.text.find('(', from) - from), {}, {}, {}};
    tile.role = step.kind + tile.name.substr(step.name.size());
    tile.text = step.text.substr(at, end - at);
    tile.key = with_name(tile.text, tile.name, kName);
    // What knows the step's constants, or calls another of its functions, is its own.
    if (tile.key.find(step.name + "_") == std::string::npos) out.push_back(std::move(tile));
    at = end;
  }
  return out;
}

}  // namespace

std::vector<std::string> extract_shared_tiles(std::vector<StepText>& steps) {
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (Tile& tile : tiles_of(steps[i], i)) tiles.push_back(std::move(tile));
  std::map<std::string, int> uses;
  for (const Tile& tile : tiles) ++uses[tile.key];
  std::map<std::string, std::map<std::string, int>> texts;  // by role
  for (const Tile& tile : tiles)
    if (uses[tile.key] > 1) ++texts[tile.role][tile.key];

  std::vector<std::string> out;
  std::map<std::string, std::string> names;  // by key
  for (const Tile& tile : tiles) {
    if (uses[tile.key] < 2) continue;
    const bool is_alone = texts[tile.role].size() == 1;
    const auto [name, is_first] =
        names.emplace(tile.key, is_alone ? tile.role : name_by_content(tile.role, tile.key));
    if (is_first) out.push_back(with_name(tile.text, tile.name, name->second));
    std::string& text = steps[tile.step].text;
    text.erase(text.find(tile.text), tile.text.size());
    text = with_name(std::move(text), tile.name, name->second);
  }
  return out;
}

}  // namespace etch
