// The pages can be found and their links work: every page of docs/ is in the index of its folder,
// every index in docs/README.md, and a link to another file of the project leads to one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
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

}  // namespace
}  // namespace etch
