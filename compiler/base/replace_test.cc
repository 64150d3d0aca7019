// Single files: what they replace, and what must stay what it is. Folders: output_folder_test.cc.
#include "compiler/base/replace.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/file_write.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

class Replace : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "etch-replace-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  static std::string text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(root_), {}); }

  fs::path root_;
};

TEST_F(Replace, AFileKeepsItsPermissionsAndTheLinkToIt) {
  replace_file(root_ / "file", "one");
  fs::permissions(root_ / "file", fs::perms::owner_read);
  fs::create_symlink("file", root_ / "link");
  replace_file(root_ / "link", "two");
  EXPECT_TRUE(fs::is_symlink(root_ / "link"));
  EXPECT_EQ(text(root_ / "file"), "two");
  EXPECT_EQ(fs::status(root_ / "file").permissions(), fs::perms::owner_read);
  EXPECT_EQ(entries(), 2);
}

TEST_F(Replace, ADeviceIsWrittenTo) {
  replace_file("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(replace_file("/dev/full", "text"), IoFailure);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Replace, AFolderIsNotReplacedByAFile) {
  fs::create_directory(root_ / "folder");
  EXPECT_THROW(replace_file(root_ / "folder", "text"), IoFailure);
  EXPECT_THROW(replace_file(root_ / "no/such/folder", "text"), IoFailure);
  EXPECT_EQ(entries(), 1);
}

TEST_F(Replace, AFolderKeepsItsPermissions) {
  const fs::path out = root_ / "out";
  for (const mode_t mode : {0700U, 0755U, 0770U, 02775U}) {
    fs::create_directories(out);
    ASSERT_EQ(chmod(out.c_str(), mode), 0);
    FolderReplacement fresh(out);
    write_new_file(fresh.path() / "file", "text");
    fresh.commit();
    struct stat facts {};
    ASSERT_EQ(stat(out.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, mode);
    EXPECT_EQ(text(out / "file"), "text");
  }
  EXPECT_EQ(entries(), 1);
}

TEST_F(Replace, DotsBehindALinkMeanTheFolderThatItLeadsTo) {
  fs::create_directories(root_ / "far/away");
  fs::create_directory_symlink("far/away", root_ / "link");
  for (const char* name : {"link/../out", "link/./../out2/", "link/new/below"}) {
    FolderReplacement fresh(root_ / name);
    write_new_file(fresh.path() / "file", name);
    fresh.commit();
  }
  EXPECT_EQ(text(root_ / "far/out/file"), "link/../out");
  EXPECT_EQ(text(root_ / "far/out2/file"), "link/./../out2/");
  EXPECT_EQ(text(root_ / "far/away/new/below/file"), "link/new/below");
  EXPECT_EQ(entries(), 2);
}

TEST_F(Replace, AnyFolderHasAParentAndAName) {
  const fs::path root = fs::canonical(root_);
  fs::create_directories(root_ / "far/away");
  fs::create_directory_symlink("far/away", root_ / "link");
  for (const auto& [given, meant] : std::vector<std::pair<std::string, std::string>>{
           {"out", "out"},
           {"out//", "out"},
           {"out/./", "out"},
           {"a/b/out", "a/b/out"},
           {"far/..//out", "out"},
           {"missing/../out", "out"},
           {"link/", "link"},
           {"link/..", "far"},
           {"link/../", "far"},
           {"far/away/.././away", "far/away"},
       }) {
    EXPECT_EQ(with_parent(root_ / given), root / meant) << given;
  }
  EXPECT_EQ(with_parent(root_ / "missing/.."), root);
  EXPECT_EQ(with_parent("."), fs::current_path());
  EXPECT_EQ(with_parent("/"), "/");
}

TEST_F(Replace, AllFilesOrNone) {
  replace_files(root_ / "a/b", {{"one", "1"}, {"two", "2"}});
  std::ofstream(root_ / "a/b/mine") << "mine";
  replace_files(root_ / "a/b", {{"two", "3"}});
  EXPECT_EQ(text(root_ / "a/b/one") + text(root_ / "a/b/two") + text(root_ / "a/b/mine"), "13mine");
  // The second name cannot be written, so the first is not replaced.
  EXPECT_THROW(replace_files(root_ / "a/b", {{"one", "4"}, {"no/such", "5"}}), IoFailure);
  EXPECT_EQ(text(root_ / "a/b/one"), "1");
  EXPECT_THROW(replace_files(root_ / "new", {{"one", "4"}, {"no/such", "5"}}), IoFailure);
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "a/b"), {}), 3);
}

}  // namespace
}  // namespace etch
