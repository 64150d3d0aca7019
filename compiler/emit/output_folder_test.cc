// All or nothing, and nobody else's files.
#include "compiler/emit/output_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace etch {
namespace {

namespace fs = std::filesystem;

class OutputFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "etch-folder-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override {
    chmod(root_.c_str(), 0700);
    fs::remove_all(root_);
  }

  bool write(const std::vector<OutputFile>& files, const fs::path& target,
             Overwrite overwrite = Overwrite::kOwnFiles) {
    Sink sink;
    const bool done = write_output_folder(files, target, overwrite, sink);
    EXPECT_EQ(done, !sink.has_errors());
    message_ = sink.has_errors() ? sink.sorted().front().message : "";
    if (!done) {
      EXPECT_EQ(code_of(sink.sorted().front().kind), "E-IO");
    }
    return done;
  }

  void put(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  // Every file below the root with its text.
  std::map<std::string, std::string> tree() const {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      std::stringstream text;
      if (entry.is_regular_file()) text << std::ifstream(entry.path()).rdbuf();
      out[entry.path().lexically_relative(root_).string()] = text.str();
    }
    return out;
  }

  fs::path root_;
  std::string message_;
};

const char kReportText[] =
    R"({"generator": "etch", "files": ["report.json", "net.h", "etch/vocab.h"]})";
const std::vector<OutputFile> kFiles = {
    {"net.h", "one"}, {"etch/vocab.h", "two"}, {"report.json", kReportText}};
using Tree = std::map<std::string, std::string>;
const Tree kWritten = {{"out", ""},
                       {"out/net.h", "one"},
                       {"out/etch", ""},
                       {"out/etch/vocab.h", "two"},
                       {"out/report.json", kReportText}};

TEST_F(OutputFolder, HoldsExactlyTheFiles) {
  EXPECT_TRUE(write(kFiles, root_ / "out"));
  EXPECT_EQ(tree(), kWritten);
}

TEST_F(OutputFolder, HoldsFoldersInFolders) {
  EXPECT_TRUE(
      write({{"a/b/c", "deep"}, {"a/d", "one"}, {"report.json", kReportText}}, root_ / "out"));
  EXPECT_TRUE(fs::exists(root_ / "out/a/b/c"));
  EXPECT_TRUE(fs::exists(root_ / "out/a/d"));
}

TEST_F(OutputFolder, MayBeGivenWithATrailingSlashAndMissingParents) {
  EXPECT_TRUE(write(kFiles, root_ / "a/b/out/"));
  EXPECT_TRUE(fs::exists(root_ / "a/b/out/net.h"));
}

