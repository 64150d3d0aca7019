// Files of one folder are compiled as one where a build is the first (cmake/unity.cmake), so the
// names in their anonymous namespaces differ. A build file by file does not show if they do not;
// this reads the files of every group.
#include <gtest/gtest.h>

#include <cctype>
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

// What a line at the first column declares, and what tells it from others of the same name: a
// function has its line, as functions of one name may differ in their parameters; anything else
// nothing. An alias has all of it: the same one may be there twice.
struct Declared {
  std::string name, form;
};

bool declared_by(const std::string& line, Declared& out) {
  static const std::regex kType(R"(^(?:struct|class|enum(?: class)?) (\w+).*)");
  static const std::regex kAlias(R"(^using (\w+) = .*)");
  static const std::regex kFunction(R"(^[\w:<>,&*\s]*[\s&*>](\w+)\(.*)");
  static const std::regex kConstant(R"(^[\w:<>,&*\s]*[\s&*>](\w+)(?:\[\w*\])?(?: =|\{).*)");
  std::smatch match;
  const bool code = !line.empty() && (std::isalpha(static_cast<unsigned char>(line[0])) != 0);
  if (!code || line.starts_with("namespace") || line.starts_with("template")) return false;
  if (std::regex_match(line, match, kType)) {
    out = {match[1], ""};
  } else if (std::regex_match(line, match, kAlias) || std::regex_match(line, match, kFunction)) {
    out = {match[1], line};
  } else if (std::regex_match(line, match, kConstant)) {
    out = {match[1], ""};
  } else {
    return false;
  }
  return true;
}

// Of the anonymous namespaces of a file.
std::vector<Declared> own_names(std::istream& file) {
  std::vector<Declared> out;
  bool own = false;
  Declared each;
  for (std::string line; std::getline(file, line);) {
    if (line == "namespace {") own = true;
    if (line == "}  // namespace") own = false;
    if (own && declared_by(line, each)) out.push_back(each);
  }
  return out;
}

// Every line of build/.../generated/unity_groups.txt: a group and a file.
std::map<std::string, std::vector<std::string>> groups() {
  const fs::path build = fs::path(etch_binary()).parent_path().parent_path();
  std::ifstream file(build / "generated/unity_groups.txt");
  std::map<std::string, std::vector<std::string>> out;
  std::string group, path;
  while (file >> group >> path) out[group].push_back(path);
  return out;
}

TEST(UnityGroups, NamesOfAGroupDiffer) {
  const auto all = groups();
  ASSERT_GT(all.size(), 20U) << "cmake/unity.cmake writes them";
  for (const auto& [group, files] : all) {
    std::map<std::string, std::map<std::string, std::string>> known;  // name, form: the file
    for (const std::string& path : files) {
      std::ifstream file(fs::path(source_dir()) / path);
      ASSERT_TRUE(file) << path;
      std::set<std::string> here;
      for (const Declared& each : own_names(file)) {
        const bool again = !here.insert(each.name).second;  // a declaration and its definition
        auto& forms = known[each.name];
        if (again) continue;
        const bool function = each.form.find('(') != std::string::npos;
        const auto same = forms.find(each.form);
        const bool alias = each.form.starts_with("using");
        EXPECT_TRUE(forms.empty() ||
                    (function ? same == forms.end() : alias && same != forms.end()))
            << path << " and " << forms.begin()->second << " both have '" << each.name
            << "', and are compiled as one file: rename it in one of them";
        forms.emplace(each.form, path);
      }
    }
  }
}

TEST(UnityGroups, WhatAFileDeclaresForItselfIsFound) {
  std::istringstream file(
      "namespace etch {\nint outside() { return 1; }\nnamespace {\n"
      "using Kind = Reduction::Kind;\nstruct Side {\n  int x;\n};\n"
      "constexpr std::size_t kMost = 4;\nconstexpr Rule kRules[] = {\n"
      "std::vector<int> sizes_of(const Node& node) {\n  return {};\n}\n"
      "}  // namespace\nint after() { return 1; }\n}  // namespace etch\n");
  std::vector<std::string> names;
  for (const Declared& each : own_names(file)) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"Kind", "Side", "kMost", "kRules", "sizes_of"}));
}

}  // namespace
}  // namespace etch
