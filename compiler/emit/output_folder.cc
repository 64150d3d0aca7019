// The atomic write; see output_folder.h. POSIX calls instead of streams where they tell more: why
// something failed, and that data has reached the disk before the rename.
#include "compiler/emit/output_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "compiler/base/check.h"
#include "compiler/base/text.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReport = "report.json";

// Thrown inside this file: what failed, and why.
struct IoFailure {
  fs::path path;
  std::string what;
};

[[noreturn]] void fail(const fs::path& path, std::string_view what, int error) {
  throw IoFailure{path, cat(what, ": ", std::strerror(error))};
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : value_(open(path.c_str(), flags, 0666)) {
    if (value_ < 0) fail(path, "cannot open", errno);
  }
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

  void sync_and_close(const fs::path& path) {
    if (fsync(value_) != 0) fail(path, "cannot flush", errno);
    const int closing = value_;
    value_ = -1;
    if (close(closing) != 0) fail(path, "cannot close", errno);
  }

 private:
  int value_;
};

void write_file(const fs::path& path, std::string_view content) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC);
  while (!content.empty()) {
    const ssize_t written = write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "cannot write", errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  file.sync_and_close(path);
}

void sync_folder(const fs::path& path) {
  Descriptor folder(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  folder.sync_and_close(path);
}

void make_folder(const fs::path& path) {
  if (mkdir(path.c_str(), 0777) != 0) fail(path, "cannot create the folder", errno);
}

// The folder that the target stands in, made if it is not there; taken away again unless keep()
// is called.
class Parents {
 public:
  explicit Parents(const fs::path& folder) {
    std::vector<fs::path> missing;
    for (fs::path at = folder; !at.empty() && !fs::exists(fs::status(at)); at = at.parent_path()) {
      missing.push_back(at);
    }
    try {
      for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
        make_folder(*at);
        made_.push_back(*at);
      }
    } catch (const IoFailure&) {
      remove_made();
      throw;
    }
  }
  ~Parents() { remove_made(); }
  Parents(const Parents&) = delete;
  Parents& operator=(const Parents&) = delete;
  void keep() { made_.clear(); }

 private:
  void remove_made() {
    for (auto at = made_.rbegin(); at != made_.rend(); ++at) rmdir(at->c_str());
    made_.clear();
  }
  std::vector<fs::path> made_;
};

// A private folder beside the target, removed with everything in it at the end of the scope.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& parent) {
    std::string pattern = (parent / ".etch-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      fail(parent, "cannot create a temporary folder", errno);
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool is_plain_relative(const fs::path& path) {
  return path.is_relative() && !path.empty() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) {
           return part == ".." || part == "." || part.empty();
         });
}

// Makes `folder` and what is missing between it and those in `made`.
void make_folders(const fs::path& folder, std::set<fs::path>& made) {
  if (!made.insert(folder).second) return;
  make_folders(folder.parent_path(), made);
  make_folder(folder);
}

void write_tree(const fs::path& root, const std::vector<OutputFile>& files) {
  make_folder(root);
  std::set<fs::path> folders = {root};
  for (const OutputFile& file : files) {
    ETCH_CHECK(is_plain_relative(file.path));
    const fs::path path = root / file.path;
    make_folders(path.parent_path(), folders);
    write_file(path, file.content);
  }
  for (const fs::path& folder : folders) sync_folder(folder);
}

// The files that the report.json in `folder` lists, or nothing if Etch did not write one there.
std::optional<std::set<std::string>> own_files(const fs::path& folder) {
  std::error_code error;
  constexpr std::uintmax_t kMostBytes = 64 << 20;
  const fs::path path = folder / kReport;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || error) return std::nullopt;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > kMostBytes) return std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  const auto report = nlohmann::json::parse(stream, nullptr, false);
  if (!report.is_object() || report.value("generator", nlohmann::json()) != "etch")
    return std::nullopt;
  const auto files = report.value("files", nlohmann::json());
  if (!files.is_array()) return std::nullopt;
  std::set<std::string> names;
  for (const auto& file : files) {
    if (file.is_string()) names.insert(file.get<std::string>());
  }
  return names;
}

// Throws unless everything in `target` was written by Etch.
void check_ours(const fs::path& target) {
  const auto known = own_files(target);
  const std::string hint = "; remove it, choose another folder, or use --force";
  if (!known) throw IoFailure{target, cat("exists and was not written by etch", hint)};
  for (const auto& entry : fs::recursive_directory_iterator(target)) {
    if (entry.is_directory() && !entry.is_symlink() && !fs::is_empty(entry.path())) continue;
    const std::string name = entry.path().lexically_relative(target).generic_string();
    if (known->count(name) == 0) {
      throw IoFailure{target, cat("holds '", printable(name), "', which etch did not write", hint)};
    }
  }
}

// Whether there is a folder to replace. Throws if there is something that must not be replaced.
bool check_target(const fs::path& target, Overwrite overwrite) {
  const fs::file_status status = fs::symlink_status(target);
  if (!fs::exists(status)) return false;
  if (!fs::is_directory(status)) throw IoFailure{target, "exists and is not a folder"};
  if (overwrite == Overwrite::kOwnFiles && !fs::is_empty(target)) check_ours(target);
  return true;
}

// Renames `tree` to `target`; an old folder there ends up as `tree`.
void put_in_place(const fs::path& tree, const fs::path& target, bool replace) {
  if (!replace) {
    if (rename(tree.c_str(), target.c_str()) != 0) fail(target, "cannot create the folder", errno);
    return;
  }
  if (renameat2(AT_FDCWD, tree.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail(target, "cannot replace the folder", errno);
  // A file system that cannot exchange two names: for a moment there is no folder.
  const fs::path old = tree.parent_path() / "old";
  if (rename(target.c_str(), old.c_str()) != 0) fail(target, "cannot replace the folder", errno);
  if (rename(tree.c_str(), target.c_str()) == 0) return;
  const int error = errno;
  if (rename(old.c_str(), target.c_str()) != 0)
    fail(target, "cannot put the old folder back", errno);
  fail(target, "cannot replace the folder", error);
}

// `target` without a trailing slash, absolute, so that it has a parent and a name.
fs::path normalized(const fs::path& target) {
  fs::path path = fs::absolute(target).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  return path;
}

void write_or_throw(const std::vector<OutputFile>& files, const fs::path& given,
                    Overwrite overwrite) {
  if (given.empty()) throw IoFailure{given, "no folder is named"};
  const fs::path target = normalized(given);
  const bool replace = check_target(target, overwrite);
  Parents parents(target.parent_path());
  {
    const TemporaryFolder temporary(target.parent_path());
    const fs::path tree = temporary.path() / "new";
    write_tree(tree, files);
    put_in_place(tree, target, replace);
  }
  parents.keep();
  sync_folder(target.parent_path());
}

}  // namespace

bool write_output_folder(const std::vector<OutputFile>& files, const fs::path& target,
                         Overwrite overwrite, Sink& sink) {
  ETCH_CHECK(std::any_of(files.begin(), files.end(),
                         [](const OutputFile& file) { return file.path == kReport; }));
  try {
    write_or_throw(files, target, overwrite);
    return true;
  } catch (const IoFailure& failure) {
    sink.error(DiagKind::kIo, cat("'", printable(failure.path.string()), "'"), failure.what);
  } catch (const fs::filesystem_error& failure) {
    sink.error(DiagKind::kIo, cat("'", printable(failure.path1().string()), "'"),
               failure.code().message());
  }
  return false;
}

}  // namespace etch
