// Includes point in one direction: every room of compiler/layers.def includes only what it names,
// and names only rooms on the ground below it. So no two rooms depend on each other, and a stranger
// can read the source from the ground up.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

struct Room {
  std::string name;
  std::set<std::string> may_include;
};

std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> out;
  for (std::string word; stream >> word;) out.insert(word);
  return out;
}

const std::vector<Room>& rooms() {
  static const std::vector<Room> kRooms = {
#define ETCH_ROOM(folder, may_include) {#folder, words_of(may_include)},
#include "compiler/layers.def"
#undef ETCH_ROOM
  };
  return kRooms;
}

int level_of(const std::string& room) {
  const auto it = std::find_if(rooms().begin(), rooms().end(),
                               [&](const Room& each) { return each.name == room; });
  return it == rooms().end() ? -1 : static_cast<int>(it - rooms().begin());
}

// "compiler/ops/conv/op.h" -> "ops", "compiler/compile.h" -> "compile", "runtime/x.h" -> "runtime".
std::string room_of(const std::string& path) {
  const fs::path parts(path);
  const auto first = parts.begin();
  if (first->string() != "compiler") return first->string();
  const auto second = std::next(first);
  return std::next(second) == parts.end() ? second->stem().string() : second->string();
}

// Files of this project that `file` includes, as they are written: "compiler/base/check.h".
std::vector<std::string> includes_of(const fs::path& file) {
  static const std::regex kInclude(
      R"re(^\s*#\s*include\s+"((?:compiler|templates|runtime)/[^"]+)")re");
  std::ifstream stream(file);
  std::vector<std::string> out;
  std::smatch match;
  for (std::string line; std::getline(stream, line);) {
    if (std::regex_search(line, match, kInclude)) out.push_back(match[1]);
  }
  return out;
}

bool is_source(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool test = name.ends_with("_test.cc") || name.starts_with("vocab_");
  return !test &&
         (path.extension() == ".cc" || path.extension() == ".h" || path.extension() == ".def");
}

// "FILE includes FILE" for every arrow that layers.def does not allow.
std::vector<std::string> forbidden_arrows() {
  std::vector<std::string> out;
  for (const char* folder : {"compiler", "templates", "runtime"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / folder)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      const std::string path = fs::relative(entry.path(), source_dir()).generic_string();
      const std::string from = room_of(path);
      const int level = level_of(from);
      for (const std::string& included : includes_of(entry.path())) {
        const std::string to = room_of(included);
        if (from == to) continue;
        const bool allowed =
            level >= 0 && rooms()[static_cast<std::size_t>(level)].may_include.contains(to);
        if (!allowed) out.push_back(path + " includes " + included);
      }
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Layers, EveryIncludePointsToARoomThatItsOwnMayInclude) {
  EXPECT_EQ(forbidden_arrows(), std::vector<std::string>{});
}

TEST(Layers, RoomsIncludeOnlyRoomsOnTheGroundBelowThem) {
  for (const Room& room : rooms()) {
    for (const std::string& other : room.may_include) {
      ASSERT_GE(level_of(other), 0) << room.name << " names " << other << ", which is no room";
      EXPECT_LT(level_of(other), level_of(room.name)) << room.name << " -> " << other;
    }
  }
}

TEST(Layers, EveryFolderOfTheCompilerIsARoom) {
  for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "compiler")) {
    const bool room = entry.is_directory() || is_source(entry.path());
    const std::string name = entry.path().stem().string();
    if (!room || name == "layers") continue;
    EXPECT_GE(level_of(name), 0) << entry.path();
  }
}

// The reader of includes sees what it has to: an include that is turned around is found.
TEST(Layers, AnIncludeThatIsTurnedAroundIsFound) {
  EXPECT_EQ(room_of("compiler/program/step.h"), "program");
  EXPECT_EQ(room_of("compiler/compile.h"), "compile");
  EXPECT_EQ(room_of("templates/kernels/conv/conv.h"), "templates");
  const Room& program = rooms()[static_cast<std::size_t>(level_of("program"))];
  EXPECT_FALSE(program.may_include.contains("kernels"));
  const auto includes = includes_of(fs::path(source_dir()) / "compiler/compile.cc");
  EXPECT_GT(includes.size(), 10U);
  EXPECT_NE(std::find(includes.begin(), includes.end(), "compiler/compile.h"), includes.end());
}

}  // namespace
}  // namespace etch
