// The pages can be found and their links work: every page of docs/ is in the index of its folder,
// every index in docs/README.md, and a link to another file of the project leads to one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

// Files that the links of a page name, relative to it; addresses and places within the page itself
// are left out. Links in blocks of code do not count.
std::set<std::string> linked_from(const std::string& page) {
  std::set<std::string> links;
  bool fenced = false;
  for (std::size_t at = 0; at < page.size(); ++at) {
    const bool line_begins = at == 0 || page[at - 1] == '\n';
    if (line_begins && page.compare(at, 3, "```") == 0) fenced = !fenced;
    if (fenced || page.compare(at, 2, "](") != 0) continue;
    const std::string target = page.substr(at + 2, page.find_first_of(")#", at + 2) - at - 2);
    if (!target.empty() && target.find("://") == std::string::npos) links.insert(target);
  }
  return links;
}

std::vector<fs::path> pages_below(const fs::path& folder) {
  std::vector<fs::path> pages;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  std::ranges::sort(pages);
  return pages;
}

// The page that has to link to `page`: README.md of its folder, or of the nearest one above that
// has one; for a README.md, of one above.
fs::path index_of(const fs::path& page) {
  fs::path folder = page.parent_path();
  if (page.filename() == "README.md") folder = folder.parent_path();
  while (!fs::exists(folder / "README.md")) folder = folder.parent_path();
  return folder / "README.md";
}

TEST(Pages, LinksAreThoseOutsideOfCodeThatLeadToFiles) {
  EXPECT_EQ(linked_from("[a](b.md), [c](d/e.md#f)\n![g](h.png)"),
            (std::set<std::string>{"b.md", "d/e.md", "h.png"}));
  EXPECT_TRUE(linked_from("[a](https://b.c), [d](#e)\n```\n[f](g.md)\n```\n").empty());
}

TEST(Pages, EveryPageOfDocsIsInAnIndex) {
  const fs::path docs = fs::path(source_dir()) / "docs";
  const std::vector<fs::path> pages = pages_below(docs);
  EXPECT_GT(pages.size(), 40U);
  for (const fs::path& page : pages) {
    const fs::path index = index_of(page);
    const std::string link = page.lexically_relative(index.parent_path()).string();
    EXPECT_EQ(linked_from(contents_of(index)).count(link), 1U)
        << index.string() << " has no link to " << link;
  }
}

TEST(Pages, EveryLinkToAFileLeadsToOne) {
  const fs::path root = source_dir();
  std::vector<fs::path> pages = {root / "README.md", root / "CONTRIBUTING.md", root / "SECURITY.md",
                                 root / "CHANGELOG.md"};
  for (const char* folder : {"docs", "examples"}) {
    const std::vector<fs::path> below = pages_below(root / folder);
    pages.insert(pages.end(), below.begin(), below.end());
  }
  for (const fs::path& page : pages) {
    for (const std::string& link : linked_from(contents_of(page))) {
      EXPECT_TRUE(fs::exists(page.parent_path() / link)) << page.string() << ": " << link;
    }
  }
}

// The numbers of a text: words of digits, commas and points alone, so none of "3x3" or "16->16".
std::set<std::string> numbers_in(const std::string& text) {
  std::set<std::string> found;
  std::string word;
  const auto end_word = [&] {
    while (word.ends_with(',') || word.ends_with('.')) word.pop_back();
    if (!word.empty() && word.find_first_not_of("0123456789,.") == word.npos) found.insert(word);
    word.clear();
  };
  for (const char c : text + " ") {
    const bool inside = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ',' || c == '.' ||
                        c == '-' || c == '>';
    if (inside) word += c;
    if (!inside) end_word();
  }
  return found;
}

TEST(Pages, NumbersAreThoseThatStandAlone) {
  EXPECT_EQ(numbers_in("| 3x3, 16->16 | 12,056 (1.05 to 28.5) of [M4](docs/a-4.md) |"),
            (std::set<std::string>{"12,056", "1.05", "28.5"}));
}

// A row of the table on the first page states figures of the page that it links to.
TEST(Pages, FiguresOfTheFirstPageAreOnThePagesThatItNames) {
  const fs::path root = source_dir();
  std::istringstream page(contents_of(root / "README.md"));
  const std::regex link(R"(\]\((docs/[^)]*[.]md)\))");
  int figures = 0;
  bool measured = false;
  for (std::string row; std::getline(page, row);) {
    if (row.starts_with("## ")) measured = row == "## Measured";
    std::smatch named;
    if (!measured || !row.starts_with("|") || !std::regex_search(row, named, link)) continue;
    const std::set<std::string> there = numbers_in(contents_of(root / named.str(1)));
    for (const std::string& figure : numbers_in(row)) {
      ++figures;
      EXPECT_EQ(there.count(figure), 1U) << figure << " is not in " << named.str(1) << ": " << row;
    }
  }
  EXPECT_GT(figures, 20);
}

}  // namespace
}  // namespace etch