TEST_F(OutputFolder, HasTheUsersPermissionsNotTheTemporaryOnes) {
  EXPECT_TRUE(write(kFiles, root_ / "out"));
  const mode_t mask = umask(0);
  umask(mask);
  struct stat facts {};
  ASSERT_EQ(stat((root_ / "out").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0777 & ~mask);
}

TEST_F(OutputFolder, ReplacesWhatEtchWroteBefore) {
  put("out/report.json",
      R"({"generator": "etch", "files": ["report.json", "old.cc", "etch/old.h"]})");
  put("out/old.cc", "old");
  put("out/etch/old.h", "old");
  EXPECT_TRUE(write(kFiles, root_ / "out"));
  EXPECT_EQ(tree(), kWritten);
}

TEST_F(OutputFolder, TakesAnEmptyFolder) {
  fs::create_directory(root_ / "out");
  EXPECT_TRUE(write(kFiles, root_ / "out"));
  EXPECT_EQ(tree(), kWritten);
}

TEST_F(OutputFolder, LeavesFoldersWithoutAReportAlone) {
  put("out/mine.txt", "mine");
  const Tree before = tree();
  EXPECT_FALSE(write(kFiles, root_ / "out"));
  EXPECT_NE(message_.find("was not written by etch"), std::string::npos) << message_;
  EXPECT_EQ(tree(), before);
}

TEST_F(OutputFolder, LeavesOtherPeoplesFoldersAlone) {
  const std::string nested = std::string(300'000, '[') + std::string(300'000, ']');
  for (const std::string& report :
       {std::string(), std::string("[]"), std::string("{"), std::string("\"etch\""),
        std::string(R"({"generator": "other", "files": ["mine.txt"]})"),
        std::string(R"({"generator": "etch"})"),
        std::string(R"({"generator": "etch", "files": 1})"),
        std::string(R"({"x": {"generator": "etch", "files": ["mine.txt"]}})"),
        std::string(R"([{"generator": "etch", "files": ["mine.txt"]}])"),
        std::string(R"({"generator": "etch", "files": ["mine.txt"]} x)"), nested,
        R"({"x": )" + nested + "}"}) {
    put("out/report.json", report);
    put("out/mine.txt", "mine");
    const Tree before = tree();
    EXPECT_FALSE(write(kFiles, root_ / "out")) << report;
    EXPECT_NE(message_.find("was not written by etch"), std::string::npos) << message_;
    EXPECT_EQ(tree(), before);
  }
  EXPECT_TRUE(write(kFiles, root_ / "out", Overwrite::kAnything));
  EXPECT_EQ(tree(), kWritten);
}

// It names nothing that is there, and is read without recursion.
TEST_F(OutputFolder, IsNotImpressedByAReportOfManyBrackets) {
  put("out/report.json", R"({"generator": "etch", "files": )" + std::string(3'000'000, '[') +
                             std::string(3'000'000, ']') + "}");
  EXPECT_FALSE(write(kFiles, root_ / "out"));
  EXPECT_NE(message_.find("'report.json', which etch did not write"), std::string::npos)
      << message_;
}

TEST_F(OutputFolder, KeepsWhatAUserAddedToAGeneratedFolder) {
  EXPECT_TRUE(write(kFiles, root_ / "out"));
  put("out/build/cache", "mine");
  const Tree before = tree();
  EXPECT_FALSE(write(kFiles, root_ / "out"));
  EXPECT_NE(message_.find("'build/cache'"), std::string::npos) << message_;
  EXPECT_EQ(tree(), before);
}

TEST_F(OutputFolder, NeverReplacesAFileOrALink) {
  put("out", "a file");
  fs::create_directory(root_ / "elsewhere");
  fs::create_directory_symlink(root_ / "elsewhere", root_ / "link");
  const Tree before = tree();
  EXPECT_FALSE(write(kFiles, root_ / "out", Overwrite::kAnything));
  EXPECT_EQ(message_, "exists and is not a folder");
  for (const char* link : {"link", "link/", "link/."}) {
    EXPECT_FALSE(write(kFiles, root_ / link, Overwrite::kAnything));
    EXPECT_EQ(message_, "is a symbolic link; name the folder that it leads to");
  }
  EXPECT_FALSE(write(kFiles, root_ / "out/below/a/file", Overwrite::kAnything));
  fs::create_symlink("nowhere", root_ / "dangling");
  EXPECT_FALSE(write(kFiles, root_ / "dangling", Overwrite::kAnything));
  EXPECT_FALSE(write(kFiles, root_ / "dangling/below", Overwrite::kAnything));
  EXPECT_TRUE(fs::is_symlink(root_ / "dangling"));
  fs::remove(root_ / "dangling");
  EXPECT_FALSE(write(kFiles, ""));
  EXPECT_EQ(tree(), before);
}

TEST_F(OutputFolder, LeavesNothingBehindWhenAFileCannotBeWritten) {
  put("out/report.json", kReportText);
  const Tree before = tree();
  std::vector<OutputFile> files = kFiles;
  files.push_back({"net.h", "a second file of the same name"});
  EXPECT_FALSE(write(files, root_ / "out"));
  EXPECT_FALSE(write(files, root_ / "new/folders/out"));
  EXPECT_EQ(tree(), before);
}

TEST_F(OutputFolder, SaysWhyAFolderCannotBeMade) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  chmod(root_.c_str(), 0500);
  EXPECT_FALSE(write(kFiles, root_ / "out"));
  EXPECT_NE(message_.find("ermission denied"), std::string::npos) << message_;
}

}  // namespace
}  // namespace etch
