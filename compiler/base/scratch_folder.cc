// See scratch_folder.h. What happens between two processes: who makes a folder locks it at once and
// then looks whether it is still there, and who clears up locks it before removing it. So either
// the maker has the lock and the folder stays, or the folder goes and the maker makes another one.
//
// Other users may have write access to the folder's parent, and can put a link or another folder in
// its place. So nothing is removed by path: only what is in the folder that was opened.
#include "compiler/base/scratch_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "compiler/base/file_write.h"
#include "compiler/base/text.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".etch-work-";
constexpr std::string_view kRandom = "XXXXXX";
constexpr char kMarker[] = ".etch-work";
constexpr std::string_view kFirstLine = "A folder of etch for unfinished work; safe to remove.";

struct Marker {
  std::string inode, boot, target;
};

std::string boot_id() {
  std::string id;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::getline(file, id);
  return id;
}

// Without following a link. None if there is no such folder, or it may not be opened.
Descriptor open_folder(int parent, const char* name) {
  return Descriptor(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// The names in the open folder `folder`, or nothing if they cannot be read.
std::optional<std::vector<std::string>> names_in(int folder) {
  Descriptor again = open_folder(folder, ".");  // a position of its own
  const std::unique_ptr<DIR, int (*)(DIR*)> list(fdopendir(again.get()), closedir);
  if (!list) return std::nullopt;
  again.release();
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* const entry = readdir(list.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return errno == 0 ? std::optional(std::move(names)) : std::nullopt;
}

// The marker's text; empty if there is none or it is something else.
std::string marker_text(int folder) {
  constexpr off_t kMostBytes = 8192;
  const Descriptor file(openat(folder, kMarker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return {};
  if (!S_ISREG(facts.st_mode) || facts.st_size > kMostBytes) return {};
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  // A local file of this size comes in one piece; one that does not is no marker.
  return read(file.get(), text.data(), text.size()) == facts.st_size ? text : std::string();
}

Marker read_marker(int folder) {
  std::istringstream text(marker_text(folder));
  Marker marker;
  std::string first;
  std::getline(text, first);
  if (first != kFirstLine) return {};
  std::getline(text, marker.inode);
  std::getline(text, marker.boot);
  marker.target.assign(std::istreambuf_iterator<char>(text), {});  // the rest: it may hold newlines
  return marker;
}

bool is_empty_but_for_marker(int folder) {
  const auto names = names_in(folder);
  return names && std::all_of(names->begin(), names->end(),
                              [](const std::string& name) { return name == kMarker; });
}

// The folder `name`, such that it can be emptied: an old tree may have folders without permission
// to read or write.
Descriptor open_to_empty(int parent, const char* name) {
  Descriptor folder = open_folder(parent, name);
  if (folder.get() < 0) {
    fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW);
    folder = open_folder(parent, name);
  }
  fchmod(folder.get(), S_IRWXU);
  return folder;
}

// Removes all that is in the open folder `folder`, but what is called `kept`. Never leaves it:
// names are looked up in open folders, and a link is removed, not followed.
bool remove_names(int folder, const char* kept, int depth = 0) {
  constexpr int kMostDepth = 500;  // each level has a descriptor open; 1,024 are usual
  const auto names = names_in(folder);
  if (!names || depth > kMostDepth) return false;
  bool good = true;
  for (const std::string& name : *names) {
    if (name == kept || unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) continue;
    if (errno == EISDIR) {
      const Descriptor inner = open_to_empty(folder, name.c_str());
      if (inner.get() >= 0 && remove_names(inner.get(), "", depth + 1) &&
          unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) {
        continue;
      }
    }
    good = false;
  }
  return good;
}

// Whether what `path` names, a link itself, is the open folder `folder`.
bool is_at(const fs::path& path, int folder) {
  struct stat there {};
  struct stat here {};
  return lstat(path.c_str(), &there) == 0 && fstat(folder, &here) == 0 &&
         there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

// Removes everything in the folder, then the marker, then the folder: cut short anywhere, what is
// left is still known as a scratch folder. A user who may write beside it may have put something
// else in its place, which remains.
bool remove_once(const fs::path& path, int folder) {
  if (!remove_names(folder, kMarker)) return false;
  unlinkat(folder, kMarker, 0);
  return !is_at(path, folder) || rmdir(path.c_str()) == 0;
}

void remove_scratch(const fs::path& path, int folder) {
  if (!remove_once(path, folder)) remove_once(path, folder);  // a signal, say
}

// Puts an old tree back whose place is empty.
void restore_old(const fs::path& path, int folder, const std::string& target) {
  if (target.empty() || target == "." || target == ".." || target.find('/') != std::string::npos) {
    return;
  }
  struct stat old {};
  if (fstatat(folder, ScratchFolder::kOld, &old, AT_SYMLINK_NOFOLLOW) != 0) return;
  const fs::path place = path.parent_path() / target;
  std::error_code error;
  if (!S_ISDIR(old.st_mode)) return;
  if (fs::symlink_status(place, error).type() != fs::file_type::not_found) return;
  renameat(folder, ScratchFolder::kOld, AT_FDCWD, place.c_str());
}

// `folder` is open at `path`, and nobody else holds its lock.
void remove_if_stale(const fs::path& path, int folder) {
  constexpr std::time_t kDay = 24 * 60 * 60;
  struct stat facts {};
  if (fstat(folder, &facts) != 0) return;
  if (facts.st_uid != geteuid() || (facts.st_mode & 0777) != 0700) return;
  const Marker marker = read_marker(folder);
  const std::string boot = boot_id();
  const bool same_boot = !boot.empty() && marker.boot == boot;
  const bool stale = marker.inode == cat(facts.st_ino) &&
                     (same_boot || facts.st_mtime < std::time(nullptr) - kDay);
  // Killed before it was marked.
  const bool unused = marker.inode.empty() && is_empty_but_for_marker(folder);
  if (!stale && !unused) return;
  if (stale) restore_old(path, folder, marker.target);
  remove_scratch(path, folder);
}

}  // namespace

bool is_scratch_name(const std::string& name) {
  return name.size() == kPrefix.size() + kRandom.size() && name.starts_with(kPrefix) &&
         std::all_of(name.begin() + kPrefix.size(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

ScratchFolder::ScratchFolder(const fs::path& parent, const std::string& target) {
  constexpr int kMostAttempts = 100;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::string pattern = (parent / cat(kPrefix, kRandom)).string();
    if (mkdtemp(pattern.data()) == nullptr) {
      if (errno == EINTR) continue;
      fail_io(parent, "cannot create a temporary folder", errno);
    }
    path_ = pattern;
    if (lock()) {
      if (locked_) mark(target);
      return;
    }
  }
  fail_io(parent, "cannot create a temporary folder", EBUSY);
}

// False if another process took the new folder for a stale one, or something else is there. A
// file system without locks, or too many open files, are no failure: then there is no marker, and
// the folder remains if the program is killed.
bool ScratchFolder::lock() {
  folder_ = open_folder(AT_FDCWD, path_.c_str());
  const bool is_open = folder_.get() >= 0;
  locked_ = is_open && flock(folder_.get(), LOCK_EX | LOCK_NB) == 0;
  if (is_open && !locked_ && errno == EWOULDBLOCK) return false;
  struct stat facts {};
  const int status = is_open ? fstat(folder_.get(), &facts) : lstat(path_.c_str(), &facts);
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  return status == 0 && S_ISDIR(facts.st_mode) && facts.st_nlink > 0;
}

void ScratchFolder::mark(const std::string& target) const {
  const std::string text = cat(kFirstLine, "\n", inode_, "\n", boot_id(), "\n", target);
  try {
    write_new_file(path_ / kMarker, text);
  } catch (const IoFailure&) {  // what is to be written here will say it
  }
}

ScratchFolder::~ScratchFolder() {  // and then lets go of the lock
  if (kept_) return;
  if (folder_.get() < 0) folder_ = open_folder(AT_FDCWD, path_.c_str());
  struct stat facts {};
  if (fstat(folder_.get(), &facts) != 0) return;
  if (facts.st_dev != device_ || facts.st_ino != inode_) return;  // now it is something else
  remove_scratch(path_, folder_.get());
}

void ScratchFolder::keep() {
  kept_ = true;
  unlinkat(folder_.get(), kMarker, 0);
}

void remove_stale_scratch(const fs::path& parent) noexcept {
  try {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
         entry.increment(error)) {
      if (is_scratch_name(entry->path().filename().string())) found.push_back(entry->path());
    }
    for (const fs::path& folder : found) {
      const Descriptor opened = open_folder(AT_FDCWD, folder.c_str());
      if (opened.get() < 0) continue;
      if (flock(opened.get(), LOCK_EX | LOCK_NB) == 0) remove_if_stale(folder, opened.get());
    }
  } catch (const std::exception&) {  // no memory for a list of names: another time
  }
}

void remove_stale_scratch_above(const fs::path& path) noexcept {
  try {
    for (fs::path at = path; at.has_relative_path();) {
      at = at.parent_path();
      remove_stale_scratch(at);
    }
  } catch (const std::exception&) {
  }
}

}  // namespace etch
