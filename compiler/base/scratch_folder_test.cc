// Goes away, also after a kill, and takes nothing else with it.
#include "compiler/base/scratch_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace etch {
namespace {

namespace fs = std::filesystem;

class Scratch : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "etch-scratch-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  // Makes a scratch folder for `target` in a process that is killed after `work`.
  fs::path killed(const std::string& target, const std::function<void(const fs::path&)>& work) {
    const pid_t child = fork();
    if (child == 0) {
      const ScratchFolder scratch(root_, target);
      work(scratch.path());
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    for (const auto& entry : fs::directory_iterator(root_)) {
      if (entry.path().filename().string().starts_with(".etch-work-")) return entry.path();
    }
    ADD_FAILURE() << "no scratch folder is left";
    return root_;
  }
  fs::path killed() {
    return killed("", [](const fs::path& path) { std::ofstream(path / "half") << "a file"; });
  }

  static void put(const fs::path& folder, const std::string& text) {
    fs::create_directory(folder);
    std::ofstream(folder / "file") << text;
  }

  fs::path root_;
};

TEST_F(Scratch, IsPrivateAndGoesAwayWithEverythingInIt) {
  {
    const ScratchFolder scratch(root_);
    EXPECT_EQ(scratch.path().parent_path(), root_);
    EXPECT_EQ(fs::status(scratch.path()).permissions(), fs::perms::owner_all);
    put(scratch.path() / "sub", "text");
    fs::permissions(scratch.path() / "sub", fs::perms::owner_read | fs::perms::owner_exec);
  }
  EXPECT_TRUE(fs::is_empty(root_));
}

// A user who may write to the folder above can do that at any time.
TEST_F(Scratch, WhatWasPutInItsPlaceStays) {
  for (const bool link : {true, false}) {
    put(root_ / "mine", "mine");
    fs::path place;
    {
      const ScratchFolder scratch(root_);
      place = scratch.path();
      put(place / "sub", "text");
      fs::rename(place, root_ / "moved");
      if (link) fs::create_directory_symlink("mine", place);
      if (!link) fs::rename(root_ / "mine", place);
    }
    EXPECT_TRUE(fs::exists(place / "file")) << link;
    EXPECT_TRUE(fs::is_empty(root_ / "moved")) << "what it held is removed where it is now";
    for (const fs::path& name : {place, root_ / "moved", root_ / "mine"}) fs::remove_all(name);
  }
}

TEST_F(Scratch, LinksInItAreNotFollowed) {
  put(root_ / "mine", "mine");
  {
    const ScratchFolder scratch(root_);
    put(scratch.path() / "sub", "text");
    fs::create_directory_symlink(root_ / "mine", scratch.path() / "link");
    fs::create_directory_symlink(root_ / "mine", scratch.path() / "sub/link");
    fs::permissions(scratch.path() / "sub", fs::perms::none);
  }
  EXPECT_TRUE(fs::exists(root_ / "mine/file"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1);
}

// Then it cannot be held open, and what is there at the end is compared by its number.
TEST_F(Scratch, GoesAwayAlsoIfTooManyFilesWereOpen) {
  put(root_ / "mine", "mine");
  for (const bool swapped : {false, true}) {
    struct rlimit usual {};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
    const struct rlimit none { 0, usual.rlim_max };
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    std::optional<ScratchFolder> scratch(std::in_place, root_);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
    const fs::path place = scratch->path();
    EXPECT_TRUE(fs::is_empty(place)) << "there is no marker";
    put(place / "sub", "text");
    if (swapped) fs::rename(place, root_ / "moved");
    if (swapped) fs::rename(root_ / "mine", place);
    scratch.reset();
    EXPECT_EQ(fs::exists(place), swapped);
    EXPECT_EQ(fs::exists(place / "file"), swapped);
  }
  EXPECT_TRUE(fs::exists(root_ / "moved/sub/file"));
}

TEST_F(Scratch, ThatIsKeptStaysForGood) {
  fs::path place;
  {
    ScratchFolder scratch(root_, "out");
    place = scratch.path();
    put(place / ScratchFolder::kOld, "old");
    scratch.keep();
  }
  remove_stale_scratch(root_);
  EXPECT_TRUE(fs::exists(place / ScratchFolder::kOld / "file"));
}

TEST_F(Scratch, OfAKilledProgramIsRemovedByTheNext) {
  EXPECT_TRUE(fs::exists(killed() / "half"));
  remove_stale_scratch(root_);
  EXPECT_TRUE(fs::is_empty(root_));
  const fs::path empty = root_ / ".etch-work-aB3dEf";  // killed before it was marked
  fs::create_directory(empty);
  fs::permissions(empty, fs::perms::owner_all);
  remove_stale_scratch(root_);
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(Scratch, OfALivingProgramStays) {
  const ScratchFolder scratch(root_);
  remove_stale_scratch(root_);
  EXPECT_TRUE(fs::exists(scratch.path()));
}

TEST_F(Scratch, NothingElseIsRemoved) {
  const fs::path stale = killed();
  // No marker; a copy of one; a name that is none of ours; open to others; a link to one.
  put(root_ / ".etch-work-mine00", "mine");
  fs::copy(stale, root_ / ".etch-work-copied", fs::copy_options::recursive);
  fs::rename(stale, root_ / "renamed");
  fs::create_directory_symlink("renamed", root_ / ".etch-work-linked");
  for (const char* name : {".etch-work-mine00", ".etch-work-copied"}) {
    fs::permissions(root_ / name, fs::perms::owner_all);
  }
  const fs::path open = killed();
  fs::permissions(open, fs::perms::owner_all | fs::perms::group_read);
  remove_stale_scratch(root_);
  EXPECT_TRUE(fs::exists(root_ / ".etch-work-mine00/file"));
  EXPECT_TRUE(fs::exists(root_ / ".etch-work-copied/half"));
  EXPECT_TRUE(fs::exists(root_ / "renamed/half"));
  EXPECT_TRUE(fs::is_symlink(root_ / ".etch-work-linked"));
  EXPECT_TRUE(fs::exists(open / "half"));
}

TEST_F(Scratch, AnOldTreeIsPutBackIfItsPlaceIsEmpty) {
  const auto interrupted = [](const fs::path& path) { put(path / ScratchFolder::kOld, "old"); };
  killed("out", interrupted);
  remove_stale_scratch(root_);
  EXPECT_TRUE(fs::exists(root_ / "out/file"));
  for (const char* target : {"out", "../out", ""}) {  // taken, or no name
    killed(target, interrupted);
    remove_stale_scratch(root_);
    EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1) << target;
  }
}

}  // namespace
}  // namespace etch
